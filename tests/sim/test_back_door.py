"""The back door: bytes of the memories, and how the harness says no."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierv.sim.elf import encode_image, jump_to
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.records import RunEnd
from tierv.soc.map import ORIGINS, SIZES

MEMORIES = ("rom", "sram", "main_ram")


def run_harness(model, *words) -> subprocess.CompletedProcess:
    command = [str(model.program), *(str(word) for word in words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@st.composite
def pieces(draw) -> tuple[int, bytes]:
    """An address anywhere in a memory, and bytes that fit there."""
    memory = draw(st.sampled_from(MEMORIES))
    data = draw(st.binary(min_size=1, max_size=40))
    offset = draw(st.integers(0, SIZES[memory] - len(data)))
    return ORIGINS[memory] + offset, data


@settings(max_examples=30, deadline=None)
@given(st.lists(pieces(), min_size=1, max_size=4))
def test_bytes_are_where_they_were_put(model, tmp_path_factory, written):
    folder = tmp_path_factory.mktemp("door")
    expected: dict[int, int] = {}
    for address, data in written:
        expected |= {address + index: byte for index, byte in enumerate(data)}
    (folder / "image").write_bytes(encode_image(written))
    peeks = [("--peek", f"{address},{len(data)}") for address, data in written]
    words = [word for peek in peeks for word in peek]
    out = folder / "peeks"
    # Cycle 0 ends the run before the program can have written anything.
    done = run_harness(
        model, "--image", folder / "image", *words, "--peeks-out", out, "--cycles", 1
    )
    assert done.returncode == RunEnd.LIMIT, done.stderr
    got = out.read_bytes()
    wanted = bytes(
        expected[address + index] for address, data in written for index in range(len(data))
    )
    assert got == wanted


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--peek", "0x90000000,1", "--cycles", "1"], "no memory at 0x90000000"),
        (["--peek", "5"], "--peek: 2 numbers must be given, not '5'"),
        (["--nonsense"], "no option --nonsense"),
        (["--cycles"], "--cycles needs N"),
        (["--cycles", "many"], "--cycles: a number must be given, not 'many'"),
        (["--cycles", str(1 << 63)], f"--cycles: must be below 2**63, not '{1 << 63}'"),
        *(
            (["--cycles", text], f"--cycles: a number must be given, not '{text}'")
            for text in ("", "-1", "+1", " 1", "1 ", "1k", "0x", "0x-1", "1.0")
        ),
        (["--stop-frames", str(1 << 64)], f"--stop-frames: must be below 2**64, not '{1 << 64}'"),
        (["--peek", "0x100000000,1"], "--peek: must be below 2**32, not '0x100000000'"),
        (["--peek", "0x10000000,4294967297"], "--peek: must be below 2**32, not '4294967297'"),
        (["--peek", "5,1,"], "--peek: 2 numbers must be given, not '5,1,'"),
        (
            ["--random-line", "0,1,4294967296,0,1,0,1"],
            "--random-line: must be below 2**32, not '4294967296'",
        ),
        (
            ["--random-line", f"0,1,1,0,1,{1 << 63},1"],
            f"--random-line: must be below 2**63, not '{1 << 63}'",
        ),
        (["--stop-text", "4294967296:x"], "--stop-text: must be below 2**32, not '4294967296'"),
        (["--network-fd", "4294967296"], "--network-fd: must be below 2**31, not '4294967296'"),
        (["--wire", "0,"], "--wire: a number must be given, not ''"),
        (["--uart-format", "0:9600:4294967304"], "--uart-format: must be below 2**32"),
        (["--uart-format", "0:9600:8:N:1"], "--uart-format: PORT:BAUD[:BITS[:N|E|O]] must be"),
        (["--uart-format", "0:5"], "--uart-format: a bit must take less than 2**24 cycles"),
        (["--image", "/nonexistent"], "cannot read /nonexistent"),
        (["--mii-hz", "0"], "--mii-hz must be from 1 to"),
        (["--uart-format", "9:9600"], "no serial port 9"),
        (["--uart-format", "0:9600:8:X"], "parity must be N, E or O, not X"),
        (["--wave", "x.vcd", "--cycles", "1"], "built without waveforms"),
    ],
)
def test_what_can_t_be_done_is_said(model, words, message):
    # Nothing runs for long if it is not said.
    done = run_harness(model, "--cycles", 1, *words)
    assert done.returncode == RunEnd.ERROR
    assert message in done.stderr


@pytest.mark.slow
def test_memories_may_have_other_sizes():
    sizes = {"rom": 16 << 10, "sram": 4 << 10, "itcm": 256 << 10, "dtcm": 16 << 10}
    soc = simulation_params(
        uarts=0,
        ethernet=False,
        main_ram_bytes=0,
        **{f"{name}_bytes": size for name, size in sizes.items()},
    )
    model = build_model(ModelParams(soc=soc, profile=False))
    for name, size in sizes.items():
        end = ORIGINS[name] + size
        last, next_to_it = (
            run_harness(model, "--cycles", 1, "--peek", f"{address},1")
            for address in (end - 1, end)
        )
        assert last.returncode == RunEnd.LIMIT, last.stderr
        assert f"no memory at {end:#010x}" in next_to_it.stderr


def test_a_truncated_image_is_an_error(model, tmp_path):
    path = tmp_path / "image"
    path.write_bytes(encode_image([(ORIGINS["sram"], bytes(8))])[:-1])
    done = run_harness(model, "--image", path)
    assert done.returncode == RunEnd.ERROR
    assert "ends within a record" in done.stderr


@pytest.mark.parametrize(
    "target", [0, 4, 0x7FC, 0x800, 0xFFC, 0x2000_0000, 0x4000_0800, 0x7FFF_FFFC, 0xFFFF_F804]
)
def test_the_jump_reaches_its_target(target):
    """Executed here by hand: lui sets the upper bits, jalr adds twelve signed ones."""
    lui, jalr = (int.from_bytes(jump_to(target)[n : n + 4], "little") for n in (0, 4))
    assert lui & 0xFFF == 0x2B7
    assert jalr & 0xFFFFF == 0x28067
    offset = jalr >> 20
    offset -= (offset & 0x800) << 1
    assert ((lui & 0xFFFFF000) + offset) & 0xFFFF_FFFF == target
