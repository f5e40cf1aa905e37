"""The Verilog that is written by hand, as Verilator sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from verilog_lint import check_verilog

import tierv.soc.cpu
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
    check_verilog(top, sources, STYLE, parameters)
