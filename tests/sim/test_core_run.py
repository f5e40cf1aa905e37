"""What the bench of cores writes and ends with: a full disk is an error, not a result."""

from __future__ import annotations

import struct
import subprocess

import encoding as rv
import pytest

from tierv.sim.cores import cores
from tierv.sim.cores.model import DEVICE_BASE, RESET_ADDRESS, DevicePage, build
from tierv.sim.cores.run import run
from tierv.sim.elf import Program
from tierv.sim.paths import BuildError

#: Exit status of a mistake.
REFUSED = 125
CORE = cores.picorv32()


@pytest.fixture
def program(tmp_path):
    """Makes a program that prints a letter and ends with a word."""

    def make(word: int) -> Program:
        words = [*rv.li(5, DEVICE_BASE), *rv.li(6, word), rv.addi(7, 0, ord("a"))]
        words += [rv.store("sw", 7, 5, DevicePage.PUTC)]
        words += [rv.store("sw", 6, 5, DevicePage.EXIT), rv.jal(0, 0)]
        path = tmp_path / "program.elf"
        code = struct.pack(f"<{len(words)}I", *words)
        path.write_bytes(rv.elf({RESET_ADDRESS: code}, RESET_ADDRESS))
        return Program(path)

    return make


@pytest.mark.parametrize("option", ["--events", "--trace"])
def test_a_full_disk_is_an_error(program, option):
    with pytest.raises(BuildError, match="cannot write /dev/full: No space left on device"):
        run(CORE, program(0), cycles=1000, options=[option, "/dev/full"])


def test_what_a_program_prints_for_which_there_is_no_room_is_an_error(program):
    with open("/dev/full", "w") as full:
        words = [build(CORE.hardware), program(0).path]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == REFUSED
    assert "cannot write what the program prints" in done.stderr


@pytest.mark.parametrize(
    ("word", "status"), [(0, 0), (7, 7), (123, 123), (124, 123), (125, 123), (256, 123)]
)
def test_no_exit_word_looks_like_success_or_like_the_bench_s_own(program, word, status):
    words = [build(CORE.hardware), program(word).path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, "a")


def test_a_part_for_which_there_is_no_memory_is_named(tmp_path):
    path = tmp_path / "program.elf"
    parts = {RESET_ADDRESS: struct.pack("<I", rv.jal(0, 0)), 0x1234_5678: bytes(20)}
    path.write_bytes(rv.elf(parts, RESET_ADDRESS))
    with pytest.raises(
        BuildError, match="a part of 0x14 bytes at 0x12345678 of the program is where no memory is"
    ):
        run(CORE, Program(path), cycles=100)
