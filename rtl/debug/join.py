"""How debug mode and triggers are joined to the rest of the core."""

from __future__ import annotations

from amaranth.hdl import C, Module, Mux, Signal, Value

from ..util import bit
from .hart import DebugMode
from .triggers import Triggers

#: Bits 11:5 of the address of every CSR of external debug.
CSR_PAGE = 0x7A0 >> 5


class DebugJoin:
    """Part of ``tierv.Core``."""

    def _join_debug(self, m: Module) -> Value:
        """Debug mode and triggers; what they change of what the other parts were told.

        Returns 1 for a cycle in which memory may differ from the caches: the debugger has written
        to it by another way, or to code by the data cache.
        """
        p = self.params
        if not p.debug:
            return C(0)
        mode = m.submodules.debug_mode = DebugMode(p)
        triggers = m.submodules.triggers = Triggers(p)
        execute = self._execute
        stage = self._m
        commit = self._commit
        csrs = self._csrs
        bus = self._bus
        fetch = self._bus_fetcher
        tiers = self._tiers

        # Their CSRs are none of the others'.
        names_debug = Signal()
        m.d.comb += [
            names_debug.eq(stage.csr_address[5:] == CSR_PAGE),
            csrs.writes.eq(commit.csr_writes & ~names_debug),
            self._write_back.csr_data.eq(csrs.read_data | mode.read_data | triggers.read_data),
        ]
        with m.If(execute.x.offset[5:] == CSR_PAGE):
            m.d.comb += csrs.x_accesses.eq(0)
        for part in (mode, triggers):
            m.d.comb += [
                part.csr.eq(csrs.access),
                part.csr.write.eq(commit.csr_writes & names_debug),
                part.csr_reads.eq(stage.control.csr & names_debug),
            ]

        # Neither interrupts nor errors of earlier accesses get into debug mode, and single steps
        # meet no interrupts. Accesses of debug mode are precise.
        quiet = mode.debug | mode.stepping
        interrupt = csrs.interrupt & ~quiet
        m.d.comb += [
            execute.interrupt.eq(interrupt),
            tiers.interrupt.eq(interrupt),
            commit.interrupt.eq(csrs.still_interrupt & ~quiet),
            execute.stop.eq(
                (((tiers.stop | mode.halting) & ~bus.precise) | mode.behind_step) & ~mode.debug
            ),
            execute.bus_failed.eq(bus.failed & ~bus.precise & ~mode.debug),
            execute.buffered.eq(csrs.buffered & ~mode.debug),
            execute.debug.eq(mode.debug),
            execute.break_halts.eq(mode.break_halts),
            execute.trigger.eq(triggers.hit),
            triggers.d_tier.eq(self._d.tier),
            triggers.d_pc.eq(self._d.pc),
            triggers.x_base.eq(execute.x.first),
            triggers.x_offset.eq(execute.x.offset),
            triggers.x_load.eq(execute.x.control.load),
            triggers.x_store.eq(execute.x.control.store),
            triggers.debug.eq(mode.debug),
        ]

        # What a tier in debug mode fetches is the program, and nothing comes from the bus but what
        # was on its way.
        debugs = Signal()
        m.d.comb += [
            debugs.eq(fetch.request & bit(mode.debug, fetch.tier) & ~bus.fetch_active),
            bus.fetch_request.eq(fetch.request & ~fetch.cancel & ~bit(mode.debug, fetch.tier)),
            fetch.active.eq(bus.fetch_active | debugs),
            fetch.ack.eq(self.wb_ack | debugs),
            fetch.error.eq(self.wb_err & ~debugs),
            fetch.read_data.eq(Mux(debugs, self.debug_program_word, self.wb_dat_r)),
            self.debug_program_index.eq(fetch.address),
        ]

        m.d.comb += [
            mode.halt.eq(self.debug_halt),
            mode.reset_halt.eq(self.debug_reset_halt),
            mode.resume.eq(self.debug_resume),
            mode.run.eq(self.debug_run),
            mode.data_read.eq(self.debug_data_read),
            self.debug_data_write.eq(mode.data_write),
            self.debug_data.eq(mode.data),
            self.debug_halted.eq(mode.debug),
            self.debug_resumed.eq(mode.resumed),
            self.debug_done.eq(mode.done),
            self.debug_failed.eq(mode.failed),
            self.debug_came_from_reset.eq(mode.came_from_reset),
            # What a tier does for the debugger is none of its program.
            self.retire_valid.eq(commit.retired.valid & ~bit(mode.debug, commit.retired.tier)),
            mode.x_tier.eq(execute.x.tier),
            mode.x_trigger.eq(triggers.hit),
            mode.x_break.eq(execute.x_break),
            mode.stopped.eq(commit.stopped),
            mode.retired.eq(commit.retired),
            mode.trapped.valid.eq(commit.trap.valid),
            mode.trapped.tier.eq(commit.trap.tier),
            mode.program_trapped.eq(commit.program_trapped),
            mode.m.valid.eq(stage.valid & ~stage.stopped),
            mode.m.tier.eq(stage.tier),
            mode.m_pc.eq(stage.pc),
            mode.moved.eq(commit.moved),
            mode.redirect.eq(self._redirect),
            mode.started.eq(tiers.started),
            mode.begin_taken.eq(commit.begin_taken),
            commit.debug.eq(mode.debug),
            commit.begin.eq(mode.begin),
            commit.begin_pc.eq(mode.begin_pc),
            tiers.debug.eq(mode.debug),
            tiers.halting.eq(mode.halting),
            tiers.forced.eq(mode.forced),
            mode.forced_ready.eq(tiers.forced_ready),
            tiers.alone.eq(mode.alone),
            tiers.stepping.eq(mode.stepping),
            tiers.forget_wait.eq(mode.forget_wait),
        ]
        if p.counters:
            awake = tiers.started & ~mode.debug & (~tiers.waiting | tiers.waking)
            m.d.comb += self._monitor.awake.eq(awake)
        return mode.resumed.any() | self.debug_wrote if p.has_caches else C(0)
