"""The memory port: one Wishbone master for the caches, apart from the tiers' own."""

from __future__ import annotations

import enum

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..layouts import PC_BITS
from ..params import CoreParams
from ..wishbone import master_ports

#: A line that is to be read: asked for until its last word has come.
LINE_REQUEST = data.StructLayout({"valid": 1, "word": PC_BITS, "last": 1})
#: A word of it, in answer.
LINE_ANSWER = data.StructLayout({"valid": 1, "error": 1, "data": 32})
#: A store on its way.
STORE = data.StructLayout({"word": PC_BITS, "data": 32, "mask": 4})


def memory_port_members() -> dict[str, wiring.Member]:
    """Ports of the core for its memory port. A line is read in a burst (`Cycle`)."""
    return master_ports("mem_", bursts=True)


class Cycle(enum.IntEnum):
    """Wishbone B4's cycle types (CTI, section 4.3)."""

    CLASSIC = 0b000
    INCREMENTING = 0b010
    END = 0b111


class MemoryPort(wiring.Component):
    """Stores and lines of the caches on one Wishbone port: stores first, then data.

    A line of instructions does not wait for more than one store, unless a load does for all.
    A line is read in a burst of words; whoever answers may ignore `cti`, for each word is a
    transaction that a classic slave understands.
    """

    class Owner(enum.Enum):
        NOBODY = 0
        STORE = 1
        DATA = 2
        INSTRUCTION = 3

    def __init__(self, params: CoreParams) -> None:
        super().__init__(
            {
                "store_valid": In(1),
                "store": In(STORE),
                #: The store has ended, perhaps in an error.
                "store_done": Out(1),
                "store_error": Out(1),
                #: A load waits for the stores before it.
                "load_waits": In(1),
                "data": In(LINE_REQUEST),
                "data_answer": Out(LINE_ANSWER),
                "instruction": In(LINE_REQUEST),
                "instruction_answer": Out(LINE_ANSWER),
                **master_ports(bursts=True),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        owner = Signal(self.Owner)
        stores = owner == self.Owner.STORE
        line = Signal(LINE_REQUEST)
        m.d.comb += [
            line.eq(Mux(owner == self.Owner.DATA, self.data, self.instruction)),
            self.cyc.eq(owner != self.Owner.NOBODY),
            self.stb.eq(self.cyc),
            self.we.eq(stores),
            self.adr.eq(Mux(stores, self.store.word, line.word)),
            self.sel.eq(Mux(stores, self.store.mask, 0b1111)),
            self.dat_w.eq(self.store.data),
            self.cti.eq(Mux(stores, Cycle.CLASSIC, Mux(line.last, Cycle.END, Cycle.INCREMENTING))),
        ]
        ends = Signal()
        m.d.comb += ends.eq(self.ack | self.err)
        # A store went before the line of instructions that waits.
        passed = Signal()
        with m.If(owner == self.Owner.NOBODY):
            with m.If(self.store_valid & ~(self.instruction.valid & passed & ~self.load_waits)):
                m.d.sync += [owner.eq(self.Owner.STORE), passed.eq(self.instruction.valid)]
            with m.Elif(self.data.valid):
                m.d.sync += owner.eq(self.Owner.DATA)
            with m.Elif(self.instruction.valid):
                m.d.sync += [owner.eq(self.Owner.INSTRUCTION), passed.eq(0)]
        with m.Elif(ends & (stores | line.last)):
            m.d.sync += owner.eq(self.Owner.NOBODY)

        m.d.comb += [
            self.store_done.eq(stores & ends),
            self.store_error.eq(self.err),
        ]
        for name, mine in (("data", self.Owner.DATA), ("instruction", self.Owner.INSTRUCTION)):
            answer = getattr(self, f"{name}_answer")
            m.d.comb += [
                answer.valid.eq((owner == mine) & ends),
                answer.error.eq(self.err),
                answer.data.eq(self.dat_r),
            ]
        return m
