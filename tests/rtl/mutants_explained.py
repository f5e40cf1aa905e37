"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

#: What the description of a fault begins with, and why it changes nothing that matters.
EXPLANATIONS: dict[str, str] = {
    "const1 of tiers.$183[0]": "a tier that was started is started in what is ORed with it, too",
    "const0 of execute.alu.$2052[0]": (
        "a bit filled with the sign by a shift to the right by 24 is the sign anyway"
    ),
    "const0 of execute.alu.$2916[0]": "in a shift to the left, which fills nothing",
    "const0 of execute.alu.$2978[1]": "in a shift to the left, which fills nothing",
    r"inv of $flatten\divider.$procmux$38078 A": (
        "inverted in each of the 32 steps until it is read, once"
    ),
}
