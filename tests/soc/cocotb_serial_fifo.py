"""The FIFOs of a serial port: levels, bursts, overrun, stamps and what they lose."""

from __future__ import annotations

import os
import random

import cocotb
from cocotb.triggers import Timer
from serial_bench import (
    BREAK,
    OVERRUN,
    PARITY,
    RESET_CYCLES,
    SYS_CLK_HZ,
    Form,
    Line,
    SerialBench,
    tuning,
)

from tierv.soc.serial import SerialParams

RECEIVE_DEPTH = int(os.environ["SERIAL_RECEIVE_DEPTH"])
TRANSMIT_DEPTH = int(os.environ["SERIAL_TRANSMIT_DEPTH"])
FAST = Form(baud=SYS_CLK_HZ / 8)
OVERRUN_STATUS = 1 << 7
ASSERT_RTS = 1 << 4


async def send(bench: SerialBench, values, form: Form = FAST) -> None:
    """Characters, and the time until the last one is in the FIFO."""
    await bench.send(values, form)
    await bench.step(8)


async def read_burst(bench: SerialBench) -> list[tuple[int, int]]:
    """Characters and flags of one read."""
    word = await bench.read("receive_burst")
    count, flags = word >> 24 & 3, word >> 26
    assert not flags or count == 1
    return [(word >> 8 * index & 0xFF, flags) for index in range(count)]


@cocotb.test()
async def a_full_fifo_loses_the_new_characters_counts_and_flags_them(dut):
    bench = await SerialBench(dut).begin(FAST)
    values = [index & 0xFF for index in range(RECEIVE_DEPTH + 3)]
    await send(bench, values)
    assert await bench.read("level") & 0xFFFF == RECEIVE_DEPTH
    assert await bench.read("status") & OVERRUN_STATUS
    assert await bench.counters() == {"received": RECEIVE_DEPTH, "overruns": 3}
    assert await bench.receive() == (0, 0)
    await send(bench, [0xAB])
    assert not await bench.read("status") & OVERRUN_STATUS
    rest = [(value, 0) for value in values[1:RECEIVE_DEPTH]]
    assert await bench.receive_all() == [*rest, (0xAB, OVERRUN)]
    await send(bench, [0xCD])
    assert await bench.receive_all() == [(0xCD, 0)]


@cocotb.test()
async def bursts_and_single_reads_give_every_character_in_order(dut):
    random.seed(4)
    form = FAST.changed(parity="E")
    bench = await SerialBench(dut).begin(form)
    wrong = form.changed(parity="O")
    expected: list[tuple[int, int]] = []
    for _ in range(60):
        for _ in range(random.randrange(1, 6)):
            if len(expected) == RECEIVE_DEPTH:
                break
            value = random.randrange(256)
            bad = random.random() < 0.2
            await send(bench, [value], wrong if bad else form)
            expected.append((value, PARITY if bad else 0))
        await bench.step(4)
        assert await bench.read("level") & 0xFFFF == len(expected)
        for _ in range(random.randrange(4)):
            if random.random() < 0.6:
                found = await read_burst(bench)
                most = 0
                while most < min(3, len(expected)) and not expected[most][1]:
                    most += 1
                assert len(found) == max(most, min(1, len(expected)))
            else:
                one = await bench.receive()
                found = [] if one is None else [one]
                assert len(found) == min(1, len(expected))
            assert found == expected[: len(found)]
            del expected[: len(found)]


@cocotb.test()
async def characters_pass_while_they_come(dut):
    """Reads at any moment of the arrival of others lose nothing and double nothing."""
    random.seed(5)
    bench = await SerialBench(dut).begin(FAST)
    values = [random.randrange(256) for _ in range(120)]
    task = cocotb.start_soon(bench.send(values, FAST))
    found = []
    while not task.done() or await bench.read("level") & 0xFFFF:
        found += await read_burst(bench)
        await bench.step(random.randrange(1, 60 if RECEIVE_DEPTH > 1 else 20))
    assert found == [(value, 0) for value in values]


@cocotb.test()
async def a_stamp_is_the_cycle_of_the_start_bit(dut):
    random.seed(6)
    bench = await SerialBench(dut).begin(FAST)
    for _ in range(12):
        count = random.randrange(1, min(RECEIVE_DEPTH, 12) + 1)
        starts = []
        for _ in range(count):
            await bench.step(random.randrange(1, 30))
            starts.append(bench.cycle)
            await send(bench, [random.randrange(256)])
        await bench.step(8)
        while starts:
            if random.random() < 0.5:
                taken = len(await read_burst(bench))
            else:
                taken = int(await bench.receive() is not None)
            assert await bench.read("stamp") == starts[taken - 1]
            del starts[:taken]


@cocotb.test()
async def the_stamp_of_a_break_is_the_cycle_in_which_the_line_fell(dut):
    form = Form()
    bench = await SerialBench(dut).begin(form)
    await bench.step(7)
    start = bench.cycle
    await bench.send_break(14, form)
    assert await bench.receive() == (0, BREAK)
    assert await bench.read("stamp") == start
    # A spike within it is none.
    start = bench.cycle
    for eighths, level in ((48, 0), (1, 1), (64, 0), (16, 1)):
        await bench.drive([level], eighths / 8 * form.bit_ps)
    assert await bench.receive() == (0, BREAK)
    assert await bench.read("stamp") == start
    # In the middle of a character.
    await bench.step(100)
    start = bench.cycle
    await bench.drive([0, 1, 1], form.bit_ps)
    fall = bench.cycle
    await bench.send_break(14, form)
    if RECEIVE_DEPTH > 1:
        await bench.receive()
        assert await bench.read("stamp") == start
        assert await bench.receive() == (0, BREAK)
        assert await bench.read("stamp") == fall


@cocotb.test()
async def the_count_of_cycles_is_that_of_the_stamps(dut):
    bench = await SerialBench(dut).begin(FAST)
    for wait in (11, 20, 60, 150, 400, 1000, 5000):
        await bench.step(wait)
        now = bench.cycle
        assert await bench.read("cycle") == now


@cocotb.test()
async def a_full_transmit_fifo_loses_what_is_written_and_counts_it(dut):
    form = Form(baud=SYS_CLK_HZ / 64)
    bench = await SerialBench(dut).begin(form)
    line = Line(bench)
    # One is in the transmitter.
    await bench.write("transmit", 0xF0)
    assert await bench.read("level") >> 16 == TRANSMIT_DEPTH
    written = 0
    while written < TRANSMIT_DEPTH:
        count = min(3, TRANSMIT_DEPTH - written)
        bytes_ = sum((written + index & 0xFF) << 8 * index for index in range(count))
        await bench.write("transmit", bytes_ | (count - 1) << 24)
        written += count
        if TRANSMIT_DEPTH <= 16:
            assert await bench.read("level") >> 16 == TRANSMIT_DEPTH - written
    if TRANSMIT_DEPTH > 16:
        assert await bench.read("level") >> 16 == 0
        return
    await bench.write("transmit", 0xDEAD12 | 2 << 24)
    assert (await bench.counters())["lost"] == 3
    while not await bench.read("status") & 1:
        await bench.step(64)
    sent = [levels for _, levels in line.characters(form)]
    expected = [0xF0, *(index & 0xFF for index in range(TRANSMIT_DEPTH))]
    assert sent == [form.levels(value) for value in expected]


@cocotb.test()
async def what_the_next_write_leaves_no_time_to_enter_the_fifo_is_counted(dut):
    bench = await SerialBench(dut).begin(FAST)
    line = Line(bench)
    for first in range(0, 60, 3):
        word = sum(first + index << 8 * index for index in range(3))
        await bench.write("transmit", word | 2 << 24, cycles=2)
    while not await bench.read("status") & 1:
        await bench.step(64)
    sent = [levels for _, levels in line.characters(FAST)]
    entered = [value for value in range(60) if FAST.levels(value) in sent]
    assert sent == [FAST.levels(value) for value in entered]
    counters = await bench.counters()
    assert counters == {"transmitted": len(sent), "lost": 60 - len(sent)}
    if TRANSMIT_DEPTH > 60:
        assert entered == [value for value in range(60) if value % 3 < 2 or value == 59]


@cocotb.test()
async def a_purge_empties_one_direction(dut):
    form = Form(baud=SYS_CLK_HZ / 64)
    bench = await SerialBench(dut).begin(FAST)
    await send(bench, [1] * min(RECEIVE_DEPTH, 5))
    await bench.set_form(form)
    line = Line(bench)
    for _ in range(min(TRANSMIT_DEPTH, 4) + 1):
        await bench.write("transmit", 2)
    await bench.write("purge", 1)
    assert await bench.read("level") & 0xFFFF == 0
    assert await bench.receive() is None
    assert await bench.read("level") >> 16 == TRANSMIT_DEPTH - min(TRANSMIT_DEPTH, 4)
    await bench.write("purge", 2)
    assert await bench.read("level") >> 16 == TRANSMIT_DEPTH
    await bench.step(64 * 12)
    # What has begun is sent to its end.
    assert len(line.characters(form)) == 1
    await bench.set_form(FAST)
    await send(bench, [7])
    await Timer(100, "ns")
    assert await bench.receive_all() == [(7, 0)]


@cocotb.test()
async def a_limit_makes_the_fifo_as_small_as_one_would_be(dut):
    bench = await SerialBench(dut).begin(FAST)
    for limit in {1, (RECEIVE_DEPTH + 1) // 2, RECEIVE_DEPTH}:
        await bench.write("limit", limit)
        await send(bench, [index & 0xFF for index in range(limit + 2)])
        assert await bench.read("level") & 0xFFFF == limit
        assert (await bench.counters())["overruns"] == 2
        assert len(await bench.receive_all()) == limit


@cocotb.test()
async def a_purge_forgets_the_overrun_and_the_places_of_the_stamps(dut):
    bench = await SerialBench(dut).begin(FAST)
    for values in (range(RECEIVE_DEPTH + 1), range(min(RECEIVE_DEPTH, 3))):
        await send(bench, [index & 0xFF for index in values])
        await bench.receive()
        await bench.write("purge", 1)
        assert not await bench.read("status") & OVERRUN_STATUS
        start = bench.cycle
        await send(bench, [0x5A])
        assert await bench.receive() == (0x5A, 0)
        assert await bench.read("stamp") == start


@cocotb.test()
async def settings_are_read_as_they_were_written_and_begin_as_is_said(dut):
    random.seed(7)
    bench = await SerialBench(dut).begin()
    widths = {
        "ev_enable": 0xF,
        "tuning": 2**29 - 1,
        "format": 0xFF,
        "flow": 0x3F,
        "watermarks": 0x01FF_01FF,
        "flow_levels": 0x01FF_01FF,
        "timeout": 0xFFF,
        "limit": 0x1FF,
    }
    for _ in range(4):
        written = {name: random.getrandbits(32) for name in widths}
        for name, value in written.items():
            await bench.write(name, value)
        for name, value in written.items():
            assert await bench.read(name) == value & widths[name], name
    dut.sys_rst.value = 1
    await bench.step(RESET_CYCLES)
    dut.sys_rst.value = 0
    baud = SerialParams(sys_clk_hz=SYS_CLK_HZ).baud
    expected = {
        "ev_enable": 0,
        "tuning": tuning(baud),
        "format": Form().register,
        "flow": ASSERT_RTS,
        "watermarks": max(1, RECEIVE_DEPTH // 2) | TRANSMIT_DEPTH // 2 << 16,
        "flow_levels": max(1, RECEIVE_DEPTH * 3 // 4) | RECEIVE_DEPTH // 4 << 16,
        "timeout": 40,
        "limit": RECEIVE_DEPTH,
    }
    assert {name: await bench.read(name) for name in widths} == expected
