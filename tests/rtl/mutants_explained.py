"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from collections.abc import Iterable

from mutated_core import Mutant

#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS: dict[str, str] = {
    "inv of execute.alu.$2051[0]": (
        "bit 7 of an arithmetic shift is filled at distance 24, too, where the sign itself arrives"
    ),
    "const0 of execute.alu.$3314[0]": (
        "only arithmetic shifts to the right fill, and bit 0 is the last of theirs to be filled"
    ),
    "cnot0 of predecoder.$475[65]": "the predecoder has no use for the lowest bit of a word",
    "inv of fetcher.$66[0]": (
        "a tier that is redirected early leaves in the same cycle, whatever has ended"
    ),
    r"inv of $flatten\fetcher.$eq$core.v:22617$6694 A": (
        "a tier that is redirected early leaves in the same cycle, whatever tier begins"
    ),
    r"cnot1 of $flatten\line_unit.$ternary$core.v:25895$13395 A": (
        "line 5 becomes a candidate, or none, only beside line 1, whose lower number wins"
    ),
    "const0 of fetcher.$121[0]": (
        "the tier whose pair is on its way wants no other, so that nothing is asked for"
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
