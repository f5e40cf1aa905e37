"""Verilator's run-time library, and when the cores' Verilog is made again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tierv.rtl.params import CoreParams
from tierv.sim import core_model, verilator


@pytest.fixture
def root(monkeypatch, tmp_path):
    monkeypatch.setattr(verilator, "verilator_root", lambda: tmp_path)
    return tmp_path


def test_a_library_of_which_the_compiler_was_killed_is_compiled_again(root, monkeypatch):
    def run(command, log, cwd):
        assert log.name in ("verilated.log", "verilated_threads.log")
        (cwd / command[command.index("-o") + 1]).touch()
        names = [path.name for path in cwd.iterdir()]
        assert not any(name.endswith(".o") for name in names), names

    monkeypatch.setattr(verilator, "run_logged", run)
    objects = verilator.library(None)
    assert [path.name for path in objects] == ["verilated.o", "verilated_threads.o"]
    assert all(path.exists() for path in objects)
    assert not list(objects[0].parent.glob("*.partial"))


def test_a_core_is_named_by_the_sources_that_were_imported(monkeypatch, tmp_path):
    monkeypatch.setattr(core_model, "build_root", lambda: tmp_path / "build")
    monkeypatch.setattr(core_model, "to_verilog", lambda *_, **_more: "module core;")

    class Part:
        def __init__(self, params):
            pass

    def verilog():
        return core_model.core_verilog(Part, CoreParams(), "core")

    before = verilog()
    edited = SimpleNamespace(rglob=lambda _pattern: [])
    with monkeypatch.context() as patch:
        patch.setattr(core_model, "RTL", edited)
        assert verilog() == before
    monkeypatch.setattr(core_model, "_RTL_DIGEST", "of another process")
    assert verilog() != before
