"""External interrupt lines: latches, masks, priorities, time stamps."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..isa import LINE_PRIORITY_BITS, LINES_PER_PRIORITY_CSR
from ..layouts import csr_access_layout, csr_write_layout
from ..params import CoreParams
from ..util import applied, highest, pick
from .csr_select import names_one_of


class LineUnit(wiring.Component):
    """Say which lines are pending, for whom, and which of them is the most urgent.

    A level line is pending while it is high. The rising edge of an edge line is latched until it
    is acknowledged, and an edge in the cycle of the acknowledge is kept.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        lines = params.lines
        super().__init__(
            {
                "lines": In(lines),
                "cycle": In(32),
                #: A CSR instruction in M; what it writes in A.
                "csr": In(csr_access_layout(params)),
                "late_write": In(csr_write_layout(params)),
                #: The tier in stage D; `claim` is what it finds in M.
                "d_tier": In(params.tier_bits),
                #: Lines that are pending, before the masks.
                "pending": Out(lines),
                "edges": Out(lines),
                "masks": Out(data.ArrayLayout(lines, params.tiers)),
                #: Each tier has a pending line in its mask.
                "interrupt": Out(params.tiers),
                "priorities": Out(data.ArrayLayout(LINE_PRIORITY_BITS, lines)),
                #: Pending lines of the tier that accesses a CSR; the number plus one of the most
                #: urgent, as of two cycles before.
                "tier_pending": Out(lines),
                "claim": Out(range(lines + 1)),
                #: `cycle` when the line that `csr.address` names last became pending.
                "stamp": Out(32),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        csr = self.csr
        late = self.late_write

        def written(name: str) -> Value:
            return late.write & names_one_of(late.address, name)

        next_edges = Signal(p.lines)
        # Edge lines that were high a cycle ago: little is left to do behind the lines.
        high_edges = Signal(p.lines)
        latched = Signal(p.lines)
        acknowledged = Signal(p.lines)
        rising = self.lines & ~high_edges
        with m.If(csr.write & names_one_of(csr.address, "mlineack")):
            m.d.comb += acknowledged.eq(applied(csr, Const(0, p.lines)))
        m.d.comb += [
            next_edges.eq(Mux(written("mlineedge"), late.data, self.edges)),
            self.pending.eq(latched | rising),
        ]
        m.d.sync += [
            self.edges.eq(next_edges),
            high_edges.eq(self.lines & next_edges),
            latched.eq(self.edges & next_edges & ((latched & ~acknowledged) | rising)),
        ]
        masks = [self.masks[tier] for tier in range(p.tiers)]
        mask = Signal(p.lines)
        m.d.comb += mask.eq(pick(masks, csr.tier))
        for tier in range(p.tiers):
            with m.If(written("mlinemask") & (late.tier == tier)):
                m.d.sync += self.masks[tier].eq(late.data)
            m.d.comb += self.interrupt[tier].eq((self.pending & self.masks[tier]).any())
        for line in range(p.lines):
            group, place = divmod(line, LINES_PER_PRIORITY_CSR)
            with m.If(written(f"mlineprio{group}")):
                m.d.sync += self.priorities[line].eq(
                    late.data.word_select(place, LINE_PRIORITY_BITS)
                )

        m.d.comb += self.tier_pending.eq(self.pending & mask)
        m.d.comb += self.claim.eq(self._claim(m, self.pending & pick(masks, self.d_tier)))
        if p.line_stamps:
            m.d.comb += self.stamp.eq(self._stamps(m))
        return m

    def _claim(self, m: Module, pending: Value) -> Value:
        """Number plus one of the pending line of highest priority, 0 if none is pending.

        Bit by bit from the top of the priority: lines that have the bit beat those that don't.
        Two bits a cycle.
        """
        p = self._params
        candidates = pending
        # The lower bits as they were when the upper ones were looked at.
        lower = Signal(data.ArrayLayout(2, p.lines))
        m.d.sync += [lower[line].eq(self.priorities[line][:2]) for line in range(p.lines)]
        for place in reversed(range(LINE_PRIORITY_BITS)):
            looked_at = lower if place < 2 else self.priorities
            has_bit = Cat(looked_at[line][place] for line in range(p.lines))
            better = Signal(p.lines, name=f"better{place}")
            m.d.comb += better.eq(candidates & has_bit)
            remaining = Signal(p.lines, name=f"remaining{place}")
            m.d.comb += remaining.eq(Mux(better.any(), better, candidates))
            if place % 2:
                candidates = remaining
            else:
                candidates = Signal(p.lines, name=f"candidates{place}")
                m.d.sync += candidates.eq(remaining)
        lowest: Value = Const(0)
        for line in reversed(range(p.lines)):
            lowest = Mux(candidates[line], line + 1, lowest)
        return lowest

    def _stamps(self, m: Module) -> Value:
        """Write one stamp a cycle; the lower bits tell since when it has been due."""
        p = self._params
        depth = 1 << max(1, (p.lines - 1).bit_length())
        # More than the cycles that a stamp can be due, and one.
        low_bits = (p.lines + 1).bit_length()
        stamps = Memory(shape=32, depth=depth, init=[])
        m.submodules.stamps = stamps
        write = stamps.write_port()
        read = stamps.read_port(domain="comb")

        before = Signal(p.lines)
        due = Signal(p.lines)
        rose = Signal(data.ArrayLayout(low_bits, p.lines))
        chosen = Signal(range(depth))
        low = Signal(low_bits)
        high = self.cycle[low_bits:]
        m.d.comb += chosen.eq(highest(due))
        m.d.sync += [
            write.addr.eq(chosen),
            write.en.eq(due.any()),
            low.eq(pick([rose[line] for line in range(p.lines)], chosen)),
        ]
        m.d.comb += [
            write.data.eq(Cat(low, high - (low > self.cycle[:low_bits]))),
            read.addr.eq(self.csr.address),
        ]
        m.d.sync += before.eq(self.pending)
        for line in range(p.lines):
            with m.If(self.pending[line] & ~before[line]):
                m.d.sync += [due[line].eq(1), rose[line].eq(self.cycle)]
            with m.Elif(chosen == line):
                m.d.sync += due[line].eq(0)
        return read.data
