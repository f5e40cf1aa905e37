"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from mutated_core import Mutant

_NOT_USED = "a copy of a word of which this bit is not used"
#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS = {
    "const1 of $flatten\\bus.$procmux$15207 A": "an input of a multiplexer that is never chosen",
    "const0 of $flatten\\write_back.$ternary$core.v:25738$12333 B": _NOT_USED,
    "const0 of $flatten\\buffer.$ternary$core.v:5330$178 B": _NOT_USED,
    "cnot0 of write_back.$28[0]": _NOT_USED,
    "const1 of $flatten\\divider.$procmux$13963 S": (
        "asks whether a tier above the most urgent one has the divider"
    ),
    "cnot0 of execute.$209[0]": "a part of `executed.flushes`, which nothing reads",
    "const0 of monitor.latency$29.$21[2]": "a carry out of a counter that ends before",
}


def explanation(mutant: Mutant) -> str | None:
    """Why the fault changes nothing that matters; None if that is not known."""
    for beginning, reason in _EXPLANATIONS.items():
        if str(mutant).startswith(beginning):
            return reason
    return None
