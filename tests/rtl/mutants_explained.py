"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from collections.abc import Iterable

from mutated_core import Mutant

#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS: dict[str, str] = {
    "const0 of execute.$507[54]": "stage M has no use for whether the instruction has compared",
    "const1 of execute.$414[0]": (
        "a misaligned access to the bus, which traps, is taken for one that waits for it, too"
    ),
    r"inv of $flatten\execute.alu.$ternary$core.v:21769$6499 A": (
        "which bits take the sign, in a shift to the left, which fills with zeros"
    ),
    r"cnot0 of $flatten\monitor.counters.$ternary$core.v:26869$13667 B": (
        "a bit above the 40 that a counter has"
    ),
    r"inv of $flatten\bus.$procmux$18672 B": (
        "changes the error of a precise access at the end of a buffered one; the next precise"
        " access sets it before it is read"
    ),
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
