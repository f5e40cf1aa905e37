"""The bus side of a local memory, shared between the bus and a DMA."""

from __future__ import annotations

from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from migen import If, Record, Signal

#: Bits of a word address.
WORD_ADDRESS_BITS = 30


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
    """Joins a bus, writers and two readers to the Wishbone side of a ``TightlyCoupledMemory``.

    Cycles take turns: in one a writer has the memory, the first in the list that wants it, or else
    the bus; in the next one a reader, the other one first if both want it. So writers and readers
    each move a word in two cycles, and an access of the bus takes one or two cycles more than
    alone, or waits while writers have more to do. The memory's own side, the processor's, is not
    concerned. The memory answers every cycle with the word of the address of the cycle before.
    """

    def __init__(self, writers: int) -> None:
        #: Slave of the SoC's bus; word addresses.
        self.bus = bus = _interface()
        #: To the memory.
        self.memory = memory = _interface()
        self.writers = [WriteClient() for _ in range(writers)]
        self.readers = [ReadClient() for _ in range(2)]

        reads = Signal()
        self.sync += reads.eq(~reads)
        writer_has_it = Signal()
        bus_has_it = Signal()
        wanted = Signal()
        self.comb += [
            wanted.eq(bus.cyc & bus.stb & ~bus.ack),
            memory.cyc.eq(memory.stb),
            memory.stb.eq(~reads & (writer_has_it | wanted)),
            memory.we.eq(writer_has_it | bus.we),
            memory.adr.eq(bus.adr),
            memory.dat_w.eq(bus.dat_w),
            memory.sel.eq(bus.sel),
            bus_has_it.eq(memory.stb & ~writer_has_it),
            bus.dat_r.eq(memory.dat_r),
        ]
        self.sync += bus.ack.eq(bus_has_it)
        # The last statement wins: the first writer's.
        for writer in reversed(self.writers):
            self.comb += If(
                writer.valid,
                writer_has_it.eq(1),
                memory.adr.eq(writer.adr),
                memory.dat_w.eq(writer.dat),
                memory.sel.eq(writer.sel),
            )
        earlier_wants = 0
        for writer in self.writers:
            self.comb += writer.ready.eq(~reads & ~earlier_wants)
            earlier_wants = earlier_wants | writer.valid
        self._share_reads(reads)

    def _share_reads(self, reads: Signal) -> None:
        first, second = self.readers
        second_first = Signal()
        second_reads = Signal()
        self.comb += [
            second_reads.eq(second.valid & (second_first | ~first.valid)),
            first.ready.eq(reads & ~second_reads),
            second.ready.eq(reads & second_reads),
            first.dat.eq(self.memory.dat_r),
            second.dat.eq(self.memory.dat_r),
            If(
                reads,
                If(second_reads, self.memory.adr.eq(second.adr)).Else(
                    self.memory.adr.eq(first.adr)
                ),
            ),
        ]
        self.sync += If(
            reads & first.valid & second.valid,
            second_first.eq(~second_first),
        )


def _interface() -> wishbone.Interface:
    return wishbone.Interface(data_width=32, address_width=32, addressing="word")
