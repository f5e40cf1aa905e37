"""Choose what to fetch next: stages P and F."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..history_layouts import KEPT_HISTORY
from ..layouts import (
    LOOP_BITS,
    PC_BITS,
    arrival_layout,
    redirect_layout,
    target_bits,
    tier_event_layout,
)
from ..params import CoreParams
from ..util import bit, highest, in_region, one_hot, pick, redirects

#: Pairs of words that a tier's buffer holds.
BUFFER_PAIRS = 4


class Fetcher(wiring.Component):
    """Fetch an aligned pair of words a cycle for the most urgent tier with room for it.

    A pair is asked for in P and arrives at the end of F. The next address of a tier comes, first
    that applies, from a redirect (stage M), the target of a jump found in its newest pair
    (predecode), the pair behind the one in F, or what was left of these from an earlier cycle.
    Each of the three has a memory of its own, so that no tier ever waits for a less urgent one to
    write; `latest` says which one counts.

    What is asked for behind a jump before predecode finds that is lost. In a short loop that would
    be most look-ups, and less urgent tiers would get none. So its pairs are counted down, and none
    is guessed behind the last, whose jump led to the first (in tier 0 it is: nobody is below).
    """

    class Source:
        """Values of `latest`."""

        SEQUENTIAL = 0
        TARGET = 1
        REDIRECT = 2

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                "redirect": In(redirect_layout(params)),
                #: The pair that is being predecoded is the last one of its stream.
                "ended": In(tier_event_layout(params)),
                #: The stream goes on at `target` (``layouts.target_bits``).
                "has_target": In(1),
                "target": In(target_bits(params)),
                "loop_pairs": In(LOOP_BITS),
                #: Tiers that ask for nothing, and let another's pair from elsewhere go first.
                "outranked": In(params.tiers),
                #: Of each tier's buffer, bit n: it holds more than n pairs.
                "pairs": In(data.ArrayLayout(BUFFER_PAIRS, params.tiers)),
                #: Stage P: the pair asked for, and for whom.
                "lookup_tier": Out(params.tier_bits),
                "lookup_pc": Out(PC_BITS),
                #: Stage F: the words asked for a cycle ago.
                "local_words": In(data.ArrayLayout(32, 2)),
                "history": In(KEPT_HISTORY),
                "arrival": Out(arrival_layout(params)),
                #: Tiers whose pair arrives, unless a redirect that is known late drops it.
                "arriving": Out(params.tiers),
                "bus_start": Out(1),
                #: Stage F: the pair comes from the bus and is not there yet; of `arrival.tier`.
                "bus_asks": Out(1),
                "bus_cancel": Out(1),
                "bus_taken": Out(1),
                "bus_busy": In(1),
                "bus_done": In(1),
                "bus_tier": In(params.tier_bits),
                "bus_words": In(data.ArrayLayout(32, 2)),
                "bus_faults": In(2),
            }
            | (
                {
                    # The instruction cache: stage F, and a miss.
                    "cache_hit": In(1),
                    "cache_words": In(data.ArrayLayout(32, 2)),
                    "line_start": Out(1),
                    "line_asks": Out(1),
                    "line_cancel": Out(1),
                    "line_taken": Out(1),
                    "line_busy": In(1),
                    "line_done": In(1),
                    "line_tier": In(params.tier_bits),
                    "line_words": In(data.ArrayLayout(32, 2)),
                    "line_faults": In(2),
                }
                if params.icache_bytes
                else {}
            )
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        tiers = p.tiers
        caches = bool(p.icache_bytes)

        # F: the pair on its way; it is kept if nothing dropped it as it was asked for.
        f_valid = Signal()
        f_kept = Signal()
        f_tier = Signal(p.tier_bits)
        f_pc = Signal(PC_BITS)
        ended = Signal(tier_event_layout(p))
        ended_has_target = Signal()
        # There cannot be less room a cycle later, for the tier's next pair has been dropped.
        ended_with_room = Signal()
        room_for_target = Cat(~self.pairs[tier][BUFFER_PAIRS - 1] for tier in range(tiers))
        index_bits = p.imem.size_log2 - 2
        target = Signal(target_bits(p))
        # Pairs to the end of the loop, with this one; 0 if that is not known.
        target_left = Signal(LOOP_BITS)
        f_left = Signal(LOOP_BITS)
        f_next_left = (f_left - f_left.any())[:LOOP_BITS]
        ends = self.ended.valid & ~redirects(self.redirect, self.ended.tier)

        def leaves(tier: Value) -> Value:
            """1 if the tier goes on elsewhere: what it has asked for so far is dropped."""
            return redirects(self.redirect, tier) | (self.ended.valid & (self.ended.tier == tier))

        m.d.sync += [
            ended.valid.eq(ends),
            ended.tier.eq(self.ended.tier),
            ended_has_target.eq(self.has_target),
            ended_with_room.eq(ends & bit(room_for_target, self.ended.tier)),
            target.eq(self.target),
            target_left.eq(self.loop_pairs),
        ]

        f_live = f_kept
        # The pair behind one that missed is asked for before that is known.
        missed = Signal(tier_event_layout(p))
        if caches:
            f_live = f_kept & ~(missed.valid & (missed.tier == f_tier))
        f_stopped = leaves(f_tier)
        f_local = Signal()

        def is_local(pc: Value) -> Value:
            return in_region(pc, p.imem)

        def is_cached(pc: Value) -> Value:
            return in_region(pc, p.cached)

        def whole(target: Value) -> Value:
            above = PC_BITS - len(target)
            return Cat(target, Const(p.imem.base >> p.imem.size_log2, above)) if above else target

        f_next_local = f_local & ~f_pc[1:index_bits].all()
        f_from_bus = self.bus_done & (self.bus_tier == f_tier)
        f_cached = Signal()
        f_from_line = Signal()
        f_fast = f_local
        f_ready = f_local | f_from_bus
        if caches:
            m.d.comb += f_from_line.eq(self.line_done & (self.line_tier == f_tier))
            f_fast = f_local | f_cached
            f_ready = f_local | f_from_bus | f_from_line | (f_cached & self.cache_hit)
        f_next = Signal(PC_BITS)
        m.d.comb += f_next.eq(Cat(0, f_pc[1:] + 1))

        arrival = self.arrival
        f_early_stopped = (self.redirect.early & (self.redirect.early_tier == f_tier)) | (
            self.ended.valid & (self.ended.tier == f_tier)
        )
        m.d.comb += self.arriving.eq(
            Mux(
                f_live & ~f_early_stopped & f_ready,
                one_hot(f_tier, tiers),
                0,
            )
        )
        m.d.comb += [
            arrival.valid.eq(f_live & ~f_stopped & f_ready),
            arrival.tier.eq(f_tier),
            arrival.pc.eq(f_pc),
            arrival.history.eq(self.history),
        ]
        slow_faults = self.bus_faults
        slow_words = [self.bus_words[word] for word in range(2)]
        if caches:
            slow_faults = Mux(f_cached, Mux(f_from_line, self.line_faults, 0), self.bus_faults)
            slow_words = [
                Mux(
                    f_cached,
                    Mux(f_from_line, self.line_words[word], self.cache_words[word]),
                    self.bus_words[word],
                )
                for word in range(2)
            ]
        m.d.comb += arrival.faults.eq(Mux(f_local, 0, slow_faults))
        for word in range(2):
            m.d.comb += arrival.words[word].eq(
                Mux(f_local, self.local_words[word], slow_words[word])
            )
        m.d.comb += [
            self.bus_asks.eq(f_live & ~f_ready & ~f_fast),
            self.bus_start.eq(f_live & ~f_stopped & ~f_fast & ~self.bus_busy),
            self.bus_taken.eq(f_live & ~f_local & f_from_bus),
            self.bus_cancel.eq(
                redirects(self.redirect, self.bus_tier)
                | (self.ended.valid & (self.ended.tier == self.bus_tier))
            ),
        ]

        if caches:
            m.d.comb += [
                self.line_asks.eq(f_live & f_cached & ~f_ready),
                self.line_start.eq(self.line_asks & ~f_stopped & ~self.line_busy),
                self.line_taken.eq(f_live & f_from_line),
                self.line_cancel.eq(
                    redirects(self.redirect, self.line_tier)
                    | (self.ended.valid & (self.ended.tier == self.line_tier))
                ),
            ]
            m.d.sync += [
                missed.valid.eq(self.line_asks & ~f_stopped),
                missed.tier.eq(f_tier),
            ]

        # The address at which each tier goes on.
        def pc_memory(name: str, width: int = PC_BITS):
            memory = Memory(shape=width, depth=p.contexts, init=[])
            m.submodules[name] = memory
            return memory.write_port(), memory.read_port(domain="comb")

        sequential_write, sequential_read = pc_memory("sequential_pcs")
        target_write, target_read = pc_memory("target_pcs", target_bits(p))
        redirect_write, redirect_read = pc_memory("redirect_pcs")
        latest = Signal(data.ArrayLayout(2, tiers))
        enabled = Signal(tiers)
        remote = Signal(tiers)
        # Which of the two a tier waits for that is `remote`.
        awaits_line = Signal(tiers)
        m.d.comb += [
            sequential_write.addr.eq(f_tier),
            sequential_write.data.eq(f_next),
            sequential_write.en.eq(f_live & f_ready),
            target_write.addr.eq(ended.tier),
            target_write.data.eq(target),
            target_write.en.eq(ended.valid),
            redirect_write.addr.eq(self.redirect.tier),
            redirect_write.data.eq(self.redirect.pc),
            redirect_write.en.eq(self.redirect.valid),
        ]
        f_here = Signal(tiers)
        ended_here = Signal(tiers)
        redirect_here = Signal(tiers)
        m.d.comb += [
            f_here.eq(Mux(f_valid, one_hot(f_tier, tiers), 0)),
            ended_here.eq(Mux(ended.valid, one_hot(ended.tier, tiers), 0)),
            redirect_here.eq(Cat(redirects(self.redirect, tier) for tier in range(tiers))),
        ]
        for tier in range(tiers):
            with m.If(redirect_here[tier]):
                m.d.sync += [
                    latest[tier].eq(self.Source.REDIRECT),
                    enabled[tier].eq(1),
                    remote[tier].eq(0),
                ]
            with m.Elif(ended_here[tier]):
                m.d.sync += [
                    latest[tier].eq(self.Source.TARGET),
                    enabled[tier].eq(ended_has_target),
                    remote[tier].eq(0),
                ]
            with m.Elif(f_live & f_here[tier]):
                m.d.sync += remote[tier].eq(~f_ready)
                # A pair that is not there yet is asked for again from where its address came.
                with m.If(f_ready):
                    m.d.sync += latest[tier].eq(self.Source.SEQUENTIAL)
                if caches:
                    m.d.sync += awaits_line[tier].eq(f_cached)

        # P, one cycle ahead: the tier that goes on from memory. A tier whose address changes in
        # this cycle waits for the next one.
        wants = Signal(tiers)
        for tier in range(tiers):
            bus_ready = ~self.bus_busy | (self.bus_done & (self.bus_tier == tier))
            if caches:
                line_ready = ~self.line_busy | (self.line_done & (self.line_tier == tier))
                bus_ready = Mux(awaits_line[tier], line_ready, bus_ready)
            m.d.comb += wants[tier].eq(
                enabled[tier]
                & room_for_target[tier]
                & ~f_here[tier]
                & ~ended_here[tier]
                & ~self.outranked[tier]
                & (~remote[tier] | bus_ready)
            )
        next_tier = Signal(p.tier_bits)
        m.d.comb += [
            next_tier.eq(highest(wants)),
            sequential_read.addr.eq(next_tier),
            target_read.addr.eq(next_tier),
            redirect_read.addr.eq(next_tier),
        ]
        p_valid = Signal()
        p_tier = Signal(p.tier_bits)
        p_pc = Signal(PC_BITS)
        p_local = Signal()
        saved_pc = Signal(PC_BITS)
        with m.Switch(pick([latest[tier] for tier in range(tiers)], next_tier)):
            with m.Case(self.Source.REDIRECT):
                m.d.comb += saved_pc.eq(redirect_read.data)
            with m.Case(self.Source.TARGET):
                m.d.comb += saved_pc.eq(whole(target_read.data))
            with m.Default():
                m.d.comb += saved_pc.eq(sequential_read.data)
        m.d.sync += [
            p_tier.eq(next_tier),
            p_pc.eq(saved_pc),
        ]
        # Here rather than ahead of the register, which the memories' addresses come late to.
        m.d.comb += p_local.eq(is_local(p_pc))
        p_cached = Signal()
        f_next_cached = Signal()
        if caches:
            cached_bits = p.cached.size_log2 - 2
            m.d.comb += p_cached.eq(is_cached(p_pc))
            m.d.comb += f_next_cached.eq(f_cached & ~f_pc[1:cached_bits].all())

        # P: the most urgent of the four; of the same tier, the first of them.
        f_ends_loop = (f_left == 1) & (f_tier != 0)
        room_for_next = ~Cat(self.pairs[tier][BUFFER_PAIRS - 2] for tier in range(tiers))
        may_go_on = bit(room_for_next & ~self.outranked, f_tier) & ~f_ends_loop
        sources = (
            (
                self.redirect.early,
                self.redirect.early_tier,
                self.redirect.early_pc,
                is_local(self.redirect.early_pc),
                is_cached(self.redirect.early_pc),
                Const(0),
            ),
            (
                ended_with_room & ended_has_target,
                ended.tier,
                whole(target),
                is_local(target) if caches else 1,
                is_cached(target) if caches else 0,
                target_left,
            ),
            (
                f_live & f_fast & may_go_on,
                f_tier,
                f_next,
                f_next_local,
                f_next_cached,
                f_next_left,
            ),
            (p_valid, p_tier, p_pc, p_local, p_cached, Const(0)),
        )
        selects = Signal(len(sources))
        kept: Value = Const(0)
        # What is saved for `next_tier` is no longer where it goes on.
        overtaken = leaves(next_tier)
        lookup_tier: Value = Const(0, p.tier_bits)
        lookup_pc: Value = Const(0, PC_BITS)
        lookup_local: Value = Const(0)
        lookup_cached: Value = Const(0)
        lookup_left: Value = Const(0, LOOP_BITS)
        for own, (valid, tier, pc, local, cached, left) in enumerate(sources):
            beaten: Value = Const(0)
            for other, (other_valid, other_tier, *_) in enumerate(sources):
                if other != own:
                    more_urgent = other_tier >= tier if other < own else other_tier > tier
                    beaten = beaten | (other_valid & more_urgent)
            m.d.comb += selects[own].eq(valid & ~beaten)
            stays = ~leaves(tier)
            if own == 0:
                stays = stays | self.redirect.confirmed
            kept = kept | (selects[own] & stays)
            overtaken = overtaken | (selects[own] & (tier == next_tier))
            lookup_tier = lookup_tier | Mux(selects[own], tier, 0)
            lookup_pc = lookup_pc | Mux(selects[own], pc, 0)
            lookup_local = lookup_local | (selects[own] & local)
            lookup_cached = lookup_cached | (selects[own] & cached)
            lookup_left = lookup_left | Mux(selects[own], left, 0)
        m.d.comb += [self.lookup_tier.eq(lookup_tier), self.lookup_pc.eq(lookup_pc)]
        m.d.sync += [
            f_valid.eq(Cat(valid for valid, *_ in sources).any()),
            f_local.eq(lookup_local),
            f_tier.eq(self.lookup_tier),
            f_pc.eq(self.lookup_pc),
            f_left.eq(lookup_left),
            f_kept.eq(kept),
            p_valid.eq(wants.any() & ~overtaken),
        ]
        if caches:
            m.d.sync += f_cached.eq(lookup_cached)
        return m
