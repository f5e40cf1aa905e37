"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from collections.abc import Iterable

from mutated_core import Mutant

_NOT_USED = "a copy of a word of which this bit is not used"
#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS = {
    "const1 of late_access[8]": "the address of a load that is back, of which two bits are used",
    "cnot1 of $flatten\\write_back.$ternary$core.v:25248$11969 B": _NOT_USED,
    "const0 of $flatten\\predecoder.$eq$core.v:21910$11106 A": (
        "takes a load of a floating-point register for a fence.i, but both end what is fetched: the"
        " load traps"
    ),
    "const0 of $flatten\\execute.$procmux$13290 B": "a cause that the next choice replaces",
    "cnot1 of history$379.$7[0]": "where a counter that is 0 would fall, which it does not",
    "inv of execute.$469[52]": "that an instruction shifts, in stage M, where none does",
    "cnot0 of $flatten\\decoder.$procmux$13921_CMP0 A": (
        "a bit of the opcode, where the next one says already that it is no branch"
    ),
    "const1 of $flatten\\fetcher.$procmux$13248 A": "the word for a memory that is not written",
}


def explanation(mutant: Mutant) -> str | None:
    """Why the fault changes nothing that matters; None if that is not known."""
    for beginning, reason in _EXPLANATIONS.items():
        if str(mutant).startswith(beginning):
            return reason
    return None


def unused_explanations(mutants: Iterable[Mutant]) -> list[str]:
    """Explanations of faults that are none of these."""
    names = [str(mutant) for mutant in mutants]
    return [
        beginning
        for beginning in _EXPLANATIONS
        if not any(name.startswith(beginning) for name in names)
    ]
