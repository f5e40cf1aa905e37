"""Terasic DE0-Nano: no Ethernet; serial ports on the GPIO header JP1.

Its 66 block RAMs of 1 KiB hold small local memories and two serial ports without time stamps: each
buffer takes a block RAM, however small. With a BIOS, which takes half of them, there are smaller
memories, small caches and neither ports nor a latency instrument. The system clock is the
oscillator's, which no vendor tool has confirmed; Quartus' own report is judged when it has run.
"""

from __future__ import annotations

from litedram.modules import IS42S16160
from litex_boards.platforms.terasic_de0nano import Platform

from .board import Board, ExternalMemory, Family, SerialPins, board_params


def _jp1(tx: int, rx: int) -> SerialPins:
    return SerialPins(tx=f"JP1:{tx}", rx=f"JP1:{rx}", where=f"JP1 {tx} and {rx}")


DE0_NANO = Board(
    name="de0_nano",
    title="Terasic DE0-Nano",
    family=Family.CYCLONE4,
    platform=Platform,
    clock="clk50",
    clock_hz=50_000_000,
    speed_grade="-6",
    reset_n="key",
    console_where="JP1 10 (transmit) and 8 (receive)",
    serial=(_jp1(13, 14), _jp1(15, 16)),
    io_standard="3.3-V LVTTL",
    soc=board_params(
        sys_clk_hz=50_000_000,
        ethernet=False,
        uarts=2,
        uart_stamps=False,
        echo_bins=256,
        itcm_bytes=32 << 10,
        dtcm_bytes=16 << 10,
    ),
    memory=ExternalMemory(
        module=IS42S16160,
        pins="sdram",
        clock="sdram_clock",
        soc={
            "rom_bytes": 32 << 10,
            "sram_bytes": 4 << 10,
            "itcm_bytes": 8 << 10,
            "dtcm_bytes": 4 << 10,
            "icache_bytes": 2 << 10,
            "dcache_bytes": 2 << 10,
            "uarts": 0,
            "echo_bins": 0,
            "cache_line_bytes": 64,
        },
    ),
    app="standalone",
    loader=("--board", "de0nano"),
    jic=("EPCS16", "EP4CE22"),
)
