"""Terasic DE10-Nano: no Ethernet on the FPGA's side; serial ports on the Arduino header.

Its external memory, on the FPGA's side, is an SDRAM module as MiSTer has, on GPIO 0.

The system clock is the oscillator's, which no vendor tool has confirmed; Quartus' own report is
judged when it has run.
"""

from __future__ import annotations

from litedram.modules import AS4C32M16
from litex.build.generic_platform import GenericPlatform
from litex_boards.platforms.terasic_de10nano import Platform

from .board import CYCLONE_CACHES, Board, ExternalMemory, Family, SerialPins, board_params

#: Sites of Arduino_IO0 to Arduino_IO9 (user manual, table 3-13).
_ARDUINO = ("AG13", "AF13", "AG10", "AG9", "U14", "U13", "AG8", "AH8", "AF17", "AE15")


def _arduino(rx: int) -> SerialPins:
    return SerialPins(tx=_ARDUINO[rx + 1], rx=_ARDUINO[rx], where=f"Arduino IO{rx + 1} and IO{rx}")


def _platform() -> GenericPlatform:
    """Without the SDRAM's clock enable: modules tie it, and its pin is on the Arduino header."""
    platform = Platform()
    available = platform.constraint_manager.available
    for index, (name, number, *parts) in enumerate(available):
        if name == "sdram":
            kept = [part for part in parts if getattr(part, "name", None) != "cke"]
            available[index] = (name, number, *kept)
    return platform


DE10_NANO = Board(
    name="de10_nano",
    title="Terasic DE10-Nano",
    family=Family.CYCLONE5,
    platform=_platform,
    clock="clk50",
    clock_hz=50_000_000,
    speed_grade="-I7",
    reset_n="key",
    console=_arduino(0),
    console_where="Arduino IO1 (transmit) and IO0 (receive)",
    serial=tuple(_arduino(rx) for rx in range(2, 10, 2)),
    io_standard="3.3-V LVTTL",
    soc=board_params(sys_clk_hz=50_000_000, ethernet=False, main_ram_bytes=128 << 10),
    # LiteX's platform has no mask pins: modules have two of the address in their place.
    memory=ExternalMemory(
        module=AS4C32M16,
        pins="sdram",
        clock="sdram_clock",
        masks=False,
        where="SDRAM module of MiSTer on GPIO 0, not part of the board",
        soc=CYCLONE_CACHES,
    ),
    app="standalone",
    loader=("--board", "de10nano"),
    jic=("EPCS128", "5CSEBA6"),
    jumpers="SW10 (MSEL) on 10010, as delivered, to start from flash",
)
