"""The streams of a MAC of 32-bit words in tests: their pins, and frames as words."""

from __future__ import annotations

import zlib

from litex.soc.interconnect.stream import Endpoint
from migen import Module, Record

#: Data, whether it is the last, which byte of it is, and that byte's error flag.
Word = tuple[int, int, int, int]

_LAYOUT = [("valid", 1), ("ready", 1), ("last", 1), ("data", 32), ("last_be", 4), ("error", 4)]


def stream_pins(block: Module, sink: Endpoint, source: Endpoint) -> list[Record]:
    """Pins of a block's streams, named ``sink`` and ``source``."""
    sink_pins, source_pins = (Record(_LAYOUT, name=name) for name in ("sink", "source"))
    for name, _ in _LAYOUT:
        if name == "ready":
            block.comb += [sink_pins.ready.eq(sink.ready), source.ready.eq(source_pins.ready)]
        else:
            block.comb += getattr(sink, name).eq(getattr(sink_pins, name))
            block.comb += getattr(source_pins, name).eq(getattr(source, name))
    return [sink_pins, source_pins]


def with_fcs(data: bytes) -> bytes:
    """A frame with the check sequence behind it, as on the wire."""
    return data + zlib.crc32(data).to_bytes(4, "little")


def words_of(frame: bytes, *, wrong: bool = False) -> list[Word]:
    """A frame as words; a wrong one ends with an error flag."""
    words = []
    for at in range(0, len(frame), 4):
        part = frame[at : at + 4]
        last = at + 4 >= len(frame)
        last_be = 1 << len(part) - 1 if last else 0
        data = int.from_bytes(part.ljust(4, b"\xee"), "little")
        words.append((data, int(last), last_be, last_be if wrong else 0))
    return words


def offer(dut, word: Word) -> None:
    """Put a word on the pins of the sink."""
    dut.sink_data.value, dut.sink_last.value = word[:2]
    dut.sink_last_be.value, dut.sink_error.value = word[2:]
    dut.sink_valid.value = 1


class FrameCollector:
    """Joins the words that come out of the source."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self._part = bytearray()

    def take(self, dut) -> bool:
        """The word on the pins; returns whether it ends a frame."""
        pins = (dut.source_data, dut.source_last, dut.source_last_be)
        return self.add(*(int(pin.value) for pin in pins))

    def add(self, word: int, last: int, last_be: int) -> bool:
        """A word; returns whether it ends a frame."""
        data = word.to_bytes(4, "little")
        if not last:
            self._part += data
            return False
        assert last_be.bit_count() == 1
        self.frames.append(bytes(self._part) + data[: last_be.bit_length()])
        self._part.clear()
        return True
