"""Frames on their way from memory to the MAC."""

from __future__ import annotations

from liteeth.common import eth_phy_description
from litex.gen import LiteXModule
from litex.soc.interconnect import stream
from migen import READ_FIRST, Case, If, Memory, Signal

from .checksum import HALF_BITS
from .descriptor import LENGTH_BITS

#: Room for the longest frame that a descriptor can ask for.
_WORDS = (1 << LENGTH_BITS) // 4
_PLACE_BITS = (_WORDS - 1).bit_length()
#: Frames that may wait for the MAC beside the one that it takes.
_FRAMES = 4


class FrameBuffer(LiteXModule):
    """A queue of words, and of the frames that they are.

    A frame goes to the MAC from the moment it is announced, and as its words come; whoever wants
    to change a word that has come announces the frame behind that. The MAC gets a word a cycle.
    """

    def __init__(self) -> None:
        #: To the MAC.
        self.source = source = stream.Endpoint(eth_phy_description(32))
        #: The frame's first word comes next.
        self.begin = Signal()
        #: A word comes; it may in a cycle behind one with ``room``.
        self.valid = Signal()
        self.word = Signal(32)
        self.room = Signal()
        #: Another half takes the place of one of the words that have come: by its number in the
        #: frame. Not together with ``valid``.
        self.replace = Signal()
        self.half = Signal(HALF_BITS)
        self.content = Signal(16)
        #: A frame of so many bytes, 1 at the least, may go; taken in a cycle with ``ready``.
        self.announce = Signal()
        self.bytes = Signal(LENGTH_BITS)
        self.ready = Signal()

        memory = Memory(32, _WORDS)
        self._write = memory.get_port(write_capable=True, we_granularity=16)
        # What has been read stays when another word takes its place.
        self._read = memory.get_port(has_re=True, mode=READ_FIRST)
        self.specials += [memory, self._write, self._read]
        # Words ever written and read; the difference is what is there.
        self._written = Signal(_PLACE_BITS + 1)
        self._taken = Signal(_PLACE_BITS + 1)
        self._level = Signal(_PLACE_BITS + 1)
        self.frames = frames = stream.SyncFIFO([("bytes", LENGTH_BITS)], _FRAMES)
        self.comb += [
            frames.sink.valid.eq(self.announce),
            frames.sink.bytes.eq(self.bytes),
            self.ready.eq(frames.sink.ready),
            self._level.eq(self._written - self._taken),
        ]
        self._take_words()
        self._give_words(source, frames.source)

    def _take_words(self) -> None:
        write, first = self._write, Signal(_PLACE_BITS)
        self.comb += [
            # A word that comes now has been on its way.
            self.room.eq(self._level + self.valid < _WORDS),
            write.adr.eq(self._written),
            write.dat_w.eq(self.word),
            If(self.valid, write.we.eq(0b11)),
            If(
                self.replace,
                write.adr.eq(first + self.half[1:]),
                write.dat_w[:16].eq(self.content),
                write.dat_w[16:].eq(self.content),
                If(self.half[0], write.we.eq(0b10)).Else(write.we.eq(0b01)),
            ),
        ]
        self.sync += [
            If(self.valid, self._written.eq(self._written + 1)),
            If(self.begin, first.eq(self._written)),
        ]

    def _give_words(self, source: stream.Endpoint, frame: stream.Endpoint) -> None:
        read = self._read
        index = Signal(_PLACE_BITS)
        last, goes = Signal(), Signal()
        self.comb += [
            last.eq(index == (frame.bytes - 1)[2:]),
            goes.eq(frame.valid & (self._level != 0) & (~source.valid | source.ready)),
            frame.ready.eq(goes & last),
            read.adr.eq(self._taken),
            read.re.eq(goes),
            source.data.eq(read.dat_r),
        ]
        self.sync += [
            If(source.ready, source.valid.eq(0)),
            If(
                goes,
                source.valid.eq(1),
                source.last.eq(last),
                source.last_be.eq(0),
                If(
                    last,
                    Case(
                        frame.bytes[:2], {n: source.last_be.eq(1 << (n - 1) % 4) for n in range(4)}
                    ),
                ),
                self._taken.eq(self._taken + 1),
                If(last, index.eq(0)).Else(index.eq(index + 1)),
            ),
        ]
