"""The firmware's make file: what it compiles again."""

from __future__ import annotations

import subprocess

import pytest

from tierv.sim.firmware import FIRMWARE, compile_firmware


@pytest.fixture(scope="module")
def program(model, tmp_path_factory):
    return compile_firmware("switch", model.params.soc, model.include, tmp_path_factory.mktemp("a"))


def make(program, model, *words: str) -> int:
    """Status of make: 1 if with ``-q`` there is something to do."""
    fixed = [f"SOC={model.include}", f"BUILD={program.path.parent}", "APP=switch", "CONTEXT=single"]
    command = ["make", "-s", "-C", FIRMWARE, *fixed, *words]
    return subprocess.run(command, capture_output=True, check=False).returncode


def test_nothing_is_compiled_again_without_a_change(model, program):
    assert make(program, model, "-q") == 0


def test_other_flags_compile_again(model, program):
    assert make(program, model, "DEFINES=-DREPORT_OTHER=1", "-q") == 1
    assert make(program, model, "DEFINES=-DREPORT_OTHER=1") == 0
    assert make(program, model, "DEFINES=-DREPORT_OTHER=1", "-q") == 0
    assert make(program, model, "-q") == 1
