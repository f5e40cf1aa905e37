"""Local memories that hold a program from configuration on."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from cocotb_filled_memory import SIZE_BYTES, content
from cocotb_run import Outcomes, build_model, cocotb_tests, report
from csr_block import MODULE, run_module

from tierv.rtl.emit import to_verilog
from tierv.sim.paths import build_root, locked
from tierv.soc.cpu.filled import LANE, FilledMemory, hex_files

COLUMNS = {"itcm": 2, "dtcm": 1}
SIZES = dict.fromkeys(COLUMNS, SIZE_BYTES)


def build(name: str) -> Path:
    folder = build_root() / "cocotb-blocks" / f"filled-{name}"
    with locked(folder):
        source = folder / f"{MODULE}.v"
        memory = FilledMemory(name, SIZE_BYTES)
        source.write_text(to_verilog(memory, MODULE) + LANE.read_text())
        for file, text in hex_files(SIZES, {name: content()}).items():
            (folder / file).write_text(text)
        build_model([source], MODULE, folder)
    return folder


@cache
def outcomes(name: str) -> Outcomes:
    variables = {"TIERV_COLUMNS": str(COLUMNS[name])}
    return run_module("cocotb_filled_memory", build(name), variables)


@pytest.mark.parametrize("test", cocotb_tests("cocotb_filled_memory"))
@pytest.mark.parametrize("name", COLUMNS)
def test_a_filled_memory(name, test):
    report(outcomes(name), "cocotb_filled_memory", test)


def test_files_together_hold_the_image():
    files = hex_files(SIZES, {"itcm": bytes(range(16)), "dtcm": b"\x11\x22\x33"})
    assert len(files) == 12
    assert files["itcm_0_0.init"].split()[:3] == ["00", "08", "00"]
    assert files["itcm_1_3.init"].split()[:3] == ["07", "0f", "00"]
    assert [files[f"dtcm_0_{n}.init"].split()[0] for n in range(4)] == ["11", "22", "33", "00"]


def test_a_program_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="dtcm must hold at most 1024 bytes, not 1025"):
        hex_files(SIZES, {"dtcm": bytes(1025)})
