"""Colorlight i9 on its extension board: an ECP5 and two gigabit PHYs, of which the first is used.

The smaller i5 has too little block RAM for the services.
"""

from __future__ import annotations

from litex_boards.platforms.colorlight_i5 import Platform

from .board import LITTLE_DEFINES, LITTLE_MEMORY, Board, Family, Phy, SerialPins, board_params

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
    soc=board_params(sys_clk_hz=50_000_000, **LITTLE_MEMORY),
    defines=LITTLE_DEFINES,
    loader=("--board", "colorlight-i9"),
)
