"""The SoC on a board: pins, clocks and PHY of the board around the SoC of the simulation."""

from __future__ import annotations

from typing import Any

from litedram.modules import SDRAMModule
from litedram.phy import A7DDRPHY, ECP5DDRPHY, GENSDRPHY
from litex.build.generic_platform import IOStandard, Pins, Subsignal
from litex.gen import LiteXModule
from migen import Record, Signal

from tierv.soc.debug import Jtag
from tierv.soc.ethernet import MiiPhy, RgmiiPhy, shorten_paths
from tierv.soc.soc import TierVSoC

from .board import Board, Family, Phy, SerialPins
from .clocks import ClocksAndReset
from .jtag import fpga_jtag

#: Resources that this package adds to the platform's.
_SERIAL, _CONSOLE = "tierv_serial", "tierv_console"


def _serial_resource(name: str, index: int, pins: SerialPins, io_standard: str) -> tuple:
    sites = (Subsignal("tx", Pins(pins.tx)), Subsignal("rx", Pins(pins.rx)))
    return (name, index, *sites, IOStandard(io_standard))


class BoardSoC(TierVSoC):
    """``TierVSoC`` with the pins of a board."""

    def __init__(self, board: Board, platform) -> None:
        self.board = board
        ports = [
            _serial_resource(_SERIAL, index, pins, board.io_standard)
            for index, pins in enumerate(board.serial)
        ]
        if board.console is not None:
            ports.append(_serial_resource(_CONSOLE, 0, board.console, board.io_standard))
        platform.add_extension(ports)
        TierVSoC.__init__(self, platform, board.soc, ClocksAndReset(platform, board))
        if board.has_ecp5_ddr3:
            training = self.ddrphy.init
            self.comb += [
                self.crg.stop.eq(training.stop),
                self.crg.memory_reset.eq(training.reset),
            ]
        if board.soc.flash_boot_offset is not None and board.flash.data_pins == 1:
            self._release_flash()
        if board.family in (Family.CYCLONE4, Family.CYCLONE5) and board.phy is not Phy.NONE:
            # LiteX cuts the paths from the system clock only.
            platform.toolchain.additional_sdc_commands += [
                f"set_clock_groups -asynchronous -group [get_clocks {{{name}}}]"
                for name in ("eth_rx_clk", "eth_tx_clk")
            ]

    def _add_ethernet(self, timing_constraints: bool, phy_hw_reset: bool) -> None:
        TierVSoC._add_ethernet(self, timing_constraints, phy_hw_reset)
        if self.board.phy is Phy.RGMII:
            mac = self.ethdma if self.params.eth_dma else self.ethmac
            shorten_paths(mac.core)

    def sdram_phy(self) -> tuple[LiteXModule, SDRAMModule]:
        """The PHY of the board's external memory: DDR3, or single data rate."""
        memory = self.board.memory
        hz = self.board.soc.sys_clk_hz
        pads = self.platform.request(memory.pins)
        if self.board.family is Family.ARTIX7:
            phy = A7DDRPHY(pads, memtype="DDR3", nphases=4, sys_clk_freq=hz)
            return phy, memory.module(hz, "1:4")
        if self.board.has_ecp5_ddr3:
            return ECP5DDRPHY(pads, sys_clk_freq=hz), memory.module(hz, "1:2")
        return GENSDRPHY(pads, hz), memory.module(hz, "1:1")

    def spi_flash(self) -> dict[str, Any]:
        """The flash from which the FPGA starts."""
        flash = self.board.flash
        return {
            "mode": f"{flash.data_pins}x",
            "module": flash.module(),
            "with_master": True,
        }

    def _release_flash(self) -> None:
        """Neither hold the flash nor protect it, if pins can, while one data pin is used."""
        pads = self.platform.lookup_request("spiflash")
        for name in ("hold", "wp"):
            if hasattr(pads, name):
                self.comb += getattr(pads, name).eq(1)

    def uart_pads(self, index: int) -> Record:
        """Pins of the console (0) or of serial port ``index - 1``."""
        if index:
            return self.platform.request(_SERIAL, index - 1)
        return self.platform.request("serial" if self.board.console is None else _CONSOLE)

    def jtag(self) -> Jtag:
        """The TAP of the FPGA."""
        return fpga_jtag(self.board)

    def led_pads(self) -> Signal:
        """LEDs that are on at 1, whatever the board's are."""
        pins = self.platform.request_all(self.board.leds)
        if not self.board.leds_low:
            return pins
        leds = Signal(len(pins))
        self.comb += pins.eq(~leds)
        return leds

    def ethernet_phy(self, *, hw_reset: bool) -> LiteXModule:
        """The interface to the board's PHY."""
        number = self.board.phy_index
        clocks = self.platform.request("eth_clocks", number)
        pads = self.platform.request("eth", number)
        if self.board.phy is Phy.MII:
            return MiiPhy(clocks, pads, with_hw_init_reset=hw_reset)
        return RgmiiPhy(
            clocks,
            pads,
            with_hw_init_reset=hw_reset,
            tx_delay=self.board.rgmii_tx_delay,
            rx_delay=self.board.rgmii_rx_delay,
        )
