"""The bus side of a local memory, shared between the bus and a DMA."""

from __future__ import annotations

from functools import reduce
from operator import or_

from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from migen import If, Mux, Record, Signal

#: Bits of a word address.
WORD_ADDRESS_BITS = 30
#: The bus has one of so many cycles, if all want the memory.
_BUS_TURN = 4


class WriteClient(Record):
    """Somebody who writes words; a word is written in a cycle with ``valid`` and ``ready``."""

    def __init__(self) -> None:
        layout = [("valid", 1), ("ready", 1), ("adr", WORD_ADDRESS_BITS), ("dat", 32), ("sel", 4)]
        Record.__init__(self, layout)


class ReadClient(Record):
    """Somebody who reads words.

    ``dat`` is the word in the cycle behind one with ``valid`` and ``ready``.
    """

    def __init__(self) -> None:
        Record.__init__(self, [("valid", 1), ("ready", 1), ("adr", WORD_ADDRESS_BITS), ("dat", 32)])


class SharedPort(LiteXModule):
    """Joins a bus, writers and two readers to the pipelined side of a ``TightlyCoupledMemory``.

    A word moves in each cycle: that of the first writer in the list that has one, since frames
    from the wire don't wait, or else that of a reader, the other one first if both want it. Of
    cycles without a writer the bus gets those that no reader wants, and one in four in any case.
    The memory's own side, the processor's, is not concerned.
    """

    def __init__(self, writers: int) -> None:
        #: Slave of the SoC's bus, B4 classic; word addresses.
        self.bus = bus = _interface()
        #: To the memory, which answers each cycle with the word of the address of the one before.
        self.memory = memory = _interface()
        self.writers = [WriteClient() for _ in range(writers)]
        self.readers = [ReadClient() for _ in range(2)]

        first, second = self.readers
        writes = Signal()
        reads = Signal()
        wanted = Signal()
        bus_has_it = Signal()
        # Words that readers got since the bus had one.
        ahead = Signal(max=_BUS_TURN)
        bus_first = Signal()
        second_first = Signal()
        second_reads = Signal()
        self.comb += [
            writes.eq(reduce(or_, (writer.valid for writer in self.writers))),
            wanted.eq(bus.cyc & bus.stb & ~bus.ack),
            bus_first.eq(wanted & (ahead == _BUS_TURN - 1)),
            reads.eq((first.valid | second.valid) & ~bus_first),
            bus_has_it.eq(wanted & ~writes & ~reads),
            second_reads.eq(second.valid & (second_first | ~first.valid)),
            first.ready.eq(~writes & ~bus_first & ~second_reads),
            second.ready.eq(~writes & ~bus_first & second_reads),
            memory.cyc.eq(memory.stb),
            memory.stb.eq(writes | bus_has_it),
            memory.we.eq(writes | bus.we),
            memory.adr.eq(bus.adr),
            memory.dat_w.eq(bus.dat_w),
            memory.sel.eq(bus.sel),
            If(reads, memory.adr.eq(Mux(second_reads, second.adr, first.adr))),
        ]
        self.comb += [part.eq(memory.dat_r) for part in (bus.dat_r, first.dat, second.dat)]
        self.sync += [
            bus.ack.eq(bus_has_it),
            If(bus_has_it, ahead.eq(0)).Elif(
                ~writes & reads & (ahead != _BUS_TURN - 1), ahead.eq(ahead + 1)
            ),
            If(~writes & reads & first.valid & second.valid, second_first.eq(~second_first)),
        ]
        # The last statement wins: the first writer's.
        for writer in reversed(self.writers):
            self.comb += If(
                writer.valid,
                memory.adr.eq(writer.adr),
                memory.dat_w.eq(writer.dat),
                memory.sel.eq(writer.sel),
            )
        earlier_wants = 0
        for writer in self.writers:
            self.comb += writer.ready.eq(~earlier_wants)
            earlier_wants = earlier_wants | writer.valid


def _interface() -> wishbone.Interface:
    return wishbone.Interface(data_width=32, address_width=32, addressing="word")
