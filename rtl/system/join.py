"""How the tiers' state, lines, counters and CSRs are joined to the rest of the core."""

from __future__ import annotations

from amaranth.hdl import Cat, Module

from .monitor import PerformanceMonitor


class SystemJoin:
    """Part of ``tierv.Core``."""

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
                self._monitor.x_csr.eq(self._execute.x.valid & self._execute.x.control.csr),
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
            csrs.x_mepc.eq(self._execute.uses_mepc),
            # What raises an exception by itself may look like a CSR instruction.
            csrs.x_accesses.eq(self._execute.x.control.csr & ~self._execute.x.control.exception),
            csrs.x_address.eq(self._execute.x.offset),
            csrs.address.eq(stage.csr_address),
            csrs.operation.eq(stage.control.funct3[:2]),
            csrs.source.eq(stage.result),
            csrs.writes.eq(commit.csr_writes),
            csrs.reads.eq(stage.certain | stage.shows_address),
            csrs.shows_value.eq(stage.shows_address),
            csrs.value.eq(stage.address),
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
