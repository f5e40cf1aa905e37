"""A serial port whose receiver and transmitter share a wire: when the transmitter may begin."""

from __future__ import annotations

import itertools

import cocotb
from cocotb.triggers import FallingEdge
from serial_bench import SYS_CLK_HZ, Form, Line, SerialBench

BIT = 80
FORM = Form(baud=SYS_CLK_HZ / BIT)
#: Bits of the register flow.
TURN = 1 << 5
#: From the pin to the receiver and back to the pin, and the write of a register.
LATENCY = 10


async def share_the_wire(dut) -> None:
    """What is sent is received."""
    while True:
        await FallingEdge(dut.sys_clk)
        dut.pads0_rx.value = int(dut.pads0_tx.value)


async def answer(bench: SerialBench, when: int) -> int:
    """Cycle of an answer that is written at ``when``, both from the end of a received stop bit."""
    line = Line(bench)
    begin = bench.cycle
    end = begin + 10 * BIT
    task = cocotb.start_soon(bench.send([0x55], FORM))
    await bench.until(end + when)
    await bench.write("transmit", 0x0F)
    await task
    await bench.step(12 * BIT)
    return line.changes[0][0] - end


@cocotb.test()
async def an_answer_waits_for_the_end_of_the_stop_bit(dut):
    for when in (-5 * BIT, -BIT, -BIT // 2 + 4, -BIT // 4, -8):
        bench = await SerialBench(dut).begin(FORM, flow=TURN)
        assert 0 <= await answer(bench, when) <= LATENCY, when


@cocotb.test()
async def an_answer_that_comes_later_waits_no_more(dut):
    bench = await SerialBench(dut).begin(FORM, flow=TURN)
    assert 100 <= await answer(bench, 100) <= 100 + LATENCY


@cocotb.test()
async def without_the_setting_nothing_waits(dut):
    bench = await SerialBench(dut).begin(FORM, flow=0)
    assert -BIT // 2 <= await answer(bench, -BIT // 2) <= -BIT // 2 + LATENCY


@cocotb.test()
async def on_a_shared_wire_characters_stay_back_to_back(dut):
    bench = await SerialBench(dut).begin(FORM, flow=TURN)
    cocotb.start_soon(share_the_wire(dut))
    line = Line(bench)
    await bench.write("transmit", 0xC35500 | 2 << 24)
    await bench.write("transmit", 0xFF)
    await bench.step(45 * BIT)
    sent = line.characters(FORM)
    assert [levels for _, levels in sent] == [FORM.levels(v) for v in (0x00, 0x55, 0xC3, 0xFF)]
    for (before, _), (after, _) in itertools.pairwise(sent):
        assert 10 * BIT <= after - before <= 10 * BIT + LATENCY
    assert [value for value, _ in await bench.receive_all()] == [0x00, 0x55, 0xC3, 0xFF]


@cocotb.test()
async def on_a_shared_wire_a_header_has_its_delimiter_of_a_bit(dut):
    bench = await SerialBench(dut).begin(FORM, flow=TURN)
    cocotb.start_soon(share_the_wire(dut))
    line = Line(bench)
    await bench.write("transmit", 13 | 1 << 31)
    await bench.write("transmit", 0x55)
    await bench.step(30 * BIT)
    (fall, _), (rise, _), (start, _) = line.changes[:3]
    assert 0 <= rise - fall - 13 * BIT <= 1
    assert BIT <= start - rise <= BIT + LATENCY


@cocotb.test()
async def a_line_that_is_held_low_is_waited_for(dut):
    bench = await SerialBench(dut).begin(FORM, flow=TURN)
    line = Line(bench)
    cocotb.start_soon(bench.send_break(40, FORM))
    await bench.step(20 * BIT)
    await bench.write("transmit", 0x0F)
    await bench.step(19 * BIT)
    assert not line.changes
    await bench.step(20 * BIT)
    assert line.changes
