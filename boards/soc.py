"""The SoC on a board: pins, clocks and PHY of the board around the SoC of the simulation."""

from __future__ import annotations

from typing import Any

from litedram.modules import SDRAMModule
from litedram.phy import A7DDRPHY, GENSDRPHY
from litex.build.generic_platform import IOStandard, Pins, Subsignal
from litex.build.io import DDROutput
from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL, S7IDELAYCTRL, S7PLL, CycloneIVPLL, CycloneVPLL
from migen import ClockDomain, ClockSignal, Record, Signal
from migen.genlib.resetsync import AsyncResetSynchronizer

from tierv.soc.crc_checker import in_place_of_liteeths
from tierv.soc.debug import Jtag
from tierv.soc.ethernet import MiiPhy, RgmiiPhy, shorten_paths
from tierv.soc.soc import TierVSoC

from .board import Board, Family, Phy, SerialPins
from .jtag import fpga_jtag

#: Resources that this package adds to the platform's.
_SERIAL, _CONSOLE = "tierv_serial", "tierv_console"
_PHY_CLOCK_HZ = 25_000_000
#: Reference of an Artix-7's input delays.
_DELAY_CLOCK_HZ = 200_000_000


class _ClocksAndReset(LiteXModule):
    """The system clock from the board's oscillator, in reset until the PLL is locked.

    ``rst`` resets the PLL as well, ``debug_reset`` does not.
    """

    def __init__(self, platform, board: Board) -> None:
        self.rst = Signal()
        self.debug_reset = Signal()
        self.cd_sys = ClockDomain()
        pll_class = {
            Family.ARTIX7: S7PLL,
            Family.CYCLONE4: CycloneIVPLL,
            Family.CYCLONE5: CycloneVPLL,
            Family.ECP5: ECP5PLL,
        }[board.family]
        options = {} if board.speed_grade is None else {"speedgrade": board.speed_grade}
        self.pll = pll = pll_class(**options)
        reset = self.rst
        if board.reset_n is not None:
            reset |= ~platform.request(board.reset_n)
        self.comb += pll.reset.eq(reset)
        clock = platform.request(board.clock)
        pll.register_clkin(clock, board.clock_hz)
        pll.create_clkout(self.cd_sys, board.soc.sys_clk_hz, with_reset=False)
        self.specials += AsyncResetSynchronizer(self.cd_sys, ~pll.locked | self.debug_reset)
        platform.add_period_constraint(clock, 1e9 / board.clock_hz)
        if board.soc.sdram:
            self._add_memory_clocks(platform, board)
        if board.phy_clock is not None:
            self.cd_phy = ClockDomain(reset_less=True)
            pll.create_clkout(self.cd_phy, _PHY_CLOCK_HZ, with_reset=False)
            self.comb += platform.request(board.phy_clock).eq(self.cd_phy.clk)

    def _add_memory_clocks(self, platform, board: Board) -> None:
        hz = board.soc.sys_clk_hz
        if board.family is Family.ARTIX7:
            # LiteDRAM's PHY: four words of DDR3 in a cycle.
            self.cd_sys4x = ClockDomain()
            self.cd_sys4x_dqs = ClockDomain()
            self.cd_idelay = ClockDomain()
            self.pll.create_clkout(self.cd_sys4x, 4 * hz)
            self.pll.create_clkout(self.cd_sys4x_dqs, 4 * hz, phase=90)
            self.pll.create_clkout(self.cd_idelay, _DELAY_CLOCK_HZ)
            self.idelayctrl = S7IDELAYCTRL(self.cd_idelay)
        else:
            self.cd_sys_ps = ClockDomain()
            self.pll.create_clkout(self.cd_sys_ps, hz, phase=90)
            pin = platform.request(board.memory.clock)
            self.specials += DDROutput(1, 0, pin, ClockSignal("sys_ps"))


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
        TierVSoC.__init__(self, platform, board.soc, _ClocksAndReset(platform, board))
        if board.family in (Family.CYCLONE4, Family.CYCLONE5) and board.phy is not Phy.NONE:
            # LiteX cuts the paths from the system clock only.
            platform.toolchain.additional_sdc_commands += [
                f"set_clock_groups -asynchronous -group [get_clocks {{{name}}}]"
                for name in ("eth_rx_clk", "eth_tx_clk")
            ]

    def _add_ethernet(self, timing_constraints: bool, phy_hw_reset: bool) -> None:
        if self.board.phy is not Phy.RGMII:
            TierVSoC._add_ethernet(self, timing_constraints, phy_hw_reset)
            return
        with in_place_of_liteeths():
            TierVSoC._add_ethernet(self, timing_constraints, phy_hw_reset)
        shorten_paths(self.ethmac.core)

    def sdram_phy(self) -> tuple[LiteXModule, SDRAMModule]:
        """The PHY of the board's external memory: DDR3 on Artix-7, otherwise single data rate."""
        memory = self.board.memory
        hz = self.board.soc.sys_clk_hz
        pads = self.platform.request(memory.pins)
        if self.board.family is Family.ARTIX7:
            phy = A7DDRPHY(pads, memtype="DDR3", nphases=4, sys_clk_freq=hz)
            return phy, memory.module(hz, "1:4")
        return GENSDRPHY(pads, hz), memory.module(hz, "1:1")

    def spi_flash(self) -> dict[str, Any]:
        """The flash from which the FPGA starts."""
        return {"mode": "4x", "module": self.board.flash.module(), "with_master": True}

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
