"""The cocotb tests of the core: every test of the modules ``cocotb_*`` is an item here."""

from __future__ import annotations

from functools import cache

import pytest
from cocotb_cores import cocotb_tests, run_module

#: Each module, and the cores that it runs on.
MODULES = {
    "cocotb_instructions": ("three",),
    "cocotb_bits": ("bits",),
    "cocotb_bypass": ("three",),
    "cocotb_timing": ("three",),
    "cocotb_switches": ("three", "eight"),
    "cocotb_wfi": ("three",),
    "cocotb_csrs": ("three", "one"),
    "cocotb_counters": ("three",),
    "cocotb_lines": ("three", "eight"),
    "cocotb_traps": ("three", "eight"),
    "cocotb_tiers": ("three",),
    "cocotb_bus_unit": ("three",),
}
ITEMS = [
    pytest.param(module, core, test, id=f"{core}-{module.removeprefix('cocotb_')}-{test}")
    for module, cores in MODULES.items()
    for core in cores
    for test in cocotb_tests(module)
]


@cache
def outcomes(module: str, core: str) -> dict[str, str | None]:
    """Results of a module, which runs once."""
    return run_module(module, core)


@pytest.mark.parametrize(("module", "core", "test"), ITEMS)
def test_core(module: str, core: str, test: str) -> None:
    results = outcomes(module, core)
    assert test in results, f"{module} ended before {test}"
    if results[test]:
        pytest.fail(results[test], pytrace=False)
