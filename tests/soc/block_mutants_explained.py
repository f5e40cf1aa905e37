"""Faults planted in the SoC's blocks that no test can find, and why.

Names are those that yosys gives for the present sources: a change of a block plants other faults.
"""

from __future__ import annotations

_NO_REGISTER = "of LiteX's bus: only an address at which there is no register changes its meaning"
_TOO_MANY = "of a counter of 32 bits: it takes 65,536 frames or more"
_OTHER_LANES = "of the memory of the tests: of lanes that this write leaves alone"

#: For each block: what the description of a fault begins with, and why it changes nothing that
#: matters.
EXPLANATIONS: dict[str, dict[str, str]] = {
    "dma-whole": {
        "const0 of $procmux$1396 B": _TOO_MANY,
        "inv of $auto$proc_memwr.cc:45:proc_memwr$1967 DATA": _OTHER_LANES,
    },
    "echo": {
        "const0 of $procmux$601 A": "of what a register of commands reads as, not of a command",
        "const0 of $procmux$405_CMP0 A": _NO_REGISTER,
        "const0 of $procmux$391_CMP0 A": _NO_REGISTER,
        "cnot0 of $gt$block.v:220$19 A": "of spreads below 16, which are not above 15 either way",
    },
}
