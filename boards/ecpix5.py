"""LambdaConcept ECPIX-5 85F: gigabit Ethernet; serial ports on PMOD 0."""

from __future__ import annotations

from litedram.modules import MT41K256M16
from litespi.modules import S25FL256S
from litex.build.generic_platform import IOStandard, Pins
from litex_boards.platforms.lambdaconcept_ecpix5 import Platform

from .board import (
    ECP5_DDR3,
    Board,
    ExternalMemory,
    Family,
    Phy,
    SerialPins,
    SpiFlash,
    board_params,
)

#: Green of the four LEDs, which are on when low.
_GREEN = ("R23", "K24", "W21", "R21")


def _platform() -> Platform:
    platform = Platform(device="85F")
    platform.add_extension(
        [
            ("green_led_n", index, Pins(site), IOStandard("LVCMOS33"))
            for index, site in enumerate(_GREEN)
        ]
    )
    return platform


ECPIX5 = Board(
    name="ecpix5",
    title="LambdaConcept ECPIX-5 85F",
    family=Family.ECP5,
    platform=_platform,
    clock="clk100",
    clock_hz=100_000_000,
    reset_n="rst_n",
    leds="green_led_n",
    leds_low=True,
    phy=Phy.RGMII,
    rgmii_tx_delay=2e-9,
    serial=tuple(
        SerialPins(
            tx=f"pmod0:{2 * port}",
            rx=f"pmod0:{2 * port + 1}",
            where=f"PMOD 0 pins {first} and {first + 1}",
        )
        for port, first in enumerate((1, 3, 7, 9))
    ),
    io_standard="LVCMOS33",
    soc=board_params(sys_clk_hz=50_000_000, main_ram_bytes=128 << 10),
    memory=ExternalMemory(module=MT41K256M16, pins="ddram", soc=ECP5_DDR3),
    # Or another maker's, which all understand the plain command.
    flash=SpiFlash(chip=S25FL256S, data_pins=1, program_offset=4 << 20),
    loader=("--board", "ecpix5"),
)
