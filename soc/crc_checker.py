"""The check of received frames' check sequence, in place of LiteEth's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from liteeth.mac import crc
from litex.gen import LiteXModule
from litex.soc.interconnect import stream
from migen import If, Mux, Signal

#: Bytes of the check sequence, and one before it.
_HELD_BYTES = 5


class CrcChecker(LiteXModule):
    """Takes the check sequence off a stream of bytes, and says at its last byte if it was wrong.

    In place of LiteEth's ``LiteEthMACCRC32Checker``: IEEE 802.3, clause 3.2.9. That one adds a byte
    and looks at the result in the same cycle, which takes long; here there is a register in
    between. It loses the frame behind a fragment of one byte, too; here a frame that is too short
    to have a byte before the sequence leaves nothing but the count of its error.
    Raises ``ValueError`` for a stream that is wider than a byte.
    """

    def __init__(self, description) -> None:
        self.sink = sink = stream.Endpoint(description)
        self.source = source = stream.Endpoint(description)
        #: High for a cycle at the end of each frame whose check sequence was wrong.
        self.error = Signal()
        if len(sink.data) != 8:
            raise ValueError(f"description must have 8 bits of data, not {len(sink.data)}")

        self.engine = engine = crc.LiteEthMACCRCEngine(
            8, crc.LiteEthMACCRC32.width, crc.LiteEthMACCRC32.polynom
        )
        held = [Signal(8) for _ in range(_HELD_BYTES)]
        level = Signal(max=_HELD_BYTES + 1)
        # Of the frame so far, and with the newest byte also behind its end.
        state = Signal(crc.LiteEthMACCRC32.width, reset=crc.LiteEthMACCRC32.init)
        result = Signal(crc.LiteEthMACCRC32.width)
        # The newest byte has not been answered with the oldest one; it is the frame's last.
        fresh, last = Signal(), Signal()
        # The PHY has said that something was wrong since a byte was passed on.
        flag = Signal()
        full, wrong, accepts, passes, ends, begins = (Signal() for _ in range(6))
        self.comb += [
            full.eq(level == _HELD_BYTES),
            wrong.eq(result != crc.LiteEthMACCRC32.check),
            sink.ready.eq(~(fresh & full) | source.ready),
            accepts.eq(sink.valid & sink.ready),
            source.valid.eq(fresh & full),
            source.data.eq(held[-1]),
            source.last.eq(last),
            source.last_be.eq(last),
            source.error.eq(flag | (last & wrong)),
            passes.eq(source.valid & source.ready),
            ends.eq(fresh & last & (~full | source.ready)),
            begins.eq(ends | (level == 0)),
            self.error.eq(ends & wrong),
            engine.data.eq(sink.data),
            engine.crc_prev.eq(state),
        ]
        self.sync += [
            If(passes | ends, fresh.eq(0)),
            If(ends, level.eq(0)),
            If(
                accepts,
                [
                    older.eq(newer)
                    for newer, older in zip([sink.data, *held[:-1]], held, strict=True)
                ],
                fresh.eq(1),
                last.eq(sink.last),
                flag.eq(sink.error | (flag & ~passes & ~begins)),
                result.eq(engine.crc_next),
                state.eq(Mux(sink.last, crc.LiteEthMACCRC32.init, engine.crc_next)),
                If(begins, level.eq(1)).Elif(~full, level.eq(level + 1)),
            ),
        ]


@contextmanager
def in_place_of_liteeths() -> Iterator[None]:
    """MACs of LiteEth that are made inside check their frames with ``CrcChecker``."""
    with mock.patch.object(crc, "LiteEthMACCRC32Checker", CrcChecker):
        yield
