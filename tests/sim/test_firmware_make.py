"""The firmware's make file: what it compiles again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from firmware_make import make_switch

from tierv.sim.firmware import CC, Context, compile_firmware


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


def put_before_the_path(folder: Path, program: str, script: str, monkeypatch) -> None:
    """Have a script be found as ``program``, which it finds as ``real``."""
    path = folder / program
    path.write_text(f"#!/bin/sh\nreal={shutil.which(program)}\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_another_compiler_compiles_again(model, program, monkeypatch, tmp_path):
    assert make(program, model) == 0
    script = 'if [ "$1" = --version ]; then echo another; else exec $real "$@"; fi'
    put_before_the_path(tmp_path, CC, script, monkeypatch)
    assert make(program, model, "-q") == 1


def test_what_a_killed_compiler_has_begun_does_not_count_as_built(model, monkeypatch, tmp_path):
    build, begun = tmp_path / "build", []
    script = """\
for last; do [ "$before" = -o ] && made=$last; before=$last; done
case "$made" in
*/{name}*)
    : >"$made"
    of=$PPID
    while [ "$(cat /proc/$of/comm)" != make ]; do read -r _ _ _ of _ </proc/$of/stat; done
    kill -9 $of $PPID $$ ;;
esac
exec $real "$@"
"""
    for name in ("report.c.o", "link.ld", "switch.elf"):
        with monkeypatch.context() as patch:
            put_before_the_path(tmp_path, CC, script.format(name=name), patch)
            killed = make_switch(model, build, Context.SINGLE)
        assert killed.returncode != 0
        begun += [path.name for path in build.rglob(f"{name}*") if path.suffix == ".partial"]
        assert not list(build.rglob(name))
    assert begun == ["report.c.o.partial", "link.ld.partial", "switch.elf.partial"]
    assert make_switch(model, build, Context.SINGLE).returncode == 0
    assert (build / "switch.elf").stat().st_size
    # What each object depends on is known by its own name.
    words = (build / "report.c.d").read_text().replace("\\\n", "").split()
    assert words[:2] == [f"{build}/report.c.o:", "report.c"]
