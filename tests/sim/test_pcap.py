"""Capture files: what is written is read, other forms are understood, rubbish is refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierv.sim.pcap import read_pcap, write_pcap
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame

SYS_CLK_HZ = 100_000_000

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
        (b"", "must be a pcap file"),
        (b"\x0a\x0d\x0d\x0a" + bytes(60), "must be a pcap file"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 9, 101), "Ethernet frames"),
        (struct.pack("<IHHiIII4I", 0xA1B2C3D4, 2, 4, 0, 0, 9, 1, 0, 0, 9, 9), "within a frame"),
        (struct.pack("<IHHiIIII", 0xA1B2C3D4, 2, 4, 0, 0, 9, 1, 0), "within a frame"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_pcap(path, SYS_CLK_HZ)


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
