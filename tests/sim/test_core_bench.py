"""What the core's bench writes: a full disk is an error, not a verdict."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import encoding as rv
import pytest
from suite_programs import compile_program

from tierv.rtl.params import CoreParams
from tierv.sim.core_model import REFUSED, BenchError, CoreModel, RunEnd

BASE, CONSOLE = 0x8000_0000, 0xF000_0000
MEMORY = ("--memory", f"{BASE:#x}:0x10000")
EXIT, PRINT, MARK = 0, 4, 20


@pytest.fixture(scope="module")
def model() -> CoreModel:
    """A small core with waveforms."""
    return CoreModel(CoreParams(tiers=1, lines=1, reset_address=BASE), waves=True)


@pytest.fixture
def program(tmp_path) -> Path:
    """Sets both marks of a sweep, prints a letter and ends with 1."""
    words = [*rv.li(5, CONSOLE), rv.addi(6, 0, 1), rv.store("sw", 6, 5, MARK)]
    words += [rv.store("sw", 6, 5, PRINT), rv.addi(7, 0, 2), rv.store("sw", 7, 5, MARK)]
    words += [rv.store("sw", 6, 5, EXIT), rv.jal(0, 0)]
    path = tmp_path / "program.elf"
    path.write_bytes(rv.elf({BASE: struct.pack(f"<{len(words)}I", *words)}, BASE))
    return path


def test_what_the_bench_writes_is_there_at_the_end(model, program, tmp_path):
    names = ("trace", "events", "wave")
    options = [word for name in names for word in (f"--{name}", str(tmp_path / name))]
    run = model.run(program, *MEMORY, *options)
    assert (run.end, run.code, run.output) == (RunEnd.EXIT, 1, "\x01")
    assert all((tmp_path / name).stat().st_size for name in names)
    marks = [line.split()[1:] for line in (tmp_path / "events").read_text().splitlines()]
    assert marks == [["mark", "1"], ["mark", "2"]]
    # Half a cycle is a unit, from the two cycles in reset on.
    last = (tmp_path / "wave").read_text().rpartition("#")[2].split()[0]
    assert int(last) > 2 * run.cycles


@pytest.mark.parametrize("option", ["--result", "--trace", "--events", "--wave", "--sweep"])
def test_a_full_disk_is_an_error(model, program, option):
    with pytest.raises(BenchError, match="cannot write /dev/full: No space left on device"):
        model.run(program, *MEMORY, option, "/dev/full")


def test_a_signature_for_which_there_is_no_room_is_an_error(model, tmp_path):
    elf = compile_program("signature", tmp_path, base=BASE)
    with pytest.raises(BenchError, match="cannot write /dev/full: No space left on device"):
        model.run(elf, *MEMORY, "--signature", "/dev/full")


def test_a_waveform_in_no_folder_is_an_error(model, program, tmp_path):
    with pytest.raises(BenchError, match="cannot write .*none/wave: No such file or directory"):
        model.run(program, *MEMORY, "--wave", str(tmp_path / "none/wave"))


def test_what_a_program_prints_for_which_there_is_no_room_is_an_error(model, program):
    with open("/dev/full", "w") as full:
        words = [model.program, *MEMORY, program]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == REFUSED
    assert "cannot write what the program prints" in done.stderr


@pytest.mark.parametrize(
    ("word", "status"), [(0, 0), (7, 7), (123, 123), (124, 123), (125, 123), (256, 123)]
)
def test_no_exit_code_looks_like_success_or_like_the_bench_s_own(model, tmp_path, word, status):
    words = [*rv.li(5, CONSOLE), *rv.li(6, word), rv.store("sw", 6, 5, EXIT), rv.jal(0, 0)]
    path = tmp_path / "program.elf"
    path.write_bytes(rv.elf({BASE: struct.pack(f"<{len(words)}I", *words)}, BASE))
    run = model.run(path, *MEMORY)
    assert (run.end, run.code, run.status) == (RunEnd.EXIT, word, status)


@pytest.mark.parametrize(
    "memory",
    ["0:0x1002", "2:0x1000", "0x100000000:0x1000", "0:0x100000000", "0xfffff000:0x1004"],
)
def test_a_memory_that_can_t_be_is_refused(model, program, memory):
    message = f"memory must be multiples of 4 below 2\\*\\*32 and not go beyond, not {memory}"
    with pytest.raises(BenchError, match=message):
        model.run(program, *MEMORY, "--memory", memory)


@pytest.mark.parametrize("memory", ["0:0", "0xfffff000:0x1000"])
def test_a_memory_may_be_empty_or_end_where_addresses_do(model, program, memory):
    assert model.run(program, *MEMORY, "--memory", memory).end is RunEnd.EXIT


def test_a_bench_whose_caller_was_killed_ends(model, tmp_path):
    path = tmp_path / "endless.elf"
    path.write_bytes(rv.elf({BASE: struct.pack("<I", rv.jal(0, 0))}, BASE))
    command = [model.program, *MEMORY, "--cycles", str(1 << 40), path]
    # It says what its child is called, and waits for it.
    script = (
        "import subprocess, sys;"
        "child = subprocess.Popen(sys.argv[1:]); print(child.pid, flush=True); child.wait()"
    )
    caller = subprocess.Popen(
        [sys.executable, "-c", script, *command], stdout=subprocess.PIPE, text=True
    )
    assert caller.stdout is not None
    child = int(caller.stdout.readline())

    def until(condition: Callable[[list[str]], bool]) -> None:
        """Until that is true of its state, used time and so on; of one that is not there, too."""
        for _ in range(600):
            try:
                stat = Path(f"/proc/{child}/stat").read_text()
            except FileNotFoundError:
                return
            if condition(stat.rpartition(")")[2].split()):
                return
            time.sleep(0.1)
        os.kill(child, signal.SIGKILL)
        pytest.fail("it does not begin, or goes on")

    until(lambda stat: int(stat[11]) > 10)
    caller.kill()
    caller.communicate()
    # Whoever has it now may not have taken its status yet.
    until(lambda stat: stat[0] == "Z")
