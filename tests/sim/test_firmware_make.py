"""The firmware's make file: what it compiles again."""

from __future__ import annotations

import pytest
from firmware_make import make_switch

from tierv.sim.firmware import Context, compile_firmware


@pytest.fixture(scope="module")
def program(model, tmp_path_factory):
    return compile_firmware("switch", model.params.soc, model.include, tmp_path_factory.mktemp("a"))


def make(program, model, *words: str) -> int:
    """Status of make: 1 if with ``-q`` there is something to do."""
    return make_switch(model, program.path.parent, Context.SINGLE, *words).returncode


def test_nothing_is_compiled_again_without_a_change(model, program):
    assert make(program, model, "-q") == 0


def test_other_flags_compile_again(model, program):
    assert make(program, model, "DEFINES=-DREPORT_OTHER=1", "-q") == 1
    assert make(program, model, "DEFINES=-DREPORT_OTHER=1") == 0
    assert make(program, model, "DEFINES=-DREPORT_OTHER=1", "-q") == 0
    assert make(program, model, "-q") == 1
