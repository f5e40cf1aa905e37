"""Branch history: whether branches follow the rule "backward taken, forward not taken"."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..history_layouts import HISTORY, KEPT_HISTORY, OWN_HISTORY, PAST_BITS, TENDENCY
from ..layouts import PC_BITS
from ..params import CoreParams

#: What followed a past is kept by so many bits of the branch's pair, too, and by its word.
_PLACE_BITS = 2


class BranchHistory(wiring.Component):
    """The past of one branch of each pair of words, and what followed each past.

    What followed a past counts if it did so twice running; else what the branch usually does. That
    is found out when the branch has retired, and kept for the next time, so that it is there with
    the instruction. Of the two branches of a pair, the last to break the rule is remembered.

    Each tier has its own, so that no tier's speed depends on another's branches. Looked up in P,
    known in F.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                "lookup_tier": In(params.tier_bits),
                "lookup_pc": In(PC_BITS),
                "found": Out(KEPT_HISTORY),
                #: A branch has retired in M.
                "update": In(1),
                "tier": In(params.tier_bits),
                "pc": In(PC_BITS),
                "taken": In(1),
                "backward": In(1),
                #: Its history as it was looked up.
                "old": In(OWN_HISTORY),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        if p.branch_history_log2 == 0:
            return m

        def memory(name: str, shape, tier_rows: int):
            """The ports of a memory that each tier has a part of."""
            depth = p.contexts * tier_rows
            m.submodules[name] = memory = Memory(
                shape=shape, depth=depth, init=[], attrs={"no_rw_check": 1}
            )
            return memory.write_port(), memory.read_port()

        row_bits = p.branch_history_log2 - 1
        keep, look_up = memory("branches", KEPT_HISTORY, 1 << row_bits)
        patterns = [
            memory(f"patterns{word}", TENDENCY, 1 << (PAST_BITS + _PLACE_BITS)) for word in range(2)
        ]
        m.d.comb += [
            look_up.addr.eq(Cat(self.lookup_pc[1 : 1 + row_bits], self.lookup_tier)),
            self.found.eq(look_up.data),
        ]

        # M: what has followed is learnt, what comes next is looked up.
        old = self.old.branch
        new = Signal(HISTORY)
        broken = Signal()
        learns = Signal()
        m.d.comb += [
            broken.eq(self.taken ^ self.backward),
            learns.eq(self.update & (self.old.known | broken)),
            new.past.eq(Cat(broken, old.past[:-1])),
        ]
        for tendency, before in ((new.pattern, old.pattern), (new.usual, old.usual)):
            m.d.comb += [
                tendency.breaks.eq(Mux(before.sure, before.breaks, broken)),
                tendency.sure.eq(before.breaks == broken),
            ]
        looked_up = []
        place = Cat(self.pc[1 : 1 + _PLACE_BITS], self.tier)
        for number, (learn, find) in enumerate(patterns):
            m.d.comb += [
                learn.addr.eq(Cat(old.past, place)),
                learn.data.eq(new.pattern),
                learn.en.eq(learns & (self.pc[0] == number)),
                find.addr.eq(Cat(new.past, place)),
            ]
            looked_up.append(find.data)

        # A cycle later: the pattern that has been learnt may be the one that comes next.
        learnt = Signal(HISTORY)
        same_past = Signal()
        row = Signal(len(keep.addr))
        word = Signal()
        kept = keep.data.pair
        now = Signal(HISTORY)
        breaks = Signal()
        m.d.sync += [
            keep.en.eq(learns),
            learnt.eq(new),
            same_past.eq(new.past == old.past),
            row.eq(Cat(self.pc[1 : 1 + row_bits], self.tier)),
            word.eq(self.pc[0]),
        ]
        m.d.comb += [
            keep.addr.eq(row),
            kept.word.eq(word),
            now.eq(learnt),
            now.pattern.eq(Mux(same_past, learnt.pattern, Mux(word, looked_up[1], looked_up[0]))),
            breaks.eq(Mux(now.pattern.sure, now.pattern.breaks, now.usual.breaks)),
            kept.branch.eq(now),
            keep.data.breaks.eq(Cat(breaks & ~word, breaks & word)),
        ]
        return m
