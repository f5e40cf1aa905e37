"""The two FIFOs of a serial port."""

from __future__ import annotations

from litex.gen import LiteXModule
from migen import READ_FIRST, Array, Case, If, Memory, Mux, Signal
from migen.genlib.fifo import SyncFIFO

#: Characters that one access can read or write.
BURST = 3
#: Bits of a received character with its flags.
_FLAGS = slice(8, 12)


class ReceiveFifo(LiteXModule):
    """Characters of 12 bits, four of them flags, of which up to three can be taken at once.

    A character can be taken two cycles after it was put in, at the latest, and three of them three
    cycles after others were taken.
    """

    def __init__(self, depth: int, *, stamps: bool) -> None:
        #: Puts a character in, unless ``full``.
        self.put = put = Signal()
        self.entry = Signal(12)
        self.stamp = Signal(32)
        self.full = full = Signal()
        #: Characters in it.
        self.level = level = Signal(max=depth + 1)

        #: The oldest characters.
        self.window = window = [Signal(12) for _ in range(BURST)]
        #: How many of them can be taken at once: up to three without flags, or one.
        self.burst = burst = Signal(max=BURST + 1)
        #: Takes so many.
        self.take = take = Signal(max=BURST + 1)
        #: The stamp of the last one taken, two cycles afterwards.
        self.taken_stamp = Signal(32)

        store = put & ~full
        self.comb += full.eq(level == depth)
        self.sync += If(store | (take != 0), level.eq(level + store - take))
        held = Signal(max=BURST + 1)
        self._add_window(held, store, depth)
        flagged = [each[_FLAGS] != 0 for each in window]
        self.comb += (
            If((held == 0) | (held == 1) | flagged[0] | flagged[1], burst.eq(held != 0))
            .Elif((held == 2) | flagged[2], burst.eq(2))
            .Else(burst.eq(3))
        )
        if stamps:
            self._add_stamps(depth, store)

    def _add_window(self, held: Signal, store, depth: int) -> None:
        window, take = self.window, self.take
        self.memory = memory = SyncFIFO(12, depth)
        arrives = Signal()
        moves = Signal()
        self.comb += [
            moves.eq((take == 0) & (held != BURST)),
            arrives.eq(memory.readable | store),
            memory.re.eq(moves),
            memory.we.eq(store & (~moves | memory.readable)),
            memory.din.eq(self.entry),
        ]
        shifts = {
            count: [window[index].eq(window[index + count]) for index in range(BURST - count)]
            for count in range(1, BURST)
        }
        oldest = Mux(memory.readable, memory.dout, self.entry)
        self.sync += [
            If(moves & arrives, Array(window)[held].eq(oldest), held.eq(held + 1)),
            If(take != 0, Case(take, shifts), held.eq(held - take)),
        ]

    def _add_stamps(self, depth: int, store) -> None:
        memory = Memory(32, depth)
        write = memory.get_port(write_capable=True, mode=READ_FIRST)
        read = memory.get_port(async_read=True, mode=READ_FIRST)
        self.specials += memory, write, read
        last = Signal(max=max(depth, 2), reset=depth - 1)
        following = Signal(max=depth + BURST)
        taken = Signal()
        self.comb += [
            write.we.eq(store),
            write.dat_w.eq(self.stamp),
            read.adr.eq(last),
            following.eq(last + self.take),
        ]
        self.sync += [
            If(store, write.adr.eq(Mux(write.adr == depth - 1, 0, write.adr + 1))),
            If(
                self.take != 0,
                last.eq(Mux(following >= depth, following - depth, following)),
            ),
            taken.eq(self.take != 0),
            If(taken, self.taken_stamp.eq(read.dat_r)),
        ]


class TransmitFifo(LiteXModule):
    """Characters of 9 bits, one of them for breaks, of which up to three are put in at once.

    They must stay there, and no others come, for as many cycles as they are. What it has no
    space for is lost.
    """

    def __init__(self, depth: int) -> None:
        #: Puts in so many.
        self.put = put = Signal(max=BURST + 1)
        self.entries = entries = [Signal(9) for _ in range(BURST)]
        #: A character has been lost.
        self.lost = Signal()
        #: Characters in it.
        self.level = Signal(max=depth + 1)

        self.readable = Signal()
        self.take = Signal()
        self.entry = Signal(9)

        self.memory = memory = SyncFIFO(9, depth)
        rest = Signal(max=BURST)
        position = Signal(max=BURST)
        self.comb += [
            memory.we.eq((put != 0) | (rest != 0)),
            memory.din.eq(Array(entries)[position]),
            memory.re.eq(self.take),
            self.readable.eq(memory.readable),
            self.entry.eq(memory.dout),
            self.lost.eq(memory.we & ~memory.writable),
            self.level.eq(memory.level),
        ]
        self.sync += If(put != 0, rest.eq(put - 1), position.eq(put != 1)).Elif(
            rest != 0, rest.eq(rest - 1), position.eq(Mux(rest == 1, 0, position + 1))
        )
