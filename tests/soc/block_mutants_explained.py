"""Faults planted in the SoC's blocks that no test can find, and why.

Names are those that yosys gives for the present sources: a change of a block plants other faults.
"""

from __future__ import annotations

_NO_REGISTER = "of LiteX's bus: only an address at which there is no register changes its meaning"
_COUNTER = "of a counter of 32 bits: it takes 512 frames or more"
_OTHER_LANES = "of the memory of the tests: of lanes that this write leaves alone"
_OUTSIDE = "of the memory of the tests: what is read outside of it, which nothing does"

#: For each block: what the description of a fault begins with, and why it changes nothing that
#: matters.
EXPLANATIONS: dict[str, dict[str, str]] = {
    "dma": {
        "const0 of framerings_csrstatus0_status1[9]": _COUNTER,
        "const0 of $procmux$1400 A": _COUNTER,
        "const1 of within_before[0]": _OUTSIDE,
        "const1 of $not$block.v:556$17 Y": _OUTSIDE,
        "const0 of $procmux$1211 B": (
            "of the length of a frame of 2,048 bytes or more, which is too long whatever it is"
        ),
        "cnot0 of $add$block.v:1462$232 Y": "the sum is compared with 512: bit 9 decides",
        "cnot1 of $add$block.v:672$61 Y": "a sum of three bits is never 4",
        "const0 of $and$block.v:2121$406 A": "of a word of which bit 3 is used",
    },
    "dma-whole": {
        "const0 of $procmux$1396 B": _COUNTER,
        "inv of $auto$proc_memwr.cc:45:proc_memwr$1967 DATA": _OTHER_LANES,
        "cnot1 of $procmux$888 Y": _OTHER_LANES,
        "const0 of $auto$proc_memwr.cc:45:proc_memwr$1965 EN": _OTHER_LANES,
        "const0 of $procmux$1544 A": "the number of the state DISABLED, 0, has no bit 2",
        "const1 of sel[0]": _NO_REGISTER,
        "cnot1 of $procmux$1228 B": "bit 19 of a receive descriptor's second word says nothing",
    },
    "serial": {
        r"const1 of $flatten\tierv_serial_port.receiver.$procmux$1986 S": (
            "of any_one, which changes in no start bit and is not read behind a stop bit"
        ),
        r"const1 of $flatten\tierv_serial_port.counters.$procmux$2421 Y": (
            "of a counter's bit 13: it takes 8,192 events"
        ),
        r"const0 of $flatten\tierv_serial_port.$procmux$2709_CMP0 A": (
            "of the upper half of a counter of 16 bits, which is 0 either way"
        ),
        "const1 of $procmux$2785 B": "of address 43, that of purge, which nobody reads",
        r"inv of $flatten\tierv_serial_port.receiver.$sub$receiver.v:178$1497 B": (
            "the difference is cut to three bits"
        ),
        "const1 of $procmux$2814_CMP0 A": "addresses 22 and 23 read alike: what the port gives",
        r"const1 of $flatten\tierv_serial_port.counters.$procmux$2428 A": (
            "of the memory of the counters: of what is not written"
        ),
        r"inv of $flatten\tierv_serial_port.transmitter.$add$transmitter.v:89$1330 Y": (
            "the sum is cut to three bits"
        ),
        r"cnot1 of $flatten\tierv_serial_port.$eq$port.v:59$850 A": (
            "2 and 3 take each other's place, and neither is EVEN"
        ),
    },
    "echo": {
        "const0 of $procmux$601 A": "of what a register of commands reads as, not of a command",
        "const0 of $procmux$405_CMP0 A": _NO_REGISTER,
        "const0 of $procmux$391_CMP0 A": _NO_REGISTER,
        "cnot0 of $gt$block.v:220$19 A": "of spreads below 16, which are not above 15 either way",
    },
}
