"""RMII looped back: what a MAC sends it gets, right or wrong; between frames the wire is idle."""

from __future__ import annotations

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from test_rmii import GAP_CYCLES

LENGTHS = (60, 61, 62, 63, 64, 100, 1513, 1514)
#: Every third frame gets a wrong bit in this cycle.
WRONG_CYCLE = 150


def words(frame: bytes) -> list[tuple[int, int, int]]:
    """Data, whether it is the last, and which byte of it is."""
    found = []
    for at in range(0, len(frame), 4):
        part = frame[at : at + 4]
        last = at + 4 >= len(frame)
        data = int.from_bytes(part.ljust(4, b"\0"), "little")
        found.append((data, int(last), 1 << len(part) - 1 if last else 0))
    return found


@cocotb.test()
async def frames_of_every_end_come_back_and_wrong_ones_are_told(dut):
    rng = random.Random(5)
    frames = [rng.randbytes(length) for length in LENGTHS]
    waiting = [word for frame in frames for word in words(frame)]
    dut.sink_valid.value = dut.wire_flip.value = 0
    dut.source_ready.value = 1
    dut.sys_rst.value = 1
    cocotb.start_soon(Clock(dut.sys_clk, 20, "ns").start())
    for _ in range(10):
        await FallingEdge(dut.sys_clk)
    dut.sys_rst.value = 0
    received, wrong, part = [], [], bytearray()
    gaps, idle, busy = [], 0, 0
    for _ in range(60_000):
        await FallingEdge(dut.sys_clk)
        if dut.sink_valid.value and dut.sink_ready.value:
            waiting.pop(0)
        dut.sink_valid.value = int(bool(waiting))
        if waiting:
            dut.sink_data.value, dut.sink_last.value, dut.sink_last_be.value = waiting[0]
        if dut.wire_en.value:
            gaps += [idle] if idle else []
            idle, busy = 0, busy + 1
        else:
            idle, busy = idle + 1, 0
        dut.wire_flip.value = int(busy == WRONG_CYCLE and len(gaps) % 3 == 0)
        if dut.source_valid.value:
            data = int(dut.source_data.value).to_bytes(4, "little")
            if dut.source_last.value:
                wrong.append(bool(dut.source_error.value))
                part += data[: int(dut.source_last_be.value).bit_length()]
                received.append(bytes(part))
                part.clear()
            else:
                part += data
        if len(received) == len(frames):
            break
    assert wrong == [number % 3 == 2 for number in range(len(frames))]
    for is_wrong, got, sent in zip(wrong, received, frames, strict=True):
        assert (got != sent) == is_wrong
    assert len(gaps) == len(frames)
    assert min(gaps[1:]) >= GAP_CYCLES
