"""Colorlight i9 on its extension board: an ECP5 and two gigabit PHYs, of which the first is used.

The smaller i5 has too little block RAM for the services.
"""

from __future__ import annotations

from litedram.modules import M12L64322A
from litespi.modules import W25Q64
from litex_boards.platforms.colorlight_i5 import Platform

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

#: Sites of PMOD E, which is on P3 of the extension board.
_PMOD_E = ("C17", "B18", "B20", "F20", "A18", "A19", "B19", "D20")

COLORLIGHT_I9 = Board(
    name="colorlight_i9",
    title="Colorlight i9 (v7.2) on the extension board",
    family=Family.ECP5,
    platform=lambda: Platform(board="i9", revision="7.2"),
    clock="clk25",
    clock_hz=25_000_000,
    reset_n="cpu_reset_n",
    leds="user_led_n",
    leds_low=True,
    phy=Phy.RGMII,
    rgmii_rx_delay=2e-9,
    console_where="USB of the extension board (CMSIS-DAP)",
    serial=tuple(
        SerialPins(tx=tx, rx=rx, where=f"P3, sites {tx} and {rx}")
        for tx, rx in zip(_PMOD_E[::2], _PMOD_E[1::2], strict=True)
    ),
    io_standard="LVCMOS33",
    # 47 to 50 MHz were reached for 50.
    soc=board_params(sys_clk_hz=45_000_000, **LITTLE_MEMORY),
    # 42 to 46 MHz were reached for 45.
    debug_sys_clk_hz=40_000_000,
    # An EM638325, which is alike; the board ties its mask pins.
    memory=ExternalMemory(
        module=M12L64322A,
        data_bits=32,
        pins="sdram",
        clock="sdram_clock",
        clock_phase=180,
        masks=False,
        soc=CACHES | SMALL_LOCAL,
    ),
    flash=SpiFlash(chip=W25Q64, data_pins=1, program_offset=4 << 20),
    defines=LITTLE_DEFINES,
    loader=("--board", "colorlight-i9"),
)
