"""How the stages from decode to write-back are joined to each other and to the bus."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal

from ..layouts import decoded_layout, writer_layout
from .align import parts_of
from .begun_access import identity


class BackEndJoin:
    """Part of ``tierv.Core``."""

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
        for writer, stage, instruction in (
            (d_writer, d, control),
            (x_writer, self._execute.x, self._execute.x.control),
        ):
            m.d.comb += [
                writer.valid.eq(stage.valid & instruction.writes),
                writer.tier.eq(stage.tier),
                writer.rd.eq(instruction.rd),
                writer.load.eq(instruction.load),
            ]
        # The load in M goes to the bus; its result will not be in A.
        opens_load = Signal()
        m.d.comb += opens_load.eq(
            self._m.valid & self._m.loads_later & (self._m.tier == issued.tier)
        )
        m.d.comb += [
            decoder.instruction.eq(d.instruction),
            decoder.fetch_fault.eq(d.fault),
            decoder.predicted.eq(d.predicted),
            operands.tier.eq(issued.tier),
            operands.instruction.eq(issued.instruction),
            operands.has_immediate.eq(decoder.has_immediate),
            operands.immediate.eq(decoder.immediate),
            operands.has_constant.eq(decoder.has_constant),
            operands.is_four.eq(decoder.is_four),
            operands.d_writer.eq(d_writer),
            operands.x_writer.eq(x_writer),
            operands.m_writer.eq(self._write_back.next_writer),
            operands.a_writer.eq(self._write_back.writer),
            operands.x_result.eq(self._execute.result),
            operands.m_result.eq(self._m.result | self._multiplier.lower),
            operands.m_word.eq(self._m_word),
            operands.m_parts.eq(
                Cat(
                    *parts_of(self._m.control.funct3, self._m.address[:2]),
                    ~self._m.control.funct3[2],
                )
            ),
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
            decoded.second.eq(operands.second),
            decoded.offset.eq(decoder.offset),
            decoded.alternative.eq(d.pc + decoder.distance),
            decoded.given.eq(Mux(decoder.gives, decoded.alternative, 0)),
            decoded.misaligned_target.eq(decoder.misaligned_target),
            decoded.predicted.eq(d.predicted),
            self._predecoder.return_tier.eq(d.tier),
            decoded.predicted_pc.eq(self._predecoder.return_target),
            decoded.history.eq(d.history),
            decoded.rs1.eq(d.instruction[15:20]),
            decoded.rs2.eq(d.instruction[20:25]),
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
        access = self._begun_access
        m.d.comb += [
            execute.interrupt.eq(self._csrs.interrupt),
            execute.pending.eq(self._csrs.pending),
            execute.stop.eq(self._tiers.stop & ~bus.precise),
            execute.bus_failed.eq(bus.failed & ~bus.precise),
            self._csrs.x_tier.eq(x.tier),
            execute.vector.eq(self._csrs.x_vector),
            execute.buffered.eq(self._csrs.buffered),
            execute.bus_done.eq(bus.done),
            execute.bus_error.eq(bus.done_error),
            execute.same_access.eq(access.same),
            multiplier.control.eq(x.control),
            multiplier.first.eq(x.first),
            multiplier.second.eq(x.second),
            divider.request.eq(execute.divide),
            divider.tier.eq(x.tier),
            divider.funct3.eq(x.control.funct3),
            divider.rs1.eq(x.rs1),
            divider.rs2.eq(x.rs2),
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
            commit.d_uses_m_load.eq(self._d.valid & self._operands.uses_m_load),
            commit.d_tier.eq(self._d.tier),
            divider.taken.eq(commit.divide_taken),
            divider.m.valid.eq(stage.valid),
            divider.m.tier.eq(stage.tier),
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
        access = self._begun_access
        m.d.comb += [
            access.x_tier.eq(self._execute.x.tier),
            access.x.eq(identity(self._execute.x, self._execute.x.offset)),
            access.open.eq(commit.bus_open),
            access.m_tier.eq(stage.tier),
            access.m.eq(identity(stage, stage.csr_address)),
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
            bus.abandon.eq(commit.bus_abandon),
            bus.issue_tier.eq(self._buffer.issued.tier),
            bus.failure_taken.eq(commit.failure_taken),
            bus.late_taken.eq(commit.late_taken),
            bus.awaited.eq(self._tiers.waits_for_load | self._tiers.waiting),
            bus.fetch_request.eq(fetch.request & ~fetch.cancel),
            bus.fetch_tier.eq(self._bus_pair.priority),
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
