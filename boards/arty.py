"""Digilent Arty A7-35T and A7-100T.

The system clock is one that a core of this size reaches on Artix-7 of the slowest grade with room
to spare; no vendor tool has confirmed it. Vivado's own report is judged when it has run.
"""

from __future__ import annotations

import dataclasses

from litedram.modules import MT41K128M16
from litespi.modules import S25FL128L
from litex_boards.platforms.digilent_arty import Platform

from .board import (
    CACHES,
    LITTLE_DEFINES,
    LITTLE_MEMORY,
    SMALL_LOCAL,
    Board,
    ExternalMemory,
    Family,
    Phy,
    SerialPins,
    SpiFlash,
    board_params,
)


def _pmod_ja(port: int) -> SerialPins:
    # Upper row pins 1 to 4, lower row 7 to 10.
    first = (1, 3, 7, 9)[port]
    return SerialPins(
        tx=f"pmoda:{2 * port}", rx=f"pmoda:{2 * port + 1}", where=f"JA {first} and {first + 1}"
    )


_DDR3 = ExternalMemory(module=MT41K128M16, pins="ddram", soc=CACHES)

ARTY = Board(
    name="arty",
    title="Digilent Arty A7-35T",
    family=Family.ARTIX7,
    platform=lambda: Platform(variant="a7-35"),
    clock="clk100",
    clock_hz=100_000_000,
    speed_grade=-1,
    reset_n="cpu_reset",
    phy=Phy.MII,
    phy_clock="eth_ref_clk",
    serial=tuple(_pmod_ja(port) for port in range(4)),
    io_standard="LVCMOS33",
    soc=board_params(sys_clk_hz=75_000_000, **LITTLE_MEMORY),
    memory=dataclasses.replace(_DDR3, soc=CACHES | SMALL_LOCAL),
    # The bitstream of the larger FPGA ends before that.
    flash=SpiFlash(chip=S25FL128L, program_offset=4 << 20),
    defines=LITTLE_DEFINES,
    loader=("--board", "arty_a7_35t"),
    jumpers="JP1 (MODE) closed to start from flash",
)

ARTY_A7_100 = dataclasses.replace(
    ARTY,
    name="arty_a7_100",
    title="Digilent Arty A7-100T",
    platform=lambda: Platform(variant="a7-100"),
    soc=board_params(sys_clk_hz=75_000_000, main_ram_bytes=128 << 10),
    memory=_DDR3,
    defines=(),
    loader=("--board", "arty_a7_100t"),
)
