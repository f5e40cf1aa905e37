"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from collections.abc import Iterable

from mutated_core import Mutant

#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS: dict[str, str] = {
    r"const0 of $flatten\decoder.$procmux$18041 A": (
        "the value for codes that are none of those that come here, which is left undefined"
    ),
    r"cnot1 of $flatten\bus_fetcher.$procmux$18983 S": (
        "while it is idle two values are chosen, of which the right one goes first"
    ),
    r"const0 of $flatten\predecoder.$and$core.v:30339$15120 A": (
        "a tier that gets its first PC as its last pair arrives remembers a return address too"
        " many, which costs a prediction at the most"
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
