"""Lattice ECP5 Versa: the first of two gigabit PHYs; serial ports on the expansion header X3."""

from __future__ import annotations

from litedram.modules import MT41K64M16
from litespi.modules import N25Q128A13
from litex_boards.platforms.lattice_versa_ecp5 import Platform

from .board import (
    ECP5_DDR3,
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

VERSA_ECP5 = Board(
    name="versa_ecp5",
    title="Lattice ECP5-5G Versa",
    family=Family.ECP5,
    platform=lambda: Platform(device="LFE5UM5G"),
    clock="clk100",
    clock_hz=100_000_000,
    reset_n="rst_n",
    leds_low=True,
    phy=Phy.RGMII,
    serial=tuple(
        SerialPins(tx=f"X3:{pin}", rx=f"X3:{pin + 1}", where=f"X3 {pin} and {pin + 1}")
        for pin in range(4, 12, 2)
    ),
    io_standard="LVCMOS33",
    soc=board_params(sys_clk_hz=50_000_000, **LITTLE_MEMORY),
    memory=ExternalMemory(module=MT41K64M16, pins="ddram", soc=ECP5_DDR3 | SMALL_LOCAL),
    flash=SpiFlash(chip=N25Q128A13, data_pins=1, program_offset=4 << 20),
    defines=LITTLE_DEFINES,
    loader=("--cable", "ft2232"),
    jumpers="J50: 1-2 and 3-5, which leaves the clock generator out of the JTAG chain",
)
