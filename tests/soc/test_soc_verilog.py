"""The Verilog that is written by hand, as Verilator sees it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import tierv.soc.cpu
from tierv.sim.verilator import verilator_env
from tierv.soc.serial import SOURCES

#: Sums are cut to the width of their register, what counts in one cycle only is given to variables,
#: a file's name lacks the prefix of its module, and a register need not have all bits of the bus.
STYLE = ("WIDTHEXPAND", "WIDTHTRUNC", "BLKSEQ", "DECLFILENAME", "UNUSEDSIGNAL")
BYTE_LANE = Path(tierv.soc.cpu.__file__).with_name("byte_lane.v")


@pytest.mark.parametrize(
    ("top", "sources", "parameters"),
    [
        ("tierv_serial_port", SOURCES, {}),
        ("tierv_serial_port", SOURCES, {"STAMPS": 0, "RECEIVE_DEPTH": 1, "RECEIVE_LOG2": 1}),
        ("tierv_byte_lane", [BYTE_LANE], {}),
    ],
    ids=["serial port", "least serial port", "byte lane"],
)
def test_verilator_has_nothing_against_it(top, sources, parameters):
    waived = [f"-Wno-{name}" for name in STYLE]
    values = [f"-G{name}={value}" for name, value in parameters.items()]
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wall", *waived, *values, "--top-module", top, *sources],
        env=os.environ | verilator_env(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]
