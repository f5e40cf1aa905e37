"""RMII looped back: what a MAC sends it gets, right or wrong; between frames the wire is idle."""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from mac_stream import FrameCollector, offer, words_of
from test_rmii import GAP_CYCLES

LENGTHS = (60, 61, 62, 63, 64, 100, 1513, 1514)
#: Every third frame gets a wrong bit in this cycle.
WRONG_CYCLE = 150


@cocotb.test()
async def frames_of_every_end_come_back_and_wrong_ones_are_told(dut):
    rng = random.Random(5)
    frames = [rng.randbytes(length) for length in LENGTHS]
    waiting = [word for frame in frames for word in words_of(frame)]
    dut.sink_valid.value = dut.wire_flip.value = 0
    dut.source_ready.value = 1
    dut.sys_rst.value = 1
    cocotb.start_soon(Clock(dut.sys_clk, 20, "ns").start())
    for _ in range(10):
        await FallingEdge(dut.sys_clk)
    dut.sys_rst.value = 0
    collector, wrong = FrameCollector(), []
    gaps, idle, busy = [], 0, 0
    for _ in range(60_000):
        await FallingEdge(dut.sys_clk)
        if dut.sink_valid.value and dut.sink_ready.value:
            waiting.pop(0)
        dut.sink_valid.value = 0
        if waiting:
            offer(dut, waiting[0])
        if dut.wire_en.value:
            gaps += [idle] if idle else []
            idle, busy = 0, busy + 1
        else:
            idle, busy = idle + 1, 0
        dut.wire_flip.value = int(busy == WRONG_CYCLE and len(gaps) % 3 == 0)
        if dut.source_valid.value and collector.take(dut):
            wrong.append(bool(dut.source_error.value))
        if len(collector.frames) == len(frames):
            break
    assert wrong == [number % 3 == 2 for number in range(len(frames))]
    for is_wrong, got, sent in zip(wrong, collector.frames, frames, strict=True):
        assert (got != sent) == is_wrong
    assert len(gaps) == len(frames)
    assert min(gaps[1:]) >= GAP_CYCLES
