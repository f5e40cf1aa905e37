"""The cocotb tests of the core: every test of the modules ``cocotb_*`` is an item here."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import cocotb_cores
import pytest
from cocotb_cores import build_core, run_module
from cocotb_run import Outcomes, cocotb_items, report

#: Each module, and the cores that it runs on.
MODULES = {
    "cocotb_instructions": ("three",),
    "cocotb_bits": ("bits",),
    "cocotb_bypass": ("three",),
    "cocotb_timing": ("three",),
    "cocotb_prediction": ("three",),
    "cocotb_branches": ("three",),
    "cocotb_bus_timing": ("three",),
    "cocotb_switches": ("three", "eight"),
    "cocotb_wfi": ("three",),
    "cocotb_csrs": ("three", "one"),
    "cocotb_counters": ("three",),
    "cocotb_lines": ("three", "eight"),
    "cocotb_traps": ("three", "eight"),
    "cocotb_tiers": ("three",),
    "cocotb_between_tiers": ("three",),
    "cocotb_bus_unit": ("three",),
    "cocotb_bus_fetches": ("three",),
    "cocotb_bus_errors": ("three",),
    "cocotb_changed_code": ("three",),
    "cocotb_caches": ("bits",),
    "cocotb_debug": ("bits",),
    "cocotb_debug_halts": ("bits",),
    "cocotb_debug_caches": ("bits",),
}
#: Cores of so many tiers are in the quick tests of lock-step, too.
SLOW = ("one", "eight")


@cache
def outcomes(module: str, core: str) -> Outcomes:
    """Results of a module, which runs once."""
    return run_module(module, core)


@pytest.mark.parametrize(("module", "core", "test"), cocotb_items(MODULES, SLOW))
def test_core(module: str, core: str, test: str) -> None:
    report(outcomes(module, core), module, test)


def test_another_verilator_builds_a_core_again(monkeypatch, tmp_path):
    built: list[Path] = []
    source = tmp_path / "core.v"
    source.touch()
    monkeypatch.setattr(cocotb_cores, "build_root", lambda: tmp_path)
    monkeypatch.setattr(
        cocotb_cores, "build_model", lambda _sources, _module, folder, _flags: built.append(folder)
    )
    for version in ("5.1", "5.1", "5.2"):
        monkeypatch.setattr(cocotb_cores.verilator, "version", lambda version=version: version)
        build_core("one", source)
    assert len(set(built)) == len(built) == 2
