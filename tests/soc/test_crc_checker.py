"""The check of received frames: what passes, what is marked, and what LiteEth's MAC makes of it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from liteeth.common import eth_phy_description
from liteeth.mac.core import LiteEthMACCore
from litex.gen.sim import run_simulation
from litex.soc.interconnect import stream
from mac_stream import with_fcs

from tierv.soc.crc_checker import CrcChecker, in_place_of_liteeths

DRAIN_CYCLES = 40


@dataclass
class Seen:
    """Frames that came through, whether each was marked as wrong, and what was counted."""

    frames: list[tuple[bytes, bool]] = field(default_factory=list)
    errors: int = 0


def run(
    frames: list[bytes],
    *,
    stalls: float = 0,
    gaps: float = 0,
    phy_errors: set[tuple[int, int]] = (),
) -> Seen:
    """Send frames, with the PHY's error at the bytes ``(frame, byte)``."""
    checker = CrcChecker(eth_phy_description(8))
    chance = random.Random(1)
    seen = Seen()
    sent = []

    def send():
        sink = checker.sink
        for number, frame in enumerate(frames):
            for index, value in enumerate(frame):
                while chance.random() < gaps:
                    yield sink.valid.eq(0)
                    yield
                yield sink.valid.eq(1)
                yield sink.data.eq(value)
                yield sink.last.eq(index == len(frame) - 1)
                yield sink.error.eq((number, index) in phy_errors)
                yield
                while not (yield sink.ready):
                    yield
        yield sink.valid.eq(0)
        sent.append(True)

    def watch():
        source, data, left = checker.source, bytearray(), DRAIN_CYCLES
        marked = False
        while left:
            left -= bool(sent)
            yield source.ready.eq(chance.random() >= stalls)
            yield
            seen.errors += yield checker.error
            if (yield source.valid) and (yield source.ready):
                data.append((yield source.data))
                marked |= bool((yield source.error))
                assert (yield source.last_be) == (yield source.last)
                if (yield source.last):
                    seen.frames.append((bytes(data), marked))
                    data, marked = bytearray(), False

    run_simulation(checker, [send(), watch()])
    return seen


@pytest.mark.parametrize(("stalls", "gaps"), [(0, 0), (0.4, 0), (0, 0.4), (0.3, 0.3)])
def test_good_and_wrong_frames_one_behind_the_other(stalls, gaps):
    chance = random.Random(2)
    contents = [chance.randbytes(length) for length in (1, 2, 60, 61, 5, 4, 100)]
    frames = [bytearray(with_fcs(data)) for data in contents]
    wrong = {1, 3, 5}
    for number in wrong:
        frames[number][chance.randrange(len(frames[number]))] ^= 1 << chance.randrange(8)
    seen = run([bytes(frame) for frame in frames], stalls=stalls, gaps=gaps)
    expected = [(bytes(frame[:-4]), number in wrong) for number, frame in enumerate(frames)]
    assert seen.frames == expected
    assert seen.errors == len(wrong)


@pytest.mark.parametrize("gaps", [0, 0.4])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_a_frame_without_data_is_counted_and_does_no_harm(length, gaps):
    data = bytes(range(40))
    seen = run([with_fcs(data), b"U" * length, with_fcs(data)], stalls=0.2, gaps=gaps)
    assert seen.frames == [(data, False)] * 2
    assert seen.errors == 1


@pytest.mark.parametrize("gaps", [0, 0.4])
@pytest.mark.parametrize("byte", [0, 3, 4, 20, 43])
def test_an_error_of_the_phy_marks_the_frame(byte, gaps):
    data = bytes(range(40))
    seen = run([with_fcs(data)] * 3, gaps=gaps, phy_errors={(1, byte)})
    assert [marked for _, marked in seen.frames] == [False, True, False]
    assert seen.errors == 0


@pytest.mark.parametrize(("ready", "accepted"), [(0, 5), (1, 40)])
def test_a_byte_is_taken_in_each_cycle_while_there_is_room(ready, accepted):
    checker = CrcChecker(eth_phy_description(8))
    accepts = []

    def drive():
        yield checker.sink.valid.eq(1)
        yield checker.source.ready.eq(ready)
        for _ in range(40):
            yield
            accepts.append((yield checker.sink.ready))

    run_simulation(checker, drive())
    assert accepts == [1] * accepted + [0] * (40 - accepted)


def test_wider_data_is_refused():
    with pytest.raises(ValueError, match="must have 8 bits of data, not 32"):
        CrcChecker(eth_phy_description(32))


def test_a_mac_that_is_made_inside_has_it_and_one_made_outside_has_not():
    class Phy:
        dw = 8
        sink = stream.Endpoint(eth_phy_description(8))
        source = stream.Endpoint(eth_phy_description(8))

    def checkers() -> list[bool]:
        path = LiteEthMACCore(Phy(), 32).rx_datapath.pipeline
        return [isinstance(stage, CrcChecker) for stage in path]

    with in_place_of_liteeths():
        assert any(checkers())
    assert not any(checkers())
