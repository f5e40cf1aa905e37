"""LiteEth's MAC on RMII."""

from __future__ import annotations

from cocotb_run import cocotb_tests, report
from csr_block import build_block, run_module
from liteeth.mac.core import LiteEthMACCore
from litex.gen import LiteXModule
from mac_stream import stream_pins
from migen import ClockSignal, Record, Signal

from tierv.soc.ethernet import RmiiPhy

#: 96 bit times, two bits a cycle.
GAP_CYCLES = 48


def make_loop() -> tuple[LiteXModule, list[Signal | Record]]:
    """A MAC whose PHY interface gets what it sends, and its pins."""
    block = LiteXModule()
    clocks = Record([("ref_clk", 1)])
    pads = Record([("tx_en", 1), ("tx_data", 2), ("crs_dv", 1), ("rx_data", 2)])
    block.phy = RmiiPhy(clocks, pads, with_hw_init_reset=False)
    block.core = core = LiteEthMACCore(phy=block.phy, dw=32)
    wire = Record([("en", 1), ("flip", 1)], name="wire")
    block.comb += [
        clocks.ref_clk.eq(ClockSignal()),
        pads.crs_dv.eq(pads.tx_en),
        pads.rx_data.eq(pads.tx_data ^ wire.flip),
        wire.en.eq(pads.tx_en),
    ]
    return block, [*stream_pins(block, core.sink, core.source), wire]


def test_frames_come_back():
    outcomes = run_module("cocotb_rmii", build_block("rmii", make_loop))
    for test in cocotb_tests("cocotb_rmii"):
        report(outcomes, "cocotb_rmii", test)
