"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

#: What the description of a fault begins with, and why it changes nothing that matters.
EXPLANATIONS: dict[str, str] = {
    r"inv of $flatten\bus_fetcher.$procmux$39060 B": (
        "the first word is inverted twice, when it comes and when the second one does; behind an"
        " error it does not count"
    ),
    "const1 of predecoder.$383[0]": "no CSR's address has bit 8 set and bit 9 clear",
    "cnot1 of csrs.$431[31]": "mhpmevent3 reads as 1, without the bit on which it depends",
    "cnot1 of write_back.$83[1]": "it is inverted if another bit of the same OR is set",
}
