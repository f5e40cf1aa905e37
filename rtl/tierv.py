"""The core: joins the front end, the back end and the system registers."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .backend.bus import BusUnit
from .backend.commit import Commit
from .backend.decode import Decoder
from .backend.execute import Execute
from .backend.muldiv import Divider, Multiplier
from .backend.operands import Operands
from .backend.writeback import WriteBack
from .cache.data import DataCache
from .cache.join import join_caches
from .cache.port import memory_port_members
from .debug.join import DebugJoin
from .debug.layout import debug_members
from .frontend.bus_fetch import BusFetcher
from .frontend.fetch import Fetcher
from .frontend.history import BranchHistory
from .frontend.issue import IssueBuffer
from .frontend.predecode import Predecoder
from .layouts import (
    decoded_layout,
    issued_layout,
    redirect_layout,
    tier_event_layout,
    writer_layout,
)
from .params import CoreParams
from .rvfi import RvfiMonitor, join_monitor, port_members
from .system.counters import CycleCounter, InstructionCounter
from .system.csr import CsrFile
from .system.lines import LineUnit
from .system.monitor import PerformanceMonitor
from .system.tiers import TierState
from .wishbone import master_ports


class Core(DebugJoin, wiring.Component):
    """A RISC-V core with ``params.tiers`` banked register contexts.

    Contains no memory but its registers. The local ports answer in the next cycle, always; the
    bus port and, with a cache, the memory port are Wishbone B4 classic with word addresses.
    """

    def __init__(self, params: CoreParams) -> None:
        self.params = params
        p = params
        super().__init__(
            {
                #: External interrupt lines, synchronous to the clock.
                "lines": In(p.lines),
                #: Machine timer interrupt of each tier.
                "timer": In(p.tiers),
                #: Address of an aligned pair of instruction words; the pair follows a cycle later.
                "imem_address": Out(p.imem.size_log2 - 3),
                "imem_read_data": In(64),
                #: Word address of a load or store; a load's data follows a cycle later.
                "dmem_address": Out(p.dmem.size_log2 - 2),
                "dmem_write_mask": Out(4),
                "dmem_write_data": Out(32),
                "dmem_read_data": In(32),
                **master_ports("wb_"),
                #: Pulses as a tier leaves wfi, with its pending lines.
                "wake": Out(p.tiers),
                #: An instruction issues (stage I) or retires (stage M).
                "issue_valid": Out(1),
                "issue_tier": Out(p.tier_bits),
                "retire_valid": Out(1),
                "retire_tier": Out(p.tier_bits),
                "retire_pc": Out(32),
            }
            | (memory_port_members() if p.has_caches else {})
            | (debug_members(p) if p.debug else {})
            | (port_members(p) if p.rvfi else {})
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self.params

        # The instruction in D; what stage M tells everyone.
        self._d = Signal(issued_layout(p))
        self._redirect = Signal(redirect_layout(p))
        # The redirect of the last cycle.
        self._dropped = Signal(tier_event_layout(p))
        m.d.sync += [
            self._dropped.valid.eq(self._redirect.valid),
            self._dropped.tier.eq(self._redirect.tier),
        ]

        self._fetcher = m.submodules.fetcher = Fetcher(p)
        self._bus_fetcher = m.submodules.bus_fetcher = BusFetcher(p)
        self._history = m.submodules.history = BranchHistory(p)
        self._predecoder = m.submodules.predecoder = Predecoder(p)
        self._buffer = m.submodules.buffer = IssueBuffer(p)
        self._operands = m.submodules.operands = Operands(p)
        self._decoder = m.submodules.decoder = Decoder(p)
        self._execute = m.submodules.execute = Execute(p)
        self._m = self._execute.m
        self._multiplier = m.submodules.multiplier = Multiplier(p)
        self._divider = m.submodules.divider = Divider(p)
        self._commit = m.submodules.commit = Commit(p)
        self._bus = m.submodules.bus = BusUnit(p)
        self._write_back = m.submodules.write_back = WriteBack(p)
        self._tiers = m.submodules.tiers = TierState(p)
        self._csrs = m.submodules.csrs = CsrFile(p)
        self._lines = m.submodules.line_unit = LineUnit(p)
        self._cycles = m.submodules.cycles = CycleCounter(p)
        self._instructions = m.submodules.instructions = InstructionCounter(p)
        # What a load reads in M without the bus.
        self._m_word = self.dmem_read_data
        self._data_cache = None
        if p.dcache_bytes:
            self._data_cache = m.submodules.data_cache = DataCache(p)
            self._m_word = Mux(self._m.cached, self._data_cache.read_data, self.dmem_read_data)

        self._join_front_end(m)
        self._join_decode(m)
        self._join_execute(m)
        self._join_commit(m)
        self._join_bus(m)
        self._join_system(m)
        self._join_csrs(m)
        stale = self._join_debug(m)
        if p.has_caches:
            parts = (self._data_cache, self._fetcher, self._execute, self._bus, self._commit)
            join_caches(m, p, self, *parts, stale)
        if p.rvfi:
            self._join_rvfi(m)
        return m

    def _join_front_end(self, m: Module) -> None:
        """Stages P, F and I."""
        fetcher = self._fetcher
        predecoder = self._predecoder
        buffer = self._buffer
        fetch = self._bus_fetcher
        history = self._history
        words = Signal(data.ArrayLayout(32, 2))
        m.d.comb += [
            self.imem_address.eq(fetcher.lookup_pc[1:]),
            words.eq(self.imem_read_data),
            fetcher.local_words.eq(words),
            fetcher.redirect.eq(self._redirect),
            fetcher.dropped.eq(self._dropped),
            fetcher.ended.eq(predecoder.ended),
            fetcher.has_target.eq(predecoder.has_target),
            fetcher.target.eq(predecoder.target),
            fetcher.pairs.eq(buffer.pairs),
            history.lookup_tier.eq(fetcher.lookup_tier),
            history.lookup_pc.eq(fetcher.lookup_pc),
            fetcher.history.eq(history.counters),
            fetch.start.eq(fetcher.bus_start),
            fetch.start_tier.eq(fetcher.arrival.tier),
            fetch.start_pc.eq(fetcher.arrival.pc),
            fetch.cancel.eq(fetcher.bus_cancel),
            fetch.taken.eq(fetcher.bus_taken),
            fetcher.bus_busy.eq(fetch.busy),
            fetcher.bus_done.eq(fetch.done),
            fetcher.bus_tier.eq(fetch.tier),
            fetcher.bus_words.eq(fetch.words),
            fetcher.bus_faults.eq(fetch.faults),
            predecoder.arrival.eq(fetcher.arrival),
            predecoder.redirect.eq(self._redirect),
            buffer.arrival.eq(fetcher.arrival),
            buffer.arriving.eq(fetcher.arriving),
            buffer.redirect.eq(self._redirect),
            buffer.kill.eq(self._commit.kill),
            buffer.dropped.eq(self._dropped),
            buffer.pair_valid.eq(predecoder.valid),
            buffer.pair_tier.eq(predecoder.tier),
            buffer.pair.eq(predecoder.pair),
            buffer.ready.eq(self._tiers.ready),
            buffer.sharing.eq(self._csrs.sharing),
        ]

    def _join_decode(self, m: Module) -> None:
        """From I through D: operands of the instruction that issues."""
        p = self.params
        issued = self._buffer.issued
        d = self._d
        decoder = self._decoder
        operands = self._operands
        control = decoder.control
        m.d.sync += d.eq(issued)

        d_writer = Signal(writer_layout(p))
        x_writer = Signal(writer_layout(p))
        m_writer = Signal(writer_layout(p))
        for writer, stage, instruction in (
            (d_writer, d, control),
            (x_writer, self._execute.x, self._execute.x.control),
            (m_writer, self._m, self._m.control),
        ):
            is_word = instruction.funct3 == 2
            m.d.comb += [
                writer.valid.eq(stage.valid & instruction.writes),
                writer.tier.eq(stage.tier),
                writer.rd.eq(instruction.rd),
                writer.word_load.eq(instruction.load & is_word),
            ]
        # The load in M goes to the bus; its result will not be in A.
        opens_load = Signal()
        m.d.comb += opens_load.eq(
            m_writer.valid
            & self._m.control.load
            & self._commit.postponed
            & (self._m.tier == issued.tier)
        )
        m.d.comb += [
            decoder.instruction.eq(d.instruction),
            decoder.fetch_fault.eq(d.fault),
            decoder.predicted.eq(d.predicted),
            operands.tier.eq(issued.tier),
            operands.instruction.eq(issued.instruction),
            operands.d_writer.eq(d_writer),
            operands.x_writer.eq(x_writer),
            operands.m_writer.eq(m_writer),
            operands.late_writer.eq(self._write_back.late_writer),
            operands.a_writer.eq(self._write_back.writer),
            operands.x_result.eq(self._execute.result),
            operands.m_result.eq(self._m.result),
            operands.m_word.eq(self._m_word),
            operands.a_result.eq(self._write_back.result),
            operands.w_result.eq(self._write_back.last_result),
            operands.write.valid.eq(self._write_back.writer.valid),
            operands.write.tier.eq(self._write_back.writer.tier),
            operands.write_rd.eq(self._write_back.writer.rd),
            operands.write_data.eq(self._write_back.result),
        ]
        x = self._execute.x
        m.d.comb += [
            self._buffer.d.valid.eq(d.valid),
            self._buffer.d.tier.eq(d.tier),
            self._buffer.x.valid.eq(x.valid),
            self._buffer.x.tier.eq(x.tier),
            self._buffer.awaited.eq(opens_load | self._bus.issue_pending),
            self._buffer.awaited_rd.eq(Mux(opens_load, self._m.control.rd, self._bus.issue_rd)),
            self._buffer.collects.eq(self._bus.issue_collects),
            self._buffer.stall.eq(self._bus.reserve),
        ]

        decoded = Signal(decoded_layout(p))
        m.d.comb += [
            decoded.valid.eq(d.valid),
            decoded.tier.eq(d.tier),
            decoded.pc.eq(d.pc),
            decoded.control.eq(control),
            decoded.first.eq(operands.first),
            decoded.second.eq(Mux(decoder.has_immediate, decoder.immediate, operands.second)),
            decoded.offset.eq(decoder.offset),
            decoded.alternative.eq(d.pc + decoder.distance),
            decoded.misaligned_target.eq(decoder.misaligned_target),
            decoded.predicted.eq(d.predicted),
            self._predecoder.return_tier.eq(d.tier),
            decoded.predicted_pc.eq(self._predecoder.return_target),
            decoded.history.eq(d.history),
            self._execute.decoded.eq(decoded),
            self._execute.kill.eq(self._commit.kill),
        ]

    def _join_execute(self, m: Module) -> None:
        """Stage X."""
        execute = self._execute
        x = execute.x
        multiplier = self._multiplier
        divider = self._divider
        bus = self._bus
        m.d.comb += [
            execute.interrupt.eq(self._csrs.interrupt),
            execute.stop.eq(self._tiers.stop & ~bus.precise),
            execute.bus_failed.eq(bus.failed & ~bus.precise),
            self._csrs.x_tier.eq(x.tier),
            self._csrs.x_wants_mepc.eq(execute.wants_mepc),
            execute.vector.eq(self._csrs.x_vector),
            execute.buffered.eq(self._csrs.buffered),
            execute.bus_done.eq(bus.done),
            execute.bus_error.eq(bus.done_error),
            multiplier.control.eq(x.control),
            multiplier.first.eq(x.first),
            multiplier.second.eq(x.second),
            divider.request.eq(execute.divide),
            divider.tier.eq(x.tier),
            divider.funct3.eq(x.control.funct3),
            divider.first.eq(x.first),
            divider.second.eq(x.second),
            execute.divide_ready.eq(divider.ready),
            execute.divide_result.eq(divider.result),
            self.dmem_address.eq(execute.dmem_address),
            self.dmem_write_mask.eq(execute.dmem_write_mask),
            self.dmem_write_data.eq(execute.dmem_write_data),
        ]

    def _join_commit(self, m: Module) -> None:
        """Stages M and A."""
        stage = self._m
        commit = self._commit
        csrs = self._csrs
        bus = self._bus
        divider = self._divider
        write_back = self._write_back
        predecoder = self._predecoder
        history = self._history
        m.d.comb += [
            commit.m.eq(stage),
            self._redirect.eq(commit.redirect),
            commit.interrupt.eq(csrs.still_interrupt),
            commit.interrupt_cause.eq(csrs.interrupt_cause),
            commit.started.eq(self._tiers.started),
            commit.bus_idle.eq(bus.idle),
            commit.bus_leaving.eq(bus.leaving),
            commit.bus_failed_store.eq(bus.failed_store),
            commit.late.eq(bus.late),
            commit.d_uses_m_word.eq(self._d.valid & self._operands.uses_m_word),
            commit.d_tier.eq(self._d.tier),
            divider.taken.eq(commit.divide_taken),
            divider.dropped.eq(self._dropped),
            divider.held.eq(self._tiers.held),
            divider.keep.eq(commit.wait_for_divider.valid),
            predecoder.resolved.eq(commit.return_resolved),
            history.update.eq(commit.retired.valid & stage.control.branch),
            history.tier.eq(stage.tier),
            history.pc.eq(stage.pc),
            history.taken.eq(stage.taken),
            # The sign of the offset.
            history.backward.eq(stage.csr_address[11]),
            history.old.eq(stage.history),
            write_back.m.eq(stage),
            write_back.retired.eq(commit.retired.valid),
            write_back.postponed.eq(commit.postponed),
            write_back.csr_data.eq(csrs.read_data),
            write_back.product.eq(self._multiplier.result),
            write_back.local_word.eq(self._m_word),
            write_back.bus_word.eq(bus.read_data),
            write_back.late.valid.eq(commit.late_taken),
            write_back.late.tier.eq(bus.late.tier),
            write_back.late_access.eq(bus.late_access),
        ]

    def _join_bus(self, m: Module) -> None:
        stage = self._m
        bus = self._bus
        commit = self._commit
        fetch = self._bus_fetcher
        m.d.comb += [
            bus.open.eq(commit.bus_open),
            bus.tier.eq(stage.tier),
            bus.access.address.eq(stage.address),
            bus.access.write.eq(stage.control.store),
            bus.access.data.eq(stage.store_data),
            bus.access.mask.eq(stage.store_mask),
            bus.access.funct3.eq(stage.control.funct3),
            bus.access.rd.eq(stage.control.rd),
            bus.open_buffered.eq(stage.buffered),
            bus.collect.eq(commit.bus_collect),
            bus.issue_tier.eq(self._buffer.issued.tier),
            bus.failure_taken.eq(commit.failure_taken),
            bus.late_taken.eq(commit.late_taken),
            bus.awaited.eq(self._tiers.waits_for_load),
            bus.fetch_request.eq(fetch.request & ~fetch.cancel),
            bus.fetch_tier.eq(fetch.tier),
            bus.fetch_address.eq(fetch.address),
            fetch.active.eq(bus.fetch_active),
            fetch.ack.eq(self.wb_ack),
            fetch.error.eq(self.wb_err),
            fetch.read_data.eq(self.wb_dat_r),
            self.wb_cyc.eq(bus.cyc),
            self.wb_stb.eq(bus.cyc),
            self.wb_we.eq(bus.we),
            self.wb_adr.eq(bus.adr),
            self.wb_sel.eq(bus.sel),
            self.wb_dat_w.eq(bus.dat_w),
            bus.dat_r.eq(self.wb_dat_r),
            bus.ack.eq(self.wb_ack),
            bus.err.eq(self.wb_err),
        ]

    def _join_system(self, m: Module) -> None:
        """Tier state, lines and counters."""
        p = self.params
        tiers = self._tiers
        commit = self._commit
        bus = self._bus
        access = self._csrs.access
        late_write = self._csrs.late_write
        m.d.sync += self._instructions.count.eq(commit.retired)
        m.d.comb += [
            tiers.csr.eq(access),
            tiers.redirect.eq(self._redirect),
            tiers.wfi_issued.eq(self._buffer.wfi),
            tiers.wfi_retired.eq(commit.wfi),
            tiers.wake.eq(self._csrs.wake),
            tiers.settled.eq(bus.settled),
            tiers.wait_for_bus.eq(commit.wait_for_bus),
            tiers.bus_busy.eq(
                bus.busy | self._data_cache.stores_busy if p.dcache_bytes else bus.busy
            ),
            tiers.wait_for_divider.eq(commit.wait_for_divider),
            tiers.divider_busy.eq(self._divider.busy),
            tiers.interrupt.eq(self._csrs.interrupt),
            tiers.wait_for_load.valid.eq(self._buffer.present & self._buffer.awaits),
            tiers.wait_for_load.tier.eq(self._buffer.issued.tier),
            tiers.load_open.eq(bus.load_open),
            tiers.stopped.eq(commit.stopped),
            self._lines.lines.eq(self.lines),
            self._lines.cycle.eq(self._cycles.value),
            self._lines.csr.eq(access),
            self._lines.late_write.eq(late_write),
            self._lines.d_tier.eq(self._d.tier),
            self._cycles.csr.eq(late_write),
            self._instructions.csr.eq(late_write),
            self.wake.eq(tiers.waking),
            self.issue_valid.eq(self._buffer.issued.valid),
            self.issue_tier.eq(self._buffer.issued.tier),
            self.retire_valid.eq(commit.retired.valid),
            self.retire_tier.eq(commit.retired.tier),
            self.retire_pc.eq(Cat(0, 0, self._m.pc)),
        ]
        if p.counters:
            self._monitor = m.submodules.monitor = PerformanceMonitor(p)
            m.d.comb += [
                self._monitor.cycle.eq(self._cycles.value),
                self._monitor.x_tier.eq(self._execute.x.tier),
                self._monitor.x_address.eq(self._execute.x.offset),
                self._monitor.csr.eq(access),
                self._monitor.awake.eq(tiers.started & (~tiers.waiting | tiers.waking)),
                self._monitor.waking.eq(tiers.waking),
                self._monitor.issued.valid.eq(self.issue_valid),
                self._monitor.issued.tier.eq(self.issue_tier),
                self._csrs.events.eq(self._monitor.events),
                self._csrs.latency.eq(self._monitor.latency),
            ]

    def _join_csrs(self, m: Module) -> None:
        stage = self._m
        csrs = self._csrs
        lines = self._lines
        commit = self._commit
        m.d.comb += [
            csrs.tier.eq(stage.tier),
            csrs.x_address.eq(self._execute.x.offset),
            csrs.address.eq(stage.csr_address),
            csrs.operation.eq(stage.control.funct3[:2]),
            csrs.source.eq(stage.result),
            csrs.writes.eq(commit.csr_writes),
            csrs.reads.eq(stage.control.csr),
            csrs.vector.eq(stage.vector),
            csrs.trap.eq(commit.trap),
            csrs.mret.eq(commit.mret),
            csrs.timer.eq(self.timer),
            csrs.line_interrupt.eq(lines.interrupt),
            csrs.hold_interrupts.eq(self._bus.precise),
            csrs.started.eq(self._tiers.started),
            csrs.ceilings.eq(self._tiers.ceilings),
            csrs.cycle.eq(self._cycles.value),
            csrs.retired.eq(self._instructions.value),
            csrs.lines_pending.eq(lines.pending),
            csrs.lines_tier_pending.eq(lines.tier_pending),
            csrs.lines_claim.eq(lines.claim),
            csrs.lines_stamp.eq(lines.stamp),
            csrs.lines_edges.eq(lines.edges),
            csrs.lines_masks.eq(lines.masks),
            csrs.lines_priorities.eq(lines.priorities),
        ]

    def _join_rvfi(self, m: Module) -> None:
        monitor = m.submodules.rvfi = RvfiMonitor(self.params)
        parts = (self._operands, self._execute, self._commit, self._bus, self._tiers)
        join_monitor(m, monitor, self._d, self._m_word, *parts, self._write_back)
        for name, value in monitor.outputs().items():
            m.d.comb += getattr(self, name).eq(value)
