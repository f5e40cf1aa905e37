"""What the core's parameters cost: the table of the manual."""

from __future__ import annotations

import json

import pytest

from tierv.rtl.document import MANUAL
from tierv.sim.synthesis import options
from tierv.sim.synthesis.cells import ecp5_counts


def test_cells_of_a_netlist_are_counted_by_what_they_fill():
    types = {"LUT4": 5, "CCU2C": 2, "TRELLIS_DPR16X4": 3, "TRELLIS_FF": 7, "$scopeinfo": 9}
    assert ecp5_counts(types) == {"COMB": 5 + 4 + 12, "RAMW": 3, "FF": 7}


def test_options_are_told_as_differences_and_the_debug_module_as_it_is():
    def row(design: str, *cells: int) -> dict:
        return {"design": design, **dict(zip(options.COLUMNS, cells, strict=True))}

    rows = [
        row("core", 5000, 100, 2000, 3, 4),
        row("smaller", 4990, 100, 2001, 3, 4),
        row("larger", 6100, 100, 2000, 5, 4),
        row("debug", 700, 0, 300, 0, 0),
    ]
    kept = {"config": {"tools": {"yosys": "1", "nextpnr": "2"}}, "rows": rows}
    assert options.table(kept).splitlines() == [
        "| | COMB | RAMW | FF | EBR | MULT |",
        "|---|---:|---:|---:|---:|---:|",
        "| core | 5,000 | 100 | 2,000 | 3 | 4 |",
        "| smaller | -10 | | +1 | | |",
        "| larger | +1,100 | | | +2 | |",
        "| debug | +700 | | +300 | | |",
        "",
        "yosys 1, nextpnr 2.",
    ]


def test_the_manual_has_the_costs_that_are_kept():
    assert options.table(json.loads(options.GOLDEN.read_text())) in MANUAL.read_text()


@pytest.mark.slow
def test_each_option_makes_another_core():
    first, *others, debug = options.subjects()
    assert len({subject.verilog for subject in (first, *others)}) == len(others) + 1
    assert f"module {debug.module}" in debug.verilog
