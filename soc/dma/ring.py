"""The walk through a ring of descriptors: fetching the next one, and giving it back."""

from __future__ import annotations

from litex.gen import LiteXModule
from litex.gen.genlib.misc import WaitTimer
from migen import If, Signal

from .descriptor import OWNED_BIT, WORDS
from .port import WORD_ADDRESS_BITS, ReadClient

#: Bits of the number of a descriptor.
INDEX_BITS = 8
#: Cycles between looks at a descriptor that is the processor's: the other ring needs the memory
#: meanwhile.
REST_CYCLES = 8


class RingWalk(LiteXModule):
    """Where in its ring a DMA is, and the descriptor there.

    While ``fetch`` is 1 the second word of the descriptor is read again and again, with
    ``REST_CYCLES`` in between, until it is the DMA's, then both words. The second one so is what
    stands there at rest: a read in the cycle in which the processor writes need not be that word's
    old or new value in every FPGA.
    """

    def __init__(self, reader: ReadClient) -> None:
        #: Word address of the ring, and the number of its last descriptor, of ``rewind``'s cycle.
        self.base = Signal(WORD_ADDRESS_BITS)
        self.last = Signal(INDEX_BITS)
        #: Go to the first descriptor, or to the next.
        self.rewind = Signal()
        self.advance = Signal()
        #: Fetch the descriptor; held until ``fetched`` or ``refused``.
        self.fetch = Signal()
        #: The descriptor is the DMA's and its words are here, from the next cycle on; or it is the
        #: processor's.
        self.fetched = Signal()
        self.refused = Signal()
        self.buffer = Signal(32)
        self.word = Signal(32)
        #: Word address of the second word.
        self.second_word = Signal(WORD_ADDRESS_BITS)

        begin, place = Signal(WORD_ADDRESS_BITS), Signal(WORD_ADDRESS_BITS)
        end, index = Signal(INDEX_BITS), Signal(INDEX_BITS)
        self.index = index
        self.sync += [
            If(self.advance, index.eq(index + 1), place.eq(place + WORDS)),
            If(self.advance & (index == end), index.eq(0), place.eq(begin)),
            If(
                self.rewind,
                index.eq(0),
                end.eq(self.last),
                place.eq(self.base),
                begin.eq(self.base),
            ),
        ]

        # Which word is being read: the second, the first, the second.
        step = Signal(2)
        answered = Signal()
        owned = Signal()
        self.rest = rest = WaitTimer(REST_CYCLES)
        self.comb += [
            self.second_word.eq(place + 1),
            owned.eq(reader.dat[OWNED_BIT]),
            rest.wait.eq(~self.refused),
            reader.valid.eq(self.fetch & ~answered & rest.done),
            reader.adr.eq(place),
            If(step != 1, reader.adr.eq(self.second_word)),
            self.refused.eq(answered & (step == 0) & ~owned),
            self.fetched.eq(answered & (step == 2)),
        ]
        self.sync += [
            answered.eq(reader.valid & reader.ready),
            If(
                answered,
                step.eq(step + 1),
                If(step == 1, self.buffer.eq(reader.dat)).Else(self.word.eq(reader.dat)),
            ),
            If(~self.fetch | self.refused | self.fetched, step.eq(0)),
        ]
