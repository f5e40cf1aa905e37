"""The harness against itself: its senders wired to its receivers, with every fault it can make."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierv.sim.harness_config import cpp_header
from tierv.sim.model import simulation_params
from tierv.sim.paths import build_root
from tierv.sim.records import FrameError, FrameFlag, UartError
from tierv.sim.result import FrameOut, read_frames, read_records
from tierv.sim.stimulus import (
    Frame,
    Parity,
    UartBreak,
    UartBytes,
    UartFormat,
    bit_q8,
    encode_frames,
    encode_uart,
)
from tierv.sim.verilator import SHARED_SOURCES
from tierv.soc.params import FAST_ETHERNET, GIGABIT_ETHERNET

HERE = Path(__file__).resolve().parent / "loop_back"
HARNESS = Path(__file__).resolve().parents[2] / "sim/harness"
SOURCES = ("frames", "frame_files", "mii_sender", "mii_receiver")
SOURCES += ("uart_sender", "uart_receiver", "wires")
SYS_CLK_HZ = 100_000_000
PORTS = 4
DATA = bytes(range(100))


@pytest.fixture(scope="session")
def program() -> Path:
    """The loop with MII."""
    return build_loop(FAST_ETHERNET)


@pytest.fixture(scope="session")
def gigabit_program() -> Path:
    """The loop with GMII."""
    return build_loop(GIGABIT_ETHERNET)


def build_loop(bits_per_second: int) -> Path:
    """The loop, built with checks for undefined behaviour and stray accesses."""
    folder = build_root() / f"host/loop_back_{bits_per_second}"
    folder.mkdir(parents=True, exist_ok=True)
    soc = simulation_params(cpu="vexriscv", eth_bits_per_second=bits_per_second)
    header = cpp_header(soc, {"rom": [("sim", "rom")]}, False)
    (folder / "generated.h").write_text(header)
    target = folder / "loop_back"
    sources = [HERE / "loop_back.cpp", *(HARNESS / f"{name}.cpp" for name in SOURCES)]
    includes = [f"-I{path}" for path in (HERE, folder, HARNESS, SHARED_SOURCES)]
    flags = ["-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = ["g++", *flags, *includes, *map(str, sources), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def frames_seen(program: Path, folder: Path, frames: list[Frame]) -> list[FrameOut]:
    """What the receiver makes of the frames; an edge of the PHY's clock is a cycle."""
    (folder / "in").write_bytes(encode_frames(frames))
    edges = sum(2 * (len(frame.data) + 200) + frame.gap_nibbles for frame in frames) + 100
    edges += max((frame.cycle for frame in frames), default=0)
    command = [program, "ethernet", folder / "in", folder / "out", str(edges)]
    subprocess.run([str(word) for word in command], check=True)
    return read_frames(folder / "out")


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (Frame(DATA), FrameError(0)),
        (Frame(DATA[:20]), FrameError(0)),
        (Frame(DATA, flags=FrameFlag.BAD_FCS), FrameError.FCS),
        (Frame(DATA, flags=FrameFlag.DRIBBLE), FrameError.HALF_BYTE),
        (Frame(DATA[:20], flags=FrameFlag.NO_PAD), FrameError.RUNT),
        (Frame(bytes(1514)), FrameError(0)),
        (Frame(bytes(1515)), FrameError.OVERSIZE),
        (Frame(DATA, preamble_bytes=6), FrameError.PREAMBLE | FrameError.FCS),
        (Frame(DATA, preamble_bytes=8), FrameError.PREAMBLE | FrameError.FCS),
        (Frame(DATA, flags=FrameFlag.NO_DELIMITER), FrameError.PREAMBLE),
    ],
)
def test_each_fault_of_a_frame_is_seen_as_what_it_is(program, tmp_path, frame, error):
    before, seen, after = frames_seen(program, tmp_path, [Frame(DATA), frame, Frame(DATA)])
    assert seen.errors == error
    assert (before.errors, after.errors) == (0, 0)
    assert after.data == DATA


@pytest.mark.parametrize(("nibbles", "error"), [(24, 0), (23, FrameError.SHORT_GAP)])
def test_a_gap_of_96_bit_times_is_enough_and_one_nibble_less_is_not(
    program, tmp_path, nibbles, error
):
    frames = [Frame(DATA), Frame(DATA, gap_nibbles=nibbles)]
    _, seen = frames_seen(program, tmp_path, frames)
    assert (seen.gap_nibbles, seen.errors) == (nibbles, error)


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (Frame(DATA), FrameError(0)),
        (Frame(DATA, flags=FrameFlag.BAD_FCS), FrameError.FCS),
        (Frame(DATA[:20], flags=FrameFlag.NO_PAD), FrameError.RUNT),
        (Frame(bytes(1514)), FrameError(0)),
        (Frame(DATA, preamble_bytes=6), FrameError.PREAMBLE | FrameError.FCS),
    ],
)
def test_by_gmii_a_byte_goes_with_each_clock(gigabit_program, tmp_path, frame, error):
    frames = [dataclasses.replace(frame, cycle=50), Frame(DATA)]
    seen, after = frames_seen(gigabit_program, tmp_path, frames)
    assert seen.errors == error
    bytes_before_data = frame.preamble_bytes + 1
    if not frame.flags:
        assert seen.end_cycle - seen.cycle == bytes_before_data + len(frame.data) + 4
    assert (after.data, after.errors, after.gap_nibbles) == (DATA, 0, 24)
    assert after.cycle - seen.end_cycle == 12


def test_a_frame_lasts_from_its_first_nibble_to_after_its_last(program, tmp_path):
    first, second = frames_seen(program, tmp_path, [Frame(DATA, cycle=50), Frame(DATA)])
    assert (first.cycle, first.end_cycle) == (50, 50 + 2 * (8 + 100 + 4))
    assert second.cycle == first.end_cycle + 24


@settings(max_examples=40, deadline=None)
@given(data=st.lists(st.binary(min_size=60, max_size=300), min_size=1, max_size=4))
def test_any_frames_arrive_as_they_were_sent(program, tmp_path_factory, data):
    seen = frames_seen(program, tmp_path_factory.mktemp("f"), [Frame(each) for each in data])
    assert [(frame.data, frame.errors) for frame in seen] == [(each, 0) for each in data]


def characters_seen(
    program: Path, folder: Path, items: list, formats: list[UartFormat]
) -> np.ndarray:
    """What the receiver makes of the characters."""
    (folder / "in").write_bytes(encode_uart(items, formats, SYS_CLK_HZ))
    words = [
        f"{port}:{bit_q8(form.baud, SYS_CLK_HZ)}:{form.data_bits}:{list(Parity).index(form.parity)}"
        for port, form in enumerate(formats)
    ]
    command = [program, "uart", folder / "in", folder / "out", "200000", *words]
    subprocess.run([str(word) for word in command], check=True)
    return read_records(folder / "out", "UartOut")


def characters_on_wire(program: Path, folder: Path, soc: list, stimulus: list) -> np.ndarray:
    """What the ports receive if 1 and 2 are on one wire, on which the SoC sends too."""
    formats = [USUAL] * PORTS
    (folder / "soc").write_bytes(encode_uart(soc, formats, SYS_CLK_HZ))
    (folder / "in").write_bytes(encode_uart(stimulus, formats, SYS_CLK_HZ))
    words = [f"{port}:{bit_q8(USUAL.baud, SYS_CLK_HZ)}:8:0" for port in range(PORTS)]
    inputs = f"{folder / 'soc'},{folder / 'in'},{0b110}"
    subprocess.run([str(program), "wire", inputs, str(folder / "out"), "20000", *words], check=True)
    return read_records(folder / "out", "UartOut")


_formats = st.builds(
    UartFormat,
    baud=st.sampled_from([921_600, 1_000_000, 3_000_000]),
    data_bits=st.integers(5, 9),
    parity=st.sampled_from(Parity),
    stop_bits=st.sampled_from([1, 2]),
)


@settings(max_examples=40, deadline=None)
@given(form=_formats, data=st.data())
def test_characters_of_every_form_arrive_as_they_were_sent(program, tmp_path_factory, form, data):
    values = data.draw(st.lists(st.integers(0, (1 << form.data_bits) - 1), max_size=5))
    formats = [form] * PORTS
    items = [UartBytes(port, values) for port in range(PORTS)]
    seen = characters_seen(program, tmp_path_factory.mktemp("u"), items, formats)
    assert not seen["errors"].any()
    for port in range(PORTS):
        assert seen[seen["port"] == port]["data"].tolist() == values


USUAL = UartFormat(1_000_000)


def test_a_low_stop_bit_is_a_framing_error(program, tmp_path):
    items = [UartBytes(0, b"A", framing_error=True), UartBytes(0, b"B")]
    seen = characters_seen(program, tmp_path, items, [USUAL] * PORTS)
    assert seen["errors"].tolist() == [UartError.FRAMING, 0]
    assert seen["data"].tolist() == list(b"AB")


@pytest.mark.parametrize("bits", [10, 13, 26])
def test_a_break_is_seen_with_its_length(program, tmp_path, bits):
    items = [UartBytes(1, b"A"), UartBreak(1, bits=bits), UartBytes(1, b"\x55")]
    seen = characters_seen(program, tmp_path, items, [USUAL] * PORTS)
    assert seen["errors"].tolist() == [0, UartError.BREAK, 0]
    assert seen["data"].tolist() == [ord("A"), 0, 0x55]
    assert int(seen[1]["duration_cycles"]) == bits * 100


def test_nine_low_bits_are_the_character_zero_and_no_break(program, tmp_path):
    seen = characters_seen(program, tmp_path, [UartBreak(0, bits=9)], [USUAL] * PORTS)
    assert (seen["errors"].tolist(), seen["data"].tolist()) == ([0], [0])


def test_the_other_parity_is_a_parity_error(program, tmp_path):
    odd, even = (dataclasses.replace(USUAL, parity=parity) for parity in (Parity.ODD, Parity.EVEN))
    items = [UartBytes(0, b"\x01\x03", format=odd)]
    seen = characters_seen(program, tmp_path, items, [even] * PORTS)
    assert seen["errors"].tolist() == [UartError.PARITY] * 2


@pytest.mark.parametrize(("percent", "good"), [(0, True), (4, True), (-4, True), (7, False)])
def test_speeds_may_differ_by_less_than_half_a_bit_in_ten(program, tmp_path, percent, good):
    other = UartFormat(1_000_000 * (1 + percent / 100))
    items = [UartBytes(0, bytes(range(0, 256, 5)), format=other)]
    seen = characters_seen(program, tmp_path, items, [USUAL] * PORTS)
    right = not seen["errors"].any() and seen["data"].tolist() == list(range(0, 256, 5))
    assert right == good


def test_a_glitch_shorter_than_half_a_bit_is_no_character(program, tmp_path):
    short = UartFormat(1_000_000 * 3)
    seen = characters_seen(program, tmp_path, [UartBreak(0, bits=1, format=short)], [USUAL] * PORTS)
    assert len(seen) == 0


def received(seen: np.ndarray) -> list[bytes]:
    return [bytes(seen[seen["port"] == port]["data"].astype(np.uint8)) for port in range(PORTS)]


def test_ports_on_a_wire_receive_what_any_of_them_sends_and_the_soc(program, tmp_path):
    soc = [UartBytes(1, b"a", cycle=100), UartBytes(2, b"b", cycle=2000), UartBytes(3, b"c")]
    stimulus = [UartBytes(1, b"d", cycle=4000), UartBytes(2, b"e", cycle=6000), UartBytes(3, b"f")]
    seen = characters_on_wire(program, tmp_path, soc, stimulus)
    assert received(seen) == [b"", b"abde", b"abde", b"f"]


@settings(max_examples=30, deadline=None)
@given(one=st.integers(0, 255), other=st.integers(0, 255))
def test_a_low_level_wins_on_a_wire(program, tmp_path_factory, one, other):
    soc = [UartBytes(1, [one], cycle=100)]
    seen = characters_on_wire(
        program, tmp_path_factory.mktemp("w"), soc, [UartBytes(2, [other], 100)]
    )
    assert received(seen) == [b"", bytes([one & other]), bytes([one & other]), b""]
