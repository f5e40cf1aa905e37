"""Branch history: whether branches follow the rule "backward taken, forward not taken"."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..layouts import PC_BITS
from ..params import CoreParams


class BranchHistory(wiring.Component):
    """A two-bit counter for each word of a pair, from 0, follows the rule, to 3, breaks it.

    Each tier has its own, so that no tier's speed depends on another's branches. Looked up in P,
    known in F.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                "lookup_tier": In(params.tier_bits),
                "lookup_pc": In(PC_BITS),
                "counters": Out(4),
                #: A branch has retired in M.
                "update": In(1),
                "tier": In(params.tier_bits),
                "pc": In(PC_BITS),
                "taken": In(1),
                "backward": In(1),
                #: The counters as they were looked up.
                "old": In(4),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        if p.branch_history_log2 == 0:
            return m
        # Two branches a row.
        row_bits = p.branch_history_log2 - 1
        history = Memory(shape=4, depth=p.contexts << row_bits, init=[], attrs={"no_rw_check": 1})
        m.submodules.history = history
        read = history.read_port()
        write = history.write_port()
        m.d.comb += [
            read.addr.eq(Cat(self.lookup_pc[1 : 1 + row_bits], self.lookup_tier)),
            self.counters.eq(read.data),
        ]

        broken = self.taken ^ self.backward
        updates = []
        for word in range(2):
            old = self.old.word_select(word, 2)
            new = Signal(2, name=f"new{word}")
            m.d.comb += new.eq(
                Mux(
                    self.pc[0] != word,
                    old,
                    Mux(
                        broken,
                        Mux(old == 3, 3, old + 1),
                        Mux(old == 0, 0, old - 1),
                    ),
                )
            )
            updates.append(new)
        m.d.comb += [
            write.addr.eq(Cat(self.pc[1 : 1 + row_bits], self.tier)),
            write.data.eq(Cat(updates)),
            write.en.eq(self.update),
        ]
        return m
