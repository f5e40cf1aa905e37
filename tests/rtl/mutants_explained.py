"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

#: What the description of a fault begins with, and why it changes nothing that matters.
EXPLANATIONS: dict[str, str] = {
    "cnot1 of csrs.$347[25] ": "mip has no bit 10, on which it depends",
    "cnot0 of m[36] ": "the monitor has no use for that bit of stage M",
    r"cnot0 of $flatten\execute.$procmux$37788_CMP47 A": (
        "only addresses without bit 4 become others, and this is mhpmevent25 (0x339)"
    ),
    r"cnot0 of $flatten\decoder.$procmux$38028 B": (
        "ecall, ebreak, mret and wfi have no use for an immediate"
    ),
    r"inv of $flatten\commit.$procmux$38910 A": "of the tier 3 that the core does not have",
    "const1 of operands.$48[0]": "the sign of the upper half does not depend on the lower one",
    "const1 of tiers.$115[2]": (
        "a tier that waits for its access issues nothing, so that nothing redirects it meanwhile"
    ),
    r"inv of $flatten\csrs.$procmux$38475_CMP0 ": (
        "used by tier 2 alone, whose own enable is chosen ahead of it"
    ),
}
