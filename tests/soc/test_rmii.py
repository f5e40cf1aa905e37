"""LiteEth's MAC on RMII."""

from __future__ import annotations

from cocotb_run import cocotb_tests, report
from csr_block import build_block, run_module
from liteeth.mac.core import LiteEthMACCore
from litex.gen import LiteXModule
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
    layout = [("valid", 1), ("ready", 1), ("last", 1), ("data", 32), ("last_be", 4)]
    sink = Record(layout, name="sink")
    source = Record([*layout, ("error", 4)], name="source")
    wire = Record([("en", 1), ("flip", 1)], name="wire")
    block.comb += [
        clocks.ref_clk.eq(ClockSignal()),
        pads.crs_dv.eq(pads.tx_en),
        pads.rx_data.eq(pads.tx_data ^ wire.flip),
        wire.en.eq(pads.tx_en),
        sink.ready.eq(core.sink.ready),
        core.source.ready.eq(source.ready),
    ]
    for name in ("valid", "last", "data", "last_be"):
        block.comb += getattr(core.sink, name).eq(getattr(sink, name))
    for name in ("valid", "last", "data", "last_be", "error"):
        block.comb += getattr(source, name).eq(getattr(core.source, name))
    return block, [sink, source, wire]


def test_frames_come_back():
    outcomes = run_module("cocotb_rmii", build_block("rmii", make_loop))
    for test in cocotb_tests("cocotb_rmii"):
        report(outcomes, "cocotb_rmii", test)
