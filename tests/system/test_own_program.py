"""A program of one's own with the firmware's start-up code and linker script."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

import pytest
from firmware_make import make_switch
from system_builds import make_model

from tierv.sim.elf import Program
from tierv.sim.firmware import Context
from tierv.sim.run import Simulation

SOURCE = Path(__file__).resolve().parent / "own_program.c"


def make(model, context: Context, folder: Path, *defines: str) -> subprocess.CompletedProcess:
    """Builds it in place of the benchmark ``switch``."""
    sources = f"boot/start.S boot/{context}.c report.c {SOURCE}"
    words = (f"SOURCES={sources}", f"DEFINES={' '.join(defines)}")
    return make_switch(model, folder, context, *words)


@pytest.mark.parametrize("build", ["tiers", "single", "polled"])
def test_what_c_keeps_for_a_thread_has_its_place_in_every_tier(build, tmp_path):
    model, context = make_model(build)
    done = make(model, context, tmp_path)
    assert done.returncode == 0, done.stderr
    result = Simulation(model).run(Program(tmp_path / "switch.elf"), cycles=100_000)
    assert result.exit_code == 0
    wanted = [errno.ERANGE, errno.ERANGE, 0x11223344, 99, 0, 0, 0]
    assert [result.results[number] for number in range(7)] == wanted


def test_a_constructor_is_refused_for_nobody_would_call_it(tmp_path):
    model, context = make_model("tiers")
    done = make(model, context, tmp_path, "-DWITH_CONSTRUCTOR")
    assert done.returncode != 0
    assert "nobody calls constructors" in done.stderr
