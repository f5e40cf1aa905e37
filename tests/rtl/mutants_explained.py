"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from mutated_core import Mutant

_NOT_USED = "a copy of a word of which this bit is not used"
#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS = {
    "inv of late_access[28]": "the address of a load that is back, of which two bits are used",
    "cnot0 of $flatten\\write_back.$ternary$core.v:25691$12303 A": _NOT_USED,
    "cnot1 of write_back.$52[4]": _NOT_USED,
    "const1 of $flatten\\predecoder.$eq$core.v:22143$11213 A": (
        "takes auipc for lui where both are asked for"
    ),
    "const0 of execute.$343[0]": "a part of `executed.departs` that `waits_for_access` is, too",
    "const1 of predecoder.$494[0]": (
        "waits for a CSR instruction right ahead of a pair that begins with its second word, but"
        " ahead of that is a jump"
    ),
}


def explanation(mutant: Mutant) -> str | None:
    """Why the fault changes nothing that matters; None if that is not known."""
    for beginning, reason in _EXPLANATIONS.items():
        if str(mutant).startswith(beginning):
            return reason
    return None
