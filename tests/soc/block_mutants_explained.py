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
    "dma": {
        "const0 of $procmux$1039 S": "the bus asks for nothing during a reset",
        "inv of $and$block.v:1533$253 A": (
            "a ring that is turned off stops while it fetches, not behind that; if the descriptor"
            " comes in that very cycle its frame is sent: it is one that was given in time"
        ),
        "const0 of $procmux$1309 Y": "bit 12 of UDP's length, which no frame that is stored has",
        "const0 of $procmux$1389 B": _TOO_MANY,
        "const1 of $and$block.v:2154$422 A": (
            "a ring does not write while it reads, so that there is no write if both readers want"
            " a word"
        ),
        "inv of $auto$proc_memwr.cc:45:proc_memwr$1961 DATA": _OTHER_LANES,
        "cnot1 of $ne$block.v:2135$407 A": _TOO_MANY,
    },
    "dma-whole": {
        "inv of $procmux$885 B": _OTHER_LANES,
        "const0 of $procmux$858 A": _OTHER_LANES,
        "const1 of transmitter_level[1]": (
            "a frame is announced when all its words are there; a buffer that lacks a word or two"
            " is full for a cycle"
        ),
        "cnot1 of $procmux$1713 Y": "it depends on a bit that is always 0",
        "const0 of $procmux$1102 B": "the transmitter's walk rests for 0 cycles: it counts nothing",
    },
    "serial": {
        r"cnot1 of $flatten\tierv_serial_port.receiver.$procmux$1531_CMP0 A": (
            "a state with bit 0 set is not DATA either way"
        ),
        r"const0 of $flatten\tierv_serial_port.transmitter.$procmux$2236 Y": (
            "a character is in the lower bits when it enters the FIFO; zeros follow it"
        ),
        r"cnot1 of $flatten\tierv_serial_port.transmitter.$ne$transmitter.v:75$1295 A": (
            "a number with bit 2 set is not 0 either way"
        ),
        r"const0 of $flatten\tierv_serial_port.receiver.$add$receiver.v:206$1500 Y": (
            "the sum is cut to three bits"
        ),
        r"const1 of $flatten\tierv_serial_port.$procmux$2753_CMP0 A": (
            "of address 1 too, which is preferably that of receive_burst"
        ),
        r"const0 of $flatten\tierv_serial_port.$procmux$2718_CMP0 A": (
            "of address 15 too, which is preferably that of limit"
        ),
        "const1 of $procmux$2791_CMP0 A": "whatever register of a port is read, its port says what",
    },
    "echo": {
        "const0 of $procmux$601 A": "of what a register of commands reads as, not of a command",
        "const0 of $procmux$405_CMP0 A": _NO_REGISTER,
        "const0 of $procmux$391_CMP0 A": _NO_REGISTER,
        "cnot0 of $gt$block.v:220$19 A": "of spreads below 16, which are not above 15 either way",
    },
}
