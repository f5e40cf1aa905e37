"""Frames that come by MII, with all that a PHY may do to their preamble."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from litex.gen.sim import run_simulation
from migen import Record

from tierv.soc.ethernet import MiiReceiver

DELIMITER = 0xD5
FRAME = bytes(range(0x30, 0x50)) + bytes([0x55, 0xD5, 0x55, 0x5D, 0xFF])
#: A nibble of the frame in which the PHY may see an error.
IN_FRAME = 20
IDLE = 3


def nibbles(data: bytes) -> list[int]:
    return [half for byte in data for half in (byte & 15, byte >> 4)]


def received(frames: Iterable[tuple[list[int], int | None]]) -> list[bytes]:
    """What comes of frames, each its nibbles and the number of the one with an error."""
    pads = Record([("rx_dv", 1), ("rx_er", 1), ("rx_data", 4)])
    receiver = MiiReceiver(pads)
    source = receiver.source
    taken, complete = bytearray(), []

    def take():
        if (yield source.valid):
            taken.append((yield source.data))
            if (yield source.last):
                complete.append(bytes(taken))
                taken.clear()

    def drive():
        for frame, error in frames:
            for number, nibble in enumerate(frame):
                yield pads.rx_dv.eq(1)
                yield pads.rx_data.eq(nibble)
                yield pads.rx_er.eq(number == error)
                yield
                yield from take()
            yield pads.rx_dv.eq(0)
            yield pads.rx_er.eq(0)
            for _ in range(IDLE):
                yield
                yield from take()

    run_simulation(receiver, drive())
    assert not taken
    return complete


def behind_delimiter(frame: bytes) -> bytes:
    return frame[frame.index(DELIMITER) + 1 :]


def test_as_much_of_the_preamble_as_the_phy_leaves_will_do():
    frames = [([5] * left + nibbles(bytes([DELIMITER]) + FRAME), None) for left in range(16)]
    got = received(frames)
    assert [behind_delimiter(each) for each in got] == [FRAME] * len(frames)
    assert all(set(each[: each.index(DELIMITER)]) <= {0x55} for each in got)


@pytest.mark.parametrize("number", [IN_FRAME, -1])
def test_an_error_of_the_phy_spoils_the_last_byte(number):
    bits = [5] * 14 + nibbles(bytes([DELIMITER]) + FRAME)
    spoilt, good = received([(bits, number % len(bits)), (bits, None)])
    assert behind_delimiter(spoilt) == FRAME[:-1] + bytes([FRAME[-1] ^ 0xFF])
    assert behind_delimiter(good) == FRAME


def test_half_a_byte_at_the_end_is_a_byte_more():
    bits = [5] * 14 + nibbles(bytes([DELIMITER]) + FRAME)
    longer, good = received([([*bits, 7], None), (bits, None)])
    assert behind_delimiter(longer)[:-1] == FRAME
    assert behind_delimiter(good) == FRAME


def test_a_frame_without_a_delimiter_ends_all_the_same():
    (got,) = received([([5] * 14, None)])
    assert got == bytes([0x55] * 7)
