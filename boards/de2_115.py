"""Terasic DE2-115: the first of its two Ethernet ports, and the expansion header JP5.

The system clock is the oscillator's, which no vendor tool has confirmed; Quartus' own report is
judged when it has run.
"""

from __future__ import annotations

from litedram.modules import IS42S16320
from litex_boards.platforms.terasic_de2_115 import Platform

from .board import CYCLONE_CACHES, Board, ExternalMemory, Family, Phy, SerialPins, board_params

#: Sites of GPIO[0] to GPIO[7], which are pins 1 to 8 of JP5 (user manual, table 4-13).
_JP5 = ("AB22", "AC15", "AB21", "Y17", "AC21", "Y16", "AD21", "AE16")

DE2_115 = Board(
    name="de2_115",
    title="Terasic DE2-115",
    family=Family.CYCLONE4,
    platform=Platform,
    clock="clk50",
    clock_hz=50_000_000,
    speed_grade="-7",
    phy=Phy.MII,
    console_where="RS-232 connector",
    serial=tuple(
        SerialPins(tx=_JP5[n], rx=_JP5[n + 1], where=f"JP5 {n + 1} and {n + 2}")
        for n in range(0, 8, 2)
    ),
    io_standard="3.3-V LVTTL",
    soc=board_params(sys_clk_hz=50_000_000, main_ram_bytes=128 << 10),
    # LiteX's platform has one chip of the two.
    memory=ExternalMemory(module=IS42S16320, pins="sdram", clock="sdram_clock", soc=CYCLONE_CACHES),
    loader=("--cable", "usb-blaster"),
    jic=("EPCS64", "EP4CE115"),
    jumpers="JP1 (ENET0) on 2-3: MII; JP6 on 3.3 V; SW19 on RUN",
)
