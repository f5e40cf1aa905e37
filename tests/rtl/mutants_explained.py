"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from mutated_core import Mutant

_NOT_USED = "a copy of a loaded byte or half word of which this bit is not used"
#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS = {
    "const1 of predecoder.$135[0]": (
        "part of what tells a slow instruction of Zbb, which this core has not: such a word traps,"
        " whatever the next one would wait for"
    ),
    "const1 of $flatten\\write_back.$ternary$core.v:25132$12132 B": _NOT_USED,
    "cnot0 of write_back.$26[12]": _NOT_USED,
    "cnot0 of write_back.$22[8]": _NOT_USED,
}


def explanation(mutant: Mutant) -> str | None:
    """Why the fault changes nothing that matters; None if that is not known."""
    for beginning, reason in _EXPLANATIONS.items():
        if str(mutant).startswith(beginning):
            return reason
    return None
