"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from collections.abc import Iterable

from mutated_core import Mutant

#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS: dict[str, str] = {}


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
