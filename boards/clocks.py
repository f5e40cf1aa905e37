"""Clocks and resets of the SoC on a board: of the system, of external memory, of the PHY."""

from __future__ import annotations

from litex.build.io import DDROutput
from litex.gen import LiteXModule
from litex.soc.cores.clock import ECP5PLL, S7IDELAYCTRL, S7PLL, CycloneIVPLL, CycloneVPLL
from migen import ClockDomain, ClockSignal, If, Instance, Signal
from migen.genlib.resetsync import AsyncResetSynchronizer

from .board import Board, Family

_PLLS = {
    Family.ARTIX7: S7PLL,
    Family.CYCLONE4: CycloneIVPLL,
    Family.CYCLONE5: CycloneVPLL,
    Family.ECP5: ECP5PLL,
}
_PHY_CLOCK_HZ = 25_000_000
#: Reference of an Artix-7's input delays.
_DELAY_CLOCK_HZ = 200_000_000
#: Of what trains an ECP5's delay lines for DDR3, and how long after power-on its PLL begins, as in
#: LiteX's targets.
_INIT_CLOCK_HZ = 25_000_000
_POWER_ON_CYCLES = 65_535


class ClocksAndReset(LiteXModule):
    """The system clock from the board's oscillator, in reset until the PLL is locked.

    ``rst`` resets the PLL as well, ``debug_reset`` does not. ``stop`` and ``memory_reset`` come
    from the PHY of an ECP5's DDR3: while it trains, it stops the clocks of memory and system and
    resets what divides them.
    """

    def __init__(self, platform, board: Board) -> None:
        self.rst = Signal()
        self.debug_reset = Signal()
        self.stop = Signal()
        self.memory_reset = Signal()
        self.cd_sys = ClockDomain()
        options = {} if board.speed_grade is None else {"speedgrade": board.speed_grade}
        self.pll = pll = _PLLS[board.family](**options)
        reset = self.rst
        if board.reset_n is not None:
            reset |= ~platform.request(board.reset_n)
        clock = platform.request(board.clock)
        pll.register_clkin(clock, board.clock_hz)
        platform.add_period_constraint(clock, 1e9 / board.clock_hz)
        not_ready = ~pll.locked | self.debug_reset
        if board.has_ecp5_ddr3:
            reset |= self._power_on_reset(clock)
            self._add_ecp5_ddr3_clocks(board.soc.sys_clk_hz)
            not_ready |= self.memory_reset
        else:
            pll.create_clkout(self.cd_sys, board.soc.sys_clk_hz, with_reset=False)
            if board.soc.sdram:
                self._add_memory_clocks(platform, board)
        self.comb += pll.reset.eq(reset)
        if board.family is Family.ARTIX7:
            # What resets the SoC is sampled by the oscillator, too: as in LiteX's targets.
            platform.add_false_path_constraints(self.cd_sys.clk, pll.clkin)
        self.specials += AsyncResetSynchronizer(self.cd_sys, not_ready)
        if board.phy_clock is not None:
            self.cd_phy = ClockDomain(reset_less=True)
            pll.create_clkout(self.cd_phy, _PHY_CLOCK_HZ, with_reset=False)
            self.comb += platform.request(board.phy_clock).eq(self.cd_phy.clk)

    def _power_on_reset(self, clock: Signal) -> Signal:
        """High for the first cycles of the oscillator."""
        self.cd_por = ClockDomain(reset_less=True)
        self.comb += self.cd_por.clk.eq(clock)
        left = Signal(max=_POWER_ON_CYCLES + 1, reset=_POWER_ON_CYCLES)
        self.sync.por += If(left != 0, left.eq(left - 1))
        return left != 0

    def _add_ecp5_ddr3_clocks(self, sys_clk_hz: int) -> None:
        """The system's clock is half of the edge clock of LiteDRAM's PHY: two words of DDR3 in a
        cycle."""
        self.cd_init = ClockDomain()
        self.cd_sys2x = ClockDomain(reset_less=True)
        self.cd_sys2x_i = ClockDomain(reset_less=True)
        self.pll.create_clkout(self.cd_sys2x_i, 2 * sys_clk_hz, with_reset=False)
        self.pll.create_clkout(self.cd_init, _INIT_CLOCK_HZ)
        self.specials += [
            Instance(
                "ECLKSYNCB",
                i_ECLKI=self.cd_sys2x_i.clk,
                i_STOP=self.stop,
                o_ECLKO=self.cd_sys2x.clk,
            ),
            Instance(
                "CLKDIVF",
                p_DIV="2.0",
                i_ALIGNWD=0,
                i_CLKI=self.cd_sys2x.clk,
                i_RST=self.memory_reset,
                o_CDIVX=self.cd_sys.clk,
            ),
        ]

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
            self.pll.create_clkout(self.cd_sys_ps, hz, phase=board.memory.clock_phase)
            pin = platform.request(board.memory.clock)
            self.specials += DDROutput(1, 0, pin, ClockSignal("sys_ps"))
