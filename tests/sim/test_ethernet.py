"""Frames through the MII pins: what goes in comes out, on time, and errors are seen as such."""

from __future__ import annotations

import random
import zlib

import pytest

from tierv.sim.pcap import read_pcap
from tierv.sim.records import FrameError, FrameFlag
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame

HERE = bytes.fromhex("10e2d5000001")
THERE = bytes.fromhex("020000000001")
SYS_CLK_HZ = 100_000_000
#: Clock cycles of a nibble at 100 Mbit/s.
NIBBLE_CYCLES = 4


def frame_of(length: int, seed: int = 0, **more) -> Frame:
    """A frame of ``length`` bytes, the FCS not counted."""
    return Frame(HERE + THERE + random.Random(seed).randbytes(length - 12), **more)


def swapped(data: bytes) -> bytes:
    """The frame as ``echo`` sends it back."""
    return data[6:12] + data[:6] + data[12:]


def wire_cycles(length: int) -> int:
    """Time on the wire: preamble and delimiter, frame, FCS."""
    return (8 + length + 4) * 2 * NIBBLE_CYCLES


def echo(simulation, firmware, frames, **more):
    """The run in which as many frames as are sent come back."""
    count = len(frames)
    return simulation.run(
        firmware("echo"), frames=frames, until=Until(frames=count), cycles=20_000_000, **more
    )


@pytest.mark.parametrize("length", [60, 61, 62, 63, 64, 65, 127, 512, 1513, 1514])
def test_a_frame_comes_back_byte_for_byte(simulation, firmware, length):
    frame = frame_of(length)
    result = echo(simulation, firmware, [frame])
    assert [out.data for out in result.frames] == [swapped(frame.data)]
    assert result.frames[0].errors == 0


def test_the_reported_length_in_time_is_that_of_the_frame(simulation, firmware):
    for length in (60, 1514):
        out = echo(simulation, firmware, [frame_of(length)]).frames[0]
        assert out.end_cycle - out.cycle == wire_cycles(length)


def test_a_short_frame_is_padded_on_the_wire(simulation, firmware):
    frame = frame_of(20)
    out = echo(simulation, firmware, [frame]).frames[0]
    assert out.data == swapped(frame.data).ljust(60, b"\0")


def test_frames_begin_at_their_cycles(simulation, firmware):
    frames = [frame_of(60, cycle=cycle) for cycle in (1000, 20_002, 40_003)]
    result = echo(simulation, firmware, frames)
    # On the next edge of the MII clock.
    for frame, cycle in zip(frames, result.frames_sent, strict=True):
        assert 0 <= cycle - frame.cycle < NIBBLE_CYCLES


def test_frames_without_a_time_follow_after_the_shortest_gap(simulation, firmware):
    result = simulation.run(
        firmware("spin"),
        cycles=40_000,
        frames=[frame_of(60), frame_of(100), frame_of(60)],
        limit_is_error=False,
    )
    gap_cycles = 24 * NIBBLE_CYCLES
    first, second, third = (int(cycle) for cycle in result.frames_sent)
    assert second - first == wire_cycles(60) + gap_cycles
    assert third - second == wire_cycles(100) + gap_cycles


def test_64_byte_frames_arrive_at_line_rate(simulation, firmware):
    """RFC 2544: 148,809 frames a second at 100 Mbit/s, 672 cycles each."""
    result = simulation.run(
        firmware("spin"),
        cycles=700_000,
        frames=[frame_of(60)] * 1000,
        limit_is_error=False,
    )
    assert int(result.frames_sent[-1] - result.frames_sent[0]) == 999 * 672


def test_the_mii_rate_is_a_parameter(simulation, firmware):
    for mii_hz, cycles_per_nibble in ((50_000_000, 2), (2_500_000, 40)):
        out = echo(simulation, firmware, [frame_of(60)], mii_hz=mii_hz).frames[0]
        assert out.errors == 0
        assert out.end_cycle - out.cycle == 72 * 2 * cycles_per_nibble


@pytest.mark.parametrize("mii_hz", [33_333_333, 41_000_000, 250_000_000])
def test_mii_clocks_of_any_rate_carry_frames(simulation, firmware, mii_hz):
    frame = frame_of(300)
    out = echo(simulation, firmware, [frame], mii_hz=mii_hz).frames[0]
    assert (out.data, out.errors) == (swapped(frame.data), 0)
    nibbles = (8 + 300 + 4) * 2
    assert abs(out.end_cycle - out.cycle - nibbles * SYS_CLK_HZ / mii_hz) <= 2


def mac_counters(simulation, firmware, frames) -> tuple[int, int, int, list[int]]:
    """Frames delivered to firmware, CRC and preamble errors, and the lengths delivered."""
    result = simulation.run(
        firmware("mac_counters"), cycles=300_000, frames=frames, set={"wait_cycles": 200_000}
    ).results
    lengths = [value for index, value in sorted(result.items()) if index > 2]
    return result[0], result[1], result[2], lengths


def test_proper_frames_are_delivered_and_no_error_counted(simulation, firmware):
    frames = [frame_of(length) for length in (60, 100, 1514)]
    assert mac_counters(simulation, firmware, frames) == (3, 0, 0, [60, 100, 1514])


def test_a_frame_with_a_bad_fcs_is_counted_and_not_delivered(simulation, firmware):
    frames = [frame_of(60), frame_of(200, flags=FrameFlag.BAD_FCS), frame_of(61)]
    assert mac_counters(simulation, firmware, frames) == (2, 1, 0, [60, 61])


def test_an_odd_nibble_at_the_end_does_no_harm_to_the_next_frame(simulation, firmware):
    delivered, _, _, lengths = mac_counters(
        simulation, firmware, [frame_of(100, flags=FrameFlag.DRIBBLE), frame_of(61)]
    )
    assert lengths[-1] == 61
    assert delivered in (1, 2)


def test_a_runt_keeps_its_length_on_the_wire(simulation, firmware):
    *_, lengths = mac_counters(
        simulation, firmware, [frame_of(30, flags=FrameFlag.NO_PAD), frame_of(61)]
    )
    assert lengths == [30, 61]


def test_a_frame_can_be_sent_without_anything_added(simulation, firmware):
    data = frame_of(60).data
    fcs = zlib.crc32(data).to_bytes(4, "little")
    good = Frame(data + fcs, flags=FrameFlag.NO_FCS)
    bad = Frame(data + bytes(4), flags=FrameFlag.NO_FCS)
    assert mac_counters(simulation, firmware, [good, bad])[:2] == (1, 1)


def test_preambles_may_be_short_or_long(simulation, firmware):
    frames = [frame_of(60, preamble_bytes=1), frame_of(61, preamble_bytes=100)]
    assert mac_counters(simulation, firmware, frames) == (2, 0, 0, [60, 61])


def test_a_frame_without_a_start_delimiter_is_a_preamble_error(simulation, firmware):
    headless = Frame(bytes(60), flags=FrameFlag.NO_DELIMITER)
    frames = [frame_of(60), headless, frame_of(61)]
    assert mac_counters(simulation, firmware, frames) == (2, 0, 1, [60, 61])


def test_frames_from_the_soc_are_in_the_pcap_with_their_times(simulation, firmware, tmp_path):
    frames = [frame_of(60, seed) for seed in range(3)]
    path = tmp_path / "out.pcap"
    result = echo(simulation, firmware, frames, pcap=path)
    captured = read_pcap(path, SYS_CLK_HZ)
    assert [frame.data for frame in captured] == [swapped(frame.data) for frame in frames]
    first = result.frames[0].cycle
    assert [frame.cycle for frame in captured] == [out.cycle - first for out in result.frames]


def test_the_mac_keeps_the_gap_between_frames(simulation, firmware):
    result = echo(simulation, firmware, [frame_of(60, seed) for seed in range(6)])
    assert all(out.gap_nibbles >= 24 for out in result.frames)
    assert not any(out.errors & FrameError.SHORT_GAP for out in result.frames)
