"""Frames from buffers to the MAC."""

from __future__ import annotations

from litex.gen import LiteXModule
from litex.gen.genlib.misc import WaitTimer
from migen import FSM, Case, Cat, If, NextState, Signal

from .checksum import SUM_CYCLES, FrameSum
from .descriptor import (
    LENGTH_BITS,
    TRANSMIT_EVENT_BIT,
    TRANSMIT_HALF_BITS,
    TRANSMIT_PLACE_LSB,
    TRANSMIT_START_LSB,
    TRANSMIT_SUM_BIT,
)
from .frame_buffer import FrameBuffer
from .frame_watch import HALF_BITS
from .port import WORD_ADDRESS_BITS, ReadClient, WriteClient
from .ring import RingWalk

_ALL_BYTES = 0b1111
_ALL_ONES = 0xFFFF


class Transmitter(LiteXModule):
    """Reads the frame of each descriptor in turn and gives the descriptor back.

    It reads a word a cycle, ahead of the MAC. A frame with a checksum is summed as it is read, from
    the given half to its end, and goes to the MAC behind that; the complement of the sum, or all
    ones for 0 (RFC 768), takes the place of a half of the frame, and memory stays as it is. What
    the half held before is part of the sum: a pseudo-header's, or 0. A frame without goes as it is
    read, or behind that too if the wire might be faster: ``whole_frames``. A frame of 0 bytes is
    not sent.
    """

    def __init__(
        self, reader: ReadClient, writer: WriteClient, *, whole_frames: bool = False
    ) -> None:
        walk = ReadClient()
        self.ring = RingWalk(walk)
        self.sum = FrameSum()
        self.buffer = FrameBuffer()
        #: To the MAC.
        self.source = self.buffer.source
        #: Send frames; without it the ring is at its beginning.
        self.enable = Signal()
        #: The ring is in use.
        self.active = Signal()
        #: For one cycle: a frame was fetched whose descriptor wants an event.
        self.sent = Signal()

        #: Begin to read the frame; read on.
        self._begin = Signal()
        self._read = Signal()
        #: A word of the frame is here, the last one.
        self._valid = Signal()
        self._last = Signal()
        self._word = Signal(32)
        self._bytes = Signal(4)
        #: Words of the frame that have come; their numbers are a bit narrower.
        self._index = Signal(HALF_BITS)
        self.comb += [
            walk.ready.eq(reader.ready),
            walk.dat.eq(reader.dat),
        ]
        self._read_frame(reader, walk)
        self._sum_frame()
        self._keep_words()
        self._add_fsm(writer, whole_frames)

    def _descriptor(self, lsb: int, bits: int):
        return self.ring.word[lsb : lsb + bits]

    def _read_frame(self, reader: ReadClient, walk: ReadClient) -> None:
        """The frame's words from memory's.

        In a buffer that begins in the middle of a word, they lie across: one more is read.
        """
        odd = self.ring.buffer[1]
        length = self._descriptor(0, LENGTH_BITS)
        place = Signal(WORD_ADDRESS_BITS)
        arrived = Signal()
        is_first = Signal()
        carry = Signal(16)
        words = Signal(HALF_BITS)
        self.comb += [
            words.eq((length + 3)[2:]),
            reader.valid.eq(walk.valid | self._read),
            reader.adr.eq(place),
            If(walk.valid, reader.adr.eq(walk.adr)),
            self._valid.eq(arrived & ~(odd & is_first)),
            self._word.eq(reader.dat),
            If(odd, self._word.eq(Cat(carry, reader.dat[:16]))),
            self._last.eq(self._index + 1 == words),
            self._bytes.eq(_ALL_BYTES),
            If(
                self._last,
                Case(length[:2], {n: self._bytes.eq((1 << n) - 1) for n in range(1, 4)}),
            ),
        ]
        self.sync += [
            # A word behind the last one may be on its way when that one comes.
            arrived.eq(self._read & reader.ready & ~(self._valid & self._last)),
            If(self._read & reader.ready, place.eq(place + 1)),
            If(arrived, carry.eq(reader.dat[16:]), is_first.eq(0)),
            If(self._valid, self._index.eq(self._index + 1)),
            If(
                self._begin,
                place.eq(self.ring.buffer[2:]),
                is_first.eq(1),
                self._index.eq(0),
            ),
        ]

    def _sum_frame(self) -> None:
        self.comb += [
            self.sum.clear.eq(self._begin),
            self.sum.valid.eq(self._valid),
            self.sum.word.eq(self._word),
            self.sum.bytes.eq(self._bytes),
            self.sum.index.eq(self._index),
            self.sum.start.eq(self._descriptor(TRANSMIT_START_LSB, TRANSMIT_HALF_BITS)),
        ]

    def _keep_words(self) -> None:
        buffer = self.buffer
        self.comb += [
            buffer.begin.eq(self._begin),
            buffer.valid.eq(self._valid),
            buffer.word.eq(self._word),
            buffer.half.eq(self._descriptor(TRANSMIT_PLACE_LSB, TRANSMIT_HALF_BITS)),
            buffer.content.eq(~self.sum.sum),
            If(self.sum.sum == _ALL_ONES, buffer.content.eq(_ALL_ONES)),
            buffer.bytes.eq(self._descriptor(0, LENGTH_BITS)),
        ]

    def _add_fsm(self, writer: WriteClient, whole_frames: bool) -> None:
        ring, buffer = self.ring, self.buffer
        with_sum = ring.word[TRANSMIT_SUM_BIT]
        waits = Signal()
        self.summed = summed = WaitTimer(SUM_CYCLES - 1)
        self.fsm = fsm = FSM(reset_state="DISABLED")
        self.comb += [
            self.active.eq(~fsm.ongoing("DISABLED")),
            waits.eq(1 if whole_frames else with_sum),
            writer.adr.eq(ring.second_word),
            writer.dat.eq(0),
            writer.sel.eq(_ALL_BYTES),
        ]
        fsm.act("DISABLED", ring.rewind.eq(1), If(self.enable, NextState("FETCH")))
        fsm.act(
            "FETCH",
            ring.fetch.eq(1),
            If(ring.fetched, NextState("BEGIN")),
            If((ring.fetched | ring.refused) & ~self.enable, NextState("DISABLED")),
        )
        fsm.act(
            "BEGIN",
            self._begin.eq(1),
            buffer.announce.eq((buffer.bytes != 0) & ~waits),
            If(buffer.bytes == 0, NextState("GIVE")).Elif(waits | buffer.ready, NextState("READ")),
        )
        fsm.act(
            "READ",
            self._read.eq(buffer.room),
            If(
                self._valid & self._last,
                NextState("GIVE"),
                If(waits, NextState("ANNOUNCE")),
                If(with_sum, NextState("SUM")),
            ),
        )
        fsm.act(
            "SUM",
            summed.wait.eq(1),
            # Nothing behind the frame's end.
            buffer.replace.eq(self._index > buffer.half[1:]),
            If(summed.done, NextState("ANNOUNCE")),
        )
        fsm.act("ANNOUNCE", buffer.announce.eq(1), If(buffer.ready, NextState("GIVE")))
        fsm.act(
            "GIVE",
            writer.valid.eq(1),
            If(
                writer.ready,
                ring.advance.eq(1),
                self.sent.eq(ring.word[TRANSMIT_EVENT_BIT]),
                NextState("FETCH"),
            ),
        )
