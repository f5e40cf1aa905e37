"""Frames from the MAC into buffers."""

from __future__ import annotations

from liteeth.common import eth_phy_description
from litex.gen import LiteXModule
from litex.soc.interconnect import stream
from migen import FSM, Case, Cat, If, NextState, NextValue, Signal

from .checksum import FrameSum
from .datagram import BYTES_BITS, DatagramCheck
from .descriptor import (
    LENGTH_BITS,
    RECEIVE_CRC_BIT,
    RECEIVE_DATAGRAM_BIT,
    RECEIVE_LENGTH_LSB,
    RECEIVE_LONG_BIT,
    RECEIVE_TRUNCATED_BIT,
)
from .frame_watch import HALF_BITS
from .port import WORD_ADDRESS_BITS, ReadClient, WriteClient
from .ring import RingWalk

_ALL_BYTES = 0b1111


class Receiver(LiteXModule):
    """Writes each frame into the buffer of the next descriptor, and the descriptor behind it.

    It takes a word a cycle. A frame that finds no descriptor is dropped as a whole. What does not
    fit into the buffer is not written. A frame with a wrong check sequence, and one that is too
    long or was truncated, leave the buffer to the next frame unless they are wanted. The sum is
    that of all bytes of the frame from a given one on, stored or not, if they are less than 2 KiB.
    A frame that is nothing but a good datagram of UDP is said to be one.
    """

    def __init__(self, reader: ReadClient, writer: WriteClient) -> None:
        #: From the MAC: words, in the last one the last byte marked; behind it may be marks and
        #: errors of the frame before, as LiteEth's converter from bytes leaves them there.
        self.sink = sink = stream.Endpoint(eth_phy_description(32))
        self.ring = RingWalk(reader)
        self.sum = FrameSum()
        self.datagram = DatagramCheck()
        #: Take frames; without it they are dropped uncounted, and the ring is at its beginning.
        self.enable = Signal()
        #: The ring is in use.
        self.active = Signal()
        #: Frames with a wrong check sequence, and those that don't fit, are wanted nevertheless.
        self.keep_wrong = Signal()
        self.keep_long = Signal()
        #: Bytes of the longest frame that is not too long.
        self.most_bytes = Signal(LENGTH_BITS)
        #: For one cycle each: a frame was given to the processor; was wrong; was too long or
        #: truncated; found no descriptor.
        self.received = Signal()
        self.wrong = Signal()
        self.long = Signal()
        self.missed = Signal()

        #: A word of the stream is taken; the next one begins no frame.
        self._taken = Signal()
        self._within = Signal()
        #: The last byte of the word, if it is the frame's last.
        self._end = Signal(4)
        self.comb += self._end.eq(sink.last_be & ~(sink.last_be - 1))
        self.sync += If(sink.valid & sink.ready, self._within.eq(~sink.last))
        self._begin = Signal()
        self._place = Signal(WORD_ADDRESS_BITS)
        self._stored = Signal(LENGTH_BITS)
        #: The frame's bytes; it stays above any limit for longer frames.
        self._total = Signal(BYTES_BITS)
        self._truncated = Signal()
        self._words = Signal(48)
        self._sels = Signal(6)
        self._carry = Signal(16)
        self._carry_sel = Signal(2)
        self._lay_out()
        self._add_fsm(writer)

    def _lay_out(self) -> None:
        """Where the bytes of the word on the stream go.

        In a buffer that begins in the middle of a word, the frame's words lie across memory's.
        """
        sink, ring, frame_sum = self.sink, self.ring, self.sum
        room = Signal(LENGTH_BITS)
        index = Signal(HALF_BITS - 1)
        in_frame = Signal(4)
        fits = Signal(4)
        stored = Signal(3)
        self.comb += [
            in_frame.eq(_ALL_BYTES),
            If(
                sink.last,
                Case(self._end, {1 << n: in_frame.eq((2 << n) - 1) for n in range(3)}),
            ),
            fits.eq(_ALL_BYTES),
            If(room < 4, Case(room[:2], {n: fits.eq((1 << n) - 1) for n in range(4)})),
            stored.eq(_count(in_frame & fits)),
            If(
                ring.buffer[1],
                self._words.eq(Cat(self._carry, sink.data)),
                self._sels.eq(Cat(self._carry_sel, in_frame & fits)),
            ).Else(
                self._words.eq(sink.data),
                self._sels.eq(in_frame & fits),
            ),
            self.datagram.total.eq(self._total),
        ]
        for part in (frame_sum, self.datagram):
            self.comb += [
                part.clear.eq(self._begin),
                part.valid.eq(self._taken),
                part.word.eq(sink.data),
                part.bytes.eq(in_frame),
                part.index.eq(index),
            ]
        self.sync += [
            If(
                self._taken,
                self._place.eq(self._place + 1),
                room.eq(room - stored),
                self._stored.eq(self._stored + stored),
                If(~self._total[-1], self._total.eq(self._total + _count(in_frame))),
                If((in_frame & ~fits) != 0, self._truncated.eq(1)),
                index.eq(index + 1),
                self._carry.eq(self._words[32:]),
                self._carry_sel.eq(self._sels[4:]),
            ),
            If(
                self._begin,
                self._place.eq(ring.buffer[2:]),
                room.eq(ring.word[:LENGTH_BITS]),
                self._stored.eq(0),
                self._total.eq(0),
                self._truncated.eq(0),
                index.eq(0),
                self._carry_sel.eq(0),
            ),
        ]

    def _add_fsm(self, writer: WriteClient) -> None:
        sink, ring = self.sink, self.ring
        wrong = Signal()
        too_long = Signal()
        self.fsm = fsm = FSM(reset_state="DISABLED")
        self.comb += [
            self.active.eq(~fsm.ongoing("DISABLED")),
            writer.adr.eq(self._place),
            writer.dat.eq(self._words),
            writer.sel.eq(self._sels),
        ]
        fsm.act(
            "DISABLED",
            sink.ready.eq(1),
            ring.rewind.eq(1),
            If(self.enable & ~self._within & ~sink.valid, NextState("FETCH")),
        )
        fsm.act(
            "FETCH",
            ring.fetch.eq(1),
            If(ring.fetched, If(self.enable, NextState("BEGIN")).Else(NextState("DISABLED"))),
            If(
                ring.refused,
                If(~self.enable, NextState("DISABLED")).Elif(
                    sink.valid, self.missed.eq(1), NextState("DROP")
                ),
            ),
        )
        fsm.act("DROP", sink.ready.eq(1), If(sink.valid & sink.last, NextState("FETCH")))
        fsm.act("BEGIN", self._begin.eq(1), NextState("FRAME"))
        fsm.act(
            "FRAME",
            writer.valid.eq(sink.valid & (self._sels[:4] != 0)),
            sink.ready.eq(writer.ready | ~writer.valid),
            self._taken.eq(sink.valid & sink.ready),
            If(
                self._taken & sink.last,
                NextValue(wrong, (sink.error & self._end) != 0),
                NextState("FLUSH"),
            ),
            If(~self.enable & ~self._within & ~sink.valid, NextState("DISABLED")),
        )
        fsm.act(
            "FLUSH",
            writer.valid.eq(self._carry_sel != 0),
            writer.dat.eq(self._carry),
            writer.sel.eq(self._carry_sel),
            NextValue(too_long, self._total > self.most_bytes),
            If(writer.ready | ~writer.valid, NextState("JUDGE")),
        )
        # Meanwhile the sum and what is said of a datagram become ready.
        fsm.act(
            "JUDGE",
            self.wrong.eq(wrong),
            self.long.eq(~wrong & (too_long | self._truncated)),
            NextState("SETTLE"),
            If(
                (self.wrong & ~self.keep_wrong) | (self.long & ~self.keep_long),
                If(self.enable, NextState("BEGIN")).Else(NextState("DISABLED")),
            ),
        )
        fsm.act("SETTLE", NextState("GIVE"))
        status = Signal(32)
        self.comb += [
            status[: len(self.sum.sum)].eq(self.sum.sum),
            status[RECEIVE_LENGTH_LSB : RECEIVE_LENGTH_LSB + LENGTH_BITS].eq(self._stored),
            status[RECEIVE_LONG_BIT].eq(too_long),
            status[RECEIVE_TRUNCATED_BIT].eq(self._truncated),
            status[RECEIVE_CRC_BIT].eq(wrong),
            status[RECEIVE_DATAGRAM_BIT].eq(
                self.datagram.good & ~(wrong | too_long | self._truncated)
            ),
        ]
        fsm.act(
            "GIVE",
            writer.valid.eq(1),
            writer.adr.eq(ring.second_word),
            writer.dat.eq(status),
            writer.sel.eq(_ALL_BYTES),
            If(
                writer.ready,
                ring.advance.eq(1),
                self.received.eq(1),
                NextState("FETCH"),
            ),
        )


def _count(mask):
    """How many bits of four are 1."""
    return mask[0] + mask[1] + mask[2] + mask[3]
