"""Capture files: what is written is read, other forms are understood, rubbish is refused."""

from __future__ import annotations

import os
import struct
import subprocess
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierv.sim.capture import packets_of, read_capture
from tierv.sim.pcap import read_pcap, write_pcap
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame

SYS_CLK_HZ = 100_000_000

#: A section of pcapng, little endian.
_SECTION = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)


def _interface(link_type: int, digits: int | None = None, offset_s: int = 0) -> bytes:
    """An interface of pcapng whose clock has so many digits behind the second."""
    options = b""
    if digits is not None:
        options = struct.pack("<HHB3xHHqI", 9, 1, digits, 14, 8, offset_s, 0)
    length = 20 + len(options)
    return (
        struct.pack("<IIHHI", 1, length, link_type, 0, 65535) + options + struct.pack("<I", length)
    )


def _described(option: int, *content: int) -> bytes:
    """An interface of pcapng with one option."""
    data = bytes(content)
    options = struct.pack("<HH", option, len(data)) + data + bytes(-len(data) % 4 + 4)
    length = 20 + len(options)
    return struct.pack("<IIHHI", 1, length, 1, 0, 65535) + options + struct.pack("<I", length)


def _packet(ticks: int, *, interface: int = 0, stored: int = 4, length: int = 4) -> bytes:
    """A packet of pcapng with four bytes in its block."""
    high, low = divmod(ticks, 1 << 32)
    return struct.pack("<8I", 6, 36, interface, high, low, stored, length, 0xAABBCCDD) + (
        struct.pack("<I", 36)
    )


_frames = st.lists(
    st.builds(Frame, st.binary(min_size=1, max_size=1518), cycle=st.integers(0, 10**12)),
    max_size=5,
).map(lambda frames: sorted(frames, key=lambda frame: frame.cycle))


@given(_frames)
def test_written_frames_are_read_back_with_their_distances(tmp_path_factory, frames):
    path = tmp_path_factory.mktemp("pcap") / "frames.pcap"
    write_pcap(path, frames, SYS_CLK_HZ)
    back = read_pcap(path, SYS_CLK_HZ)
    assert [frame.data for frame in back] == [frame.data for frame in frames]
    start = frames[0].cycle if frames else 0
    assert [frame.cycle for frame in back] == [frame.cycle - start for frame in frames]


def test_times_can_be_compressed_and_moved(tmp_path):
    path = tmp_path / "frames.pcap"
    write_pcap(path, [Frame(b"a", cycle=50), Frame(b"b", cycle=1050)], SYS_CLK_HZ)
    frames = read_pcap(path, SYS_CLK_HZ, speed=4, start_cycle=7)
    assert [frame.cycle for frame in frames] == [7, 257]


@pytest.mark.parametrize("order", ["<", ">"])
def test_microsecond_captures_of_either_byte_order_are_read(tmp_path, order):
    path = tmp_path / "frames.pcap"
    header = struct.pack(order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    first = struct.pack(order + "4I", 100, 999_999, 2, 4) + b"ab"
    second = struct.pack(order + "4I", 101, 1, 1, 1) + b"c"
    path.write_bytes(header + first + second)
    frames = read_pcap(path, SYS_CLK_HZ)
    assert [(frame.cycle, frame.data) for frame in frames] == [(0, b"ab\0\0"), (200, b"c")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"PK\3\4" + bytes(60), "must be a pcap or pcapng file"),
        (struct.pack("<I", 0xA1B2C3D4), "packet 1: the file ends before it"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 9, 101), "not of link type 101"),
        (struct.pack("<IHHiIII4I", 0xA1B2C3D4, 2, 4, 0, 0, 9, 1, 0, 0, 9, 9), "packet 1: .*within"),
        (struct.pack("<IHHiIIII", 0xA1B2C3D4, 2, 4, 0, 0, 9, 1, 0), "packet 1: .*within"),
        (struct.pack("<IHHiIII4I", 0xA1B2C3D4, 2, 4, 0, 0, 9, 1, 0, 10**6, 0, 9), "parts, not"),
        (_SECTION[:8] + b"abcd" + _SECTION[12:], "no known byte order"),
        (_SECTION + _interface(101) + _packet(0), "packet 1: .* link type 101"),
        (_SECTION + _interface(1) + _packet(0) + _packet(0)[:-4], "packet 2: the file ends"),
        (_SECTION + _described(9), "packet 1: if_tsresol must have 1 byte, not 0"),
        (_SECTION + _described(13), "packet 1: if_fcslen must have 1 byte, not 0"),
        (_SECTION + _described(13, 7) + _packet(0), "packet 1: .* has 4 bytes, not 7"),
        (_SECTION + _packet(0), "packet 1: interface 0 is not described"),
        (_SECTION + _interface(1) + struct.pack("<6I", 3, 24, 4, 0, 0, 24), "has no time"),
        (_SECTION + _interface(1) + struct.pack("<3I", 6, 10, 10), "can't have 10 bytes"),
        (_SECTION + _interface(1) + _packet(0)[:-4] + bytes(4), "length fields do not match"),
        (_SECTION + _interface(1) + _packet(0, stored=99), "packet 1: 99 bytes do not fit"),
        (_SECTION + _interface(1) + _packet(0, length=1), "4 bytes of 1 are kept"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_pcap(path, SYS_CLK_HZ)
    assert str(path) in str(caught.value)


@given(st.data())
def test_a_damaged_file_is_refused_or_read_but_never_anything_else(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("pcap") / "frames.pcap"
    write_pcap(path, [Frame(bytes(20), cycle=n) for n in range(3)], SYS_CLK_HZ)
    ng = _SECTION + _interface(1, 9) + _packet(5) + _packet(7)
    content = bytearray(data.draw(st.sampled_from([path.read_bytes(), ng])))
    for _ in range(data.draw(st.integers(0, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        frames = read_pcap(path, SYS_CLK_HZ)
    except ValueError:
        return
    assert all(frame.cycle >= 0 for frame in frames)


def test_pcapng_is_read_with_each_interface_s_own_clock(tmp_path):
    path = tmp_path / "frames.pcapng"
    nanoseconds, offset = _interface(1, 9), _interface(1, 9, offset_s=1)
    seconds = 1_700_000_000
    path.write_bytes(
        _SECTION + _interface(1) + nanoseconds + offset
        + _packet(seconds * 10**6 + 2)
        + _packet(seconds * 10**9 + 10, interface=1)
        + _packet((seconds - 1) * 10**9 + 70, interface=2, length=6)
    )  # fmt: skip
    frames = read_pcap(path, SYS_CLK_HZ)
    assert [(frame.cycle, len(frame.data)) for frame in frames] == [(0, 4), (6, 6), (199, 4)]


@pytest.mark.parametrize("order", ["<", ">"])
def test_each_section_of_pcapng_has_its_own_interfaces(tmp_path, order):
    path = tmp_path / "frames.pcapng"
    section = struct.pack(order + "IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    # Four digits behind the binary point, and a clock that begins five seconds late.
    options = struct.pack(order + "HHB3xHHqI", 9, 1, 0x84, 14, 8, 5, 0)
    sixteenths = (
        struct.pack(order + "IIHHI", 1, 44, 1, 0, 9) + options + struct.pack(order + "I", 44)
    )
    microseconds = struct.pack(order + "IIHHII", 1, 20, 1, 0, 9, 20)
    packet = struct.pack(order + "7I4sI", 6, 36, 0, 0, 33, 4, 9, b"abcd", 36)
    # The obsolete form, which counts what was dropped.
    older = struct.pack(order + "IIHHIIII4sI", 2, 36, 0, 7, 0, 16, 3, 3, b"efg", 36)
    path.write_bytes(section + sixteenths + packet + older + section + microseconds + packet)
    assert [(one.seconds, one.stored, one.length) for one in read_capture(path)] == [
        (5 + Fraction(33, 16), b"abcd", 9),
        (5 + Fraction(16, 16), b"efg", 3),
        (Fraction(33, 10**6), b"abcd", 9),
    ]


@pytest.mark.parametrize("said", [4, 32])
def test_check_sequences_of_pcapng_are_left_out(tmp_path, said):
    path = tmp_path / "frames.pcapng"
    path.write_bytes(
        _SECTION + _interface(1) + _described(13, said)
        + _packet(0, length=5) + _packet(0, interface=1, length=7) + _packet(0, interface=1)
    )  # fmt: skip
    assert [(packet.stored, packet.length) for packet in read_capture(path)] == [
        (b"\xdd\xcc\xbb\xaa", 5),
        (b"\xdd\xcc\xbb", 3),
        (b"", 0),
    ]


@pytest.mark.parametrize("order", ["<", ">"])
def test_check_sequences_of_pcap_are_left_out_as_far_as_they_were_kept(tmp_path, order):
    path = tmp_path / "frames.pcap"
    data = bytes(range(64))
    for said, whole in ((0x2400_0001, 60), (0x2000_0001, 64), (0x0400_0001, 64)):
        content = struct.pack(order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, said)
        for stored in (64, 62, 20):
            content += struct.pack(order + "4I", 0, 0, stored, 64) + data[:stored]
        path.write_bytes(content)
        assert [(packet.stored, packet.length) for packet in read_capture(path)] == [
            (data[: min(stored, whole)], whole) for stored in (64, 62, 20)
        ]


def test_of_a_capture_that_is_larger_than_memory_no_more_is_read_than_packets_are_wanted(tmp_path):
    path = tmp_path / "frames.pcap"
    write_pcap(path, [Frame(b"first"), Frame(b"second")], SYS_CLK_HZ)
    # What is not written takes no room.
    os.truncate(path, 1 << 38)
    packets = packets_of(path)
    assert [next(packets).stored for _ in range(3)] == [b"first", b"second", b""]


def test_a_capture_may_come_through_a_pipe(tmp_path):
    path, pipe = tmp_path / "frames.pcap", tmp_path / "pipe"
    write_pcap(path, [Frame(b"first")], SYS_CLK_HZ)
    os.mkfifo(pipe)
    with subprocess.Popen(["dd", f"if={path}", f"of={pipe}", "status=none"]):
        assert [packet.stored for packet in read_capture(pipe)] == [b"first"]


def test_a_frame_that_is_too_long_is_named(tmp_path):
    path = tmp_path / "frames.pcap"
    write_pcap(path, [Frame(bytes(1514)), Frame(bytes(1515))], SYS_CLK_HZ)
    with pytest.raises(ValueError, match=r"packet 2: .* 1514 bytes at the most, not 1515"):
        read_pcap(path, SYS_CLK_HZ, most_bytes=1514)


def test_a_time_that_the_simulation_cannot_count_to_is_named(tmp_path):
    path = tmp_path / "frames.pcapng"
    path.write_bytes(_SECTION + _interface(1, 0) + _packet(0) + _packet(1 << 32))
    start = (1 << 63) - (SYS_CLK_HZ << 32) - 1
    assert read_pcap(path, SYS_CLK_HZ, start_cycle=start)[1].cycle == (1 << 63) - 1
    message = rf"pcapng, packet 2: .* before cycle 2\*\*63, not in {1 << 63}$"
    with pytest.raises(ValueError, match=message):
        read_pcap(path, SYS_CLK_HZ, start_cycle=start + 1)


@pytest.mark.parametrize("speed", [0, -1, float("nan"), float("inf")])
def test_a_speed_must_be_possible(tmp_path, speed):
    path = tmp_path / "frames.pcap"
    write_pcap(path, [Frame(b"a")], SYS_CLK_HZ)
    with pytest.raises(ValueError, match="speed must be above 0"):
        read_pcap(path, SYS_CLK_HZ, speed=speed)


def test_a_capture_goes_through_the_soc_and_back(simulation, firmware, tmp_path):
    sent = [Frame(bytes([n]) * 6 + bytes(6) + bytes(range(50)), cycle=3000 * n) for n in range(4)]
    path = tmp_path / "in.pcap"
    write_pcap(path, sent, SYS_CLK_HZ)
    out = tmp_path / "out.pcap"
    simulation.run(
        firmware("echo"),
        cycles=1_000_000,
        frames=read_pcap(path, SYS_CLK_HZ),
        until=Until(frames=4),
        pcap=out,
    )
    expected = [bytes(6) + bytes([n]) * 6 + bytes(range(50)) for n in range(4)]
    assert [frame.data for frame in read_pcap(out, SYS_CLK_HZ)] == expected
