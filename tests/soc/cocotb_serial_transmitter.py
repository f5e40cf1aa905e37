"""The transmitter of a serial port: forms, speeds and breaks at its pin."""

from __future__ import annotations

import itertools
import random

import cocotb
from cocotb.triggers import Edge
from serial_bench import BREAK, PERIOD_PS, SYS_CLK_HZ, USUAL, Form, Line, SerialBench

BREAK_BIT = 1 << 31
LOOP_BACK = 1 << 6
HOLD_BREAK = 1 << 7
IDLE = 1
CTS = 1


async def until_idle(bench: SerialBench) -> None:
    while not await bench.read("status") & IDLE:
        await bench.step(10)


@cocotb.test()
async def characters_of_every_form_are_sent_back_to_back(dut):
    random.seed(3)
    bench = await SerialBench(dut).begin()
    for data_bits, parity, stop_bits in itertools.product((5, 6, 7, 8), "NEOMS", (1, 2)):
        form = Form(data_bits=data_bits, parity=parity, stop_bits=stop_bits)
        await bench.set_form(form)
        most = (1 << data_bits) - 1
        values = [0, most, 0x55 & most, *random.choices(range(most + 1), k=5)]
        line = Line(bench)
        for value in values:
            await bench.write("transmit", value)
        await until_idle(bench)
        sent = line.characters(form)
        assert [levels for _, levels in sent] == [form.levels(value) for value in values], form
        length = len(form.levels(0)) * 16
        assert [cycle - sent[0][0] for cycle, _ in sent] == [n * length for n in range(8)]


@cocotb.test()
async def no_edge_is_off_by_a_cycle_however_many_there_are(dut):
    for baud in (921_600, 1_843_200, 3_000_000, 12_500_000):
        form = Form(baud=baud)
        bench = await SerialBench(dut).begin(form)
        line = Line(bench)
        for _ in range(16):
            await bench.write("transmit", 0x55)
        await until_idle(bench)
        bit = form.bit_ps / PERIOD_PS
        edges = [cycle - line.changes[0][0] for cycle, _ in line.changes]
        # The last one is the rise to the last stop bit.
        assert len(edges) == 160
        for number, edge in enumerate(edges):
            assert 0 <= edge - number * bit < 1.01, (baud, number)


@cocotb.test()
async def every_edge_is_in_its_cycle_at_any_speed(dut):
    rng = random.Random(4)
    bench = await SerialBench(dut).begin()
    for bits in (29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19):
        number = rng.randrange(1 << bits - 1, 1 << bits) | 1
        await bench.write("tuning", number)
        line = Line(bench)
        await bench.write("transmit", 0x55)
        # Slow ones are not waited for to the end.
        edges = 10 if bits > 21 else 2
        while len(line.changes) < edges:
            await Edge(bench.tx)
            await bench.step()
        fall = line.changes[0][0]
        expected = [-(-(8 * edge << 29) // number) for edge in range(edges)]
        assert [cycle - fall for cycle, _ in line.changes] == expected, number
        dut.sys_rst.value = 1
        await bench.step(2)
        dut.sys_rst.value = 0


@cocotb.test()
async def the_line_falls_soon_after_the_write(dut):
    bench = await SerialBench(dut).begin()
    line = Line(bench)
    start = bench.cycle
    await bench.write("transmit", 0x41)
    await bench.step(10)
    assert line.changes == [(start + 3, 0)]


@cocotb.test()
async def three_characters_go_with_one_write(dut):
    bench = await SerialBench(dut).begin()
    line = Line(bench)
    for word in (0x030201 | 2 << 24, 0x0504 | 1 << 24, 0x06, 0x090807 | 2 << 24):
        await bench.write("transmit", word)
    await until_idle(bench)
    assert [levels for _, levels in line.characters(USUAL)] == [
        USUAL.levels(value) for value in range(1, 10)
    ]
    assert await bench.counters() == {"transmitted": 9}


@cocotb.test()
async def a_break_of_any_length_is_sent_in_its_place(dut):
    bench = await SerialBench(dut).begin()
    for bits in (1, 9, 13, 26, 255):
        for stop_bits in (1, 2):
            await bench.set_form(USUAL.changed(stop_bits=stop_bits))
            line = Line(bench)
            await bench.write("transmit", 0xFF)
            await bench.write("transmit", BREAK_BIT | bits)
            await bench.write("transmit", 0x55)
            await until_idle(bench)
            first = (9 + stop_bits) * 16
            start = line.changes[0][0]
            changes = [(cycle - start, level) for cycle, level in line.changes]
            assert changes[:2] == [(0, 0), (16, 1)]
            assert changes[2:5] == [
                (first, 0),
                (first + bits * 16, 1),
                (first + (bits + stop_bits) * 16, 0),
            ]
            assert await bench.counters() == {"transmitted": 2}


@cocotb.test()
async def a_break_can_be_held(dut):
    bench = await SerialBench(dut).begin()
    line = Line(bench)
    await bench.write("format", USUAL.register | HOLD_BREAK)
    await bench.step(1000)
    await bench.write("format", USUAL.register)
    (fall, low), (rise, high) = line.changes
    assert (low, high) == (0, 1)
    assert rise - fall == 1003


@cocotb.test()
async def loop_back_gives_the_receiver_what_is_sent_and_the_pin_stays_high(dut):
    bench = await SerialBench(dut).begin()
    line = Line(bench)
    await bench.write("format", USUAL.register | LOOP_BACK)
    bench.rx.value = 0
    for value in (0x12, 0x34, BREAK_BIT | 13, 0x56):
        await bench.write("transmit", value)
    await until_idle(bench)
    await bench.step(32)
    assert await bench.receive_all() == [(0x12, 0), (0x34, 0), (0, BREAK), (0x56, 0)]
    assert line.changes == []


@cocotb.test()
async def idle_is_when_the_last_stop_bit_is_over(dut):
    bench = await SerialBench(dut).begin(ev_enable=4)
    assert int(bench.irq.value) == 1
    for stop_bits in (1, 2):
        await bench.set_form(USUAL.changed(stop_bits=stop_bits))
        line = Line(bench)
        await bench.write("transmit", 0x21)
        assert int(bench.irq.value) == 0
        while not int(bench.irq.value):
            await bench.step()
        assert bench.cycle - line.changes[0][0] == (9 + stop_bits) * 16


@cocotb.test()
async def all_that_is_lost_is_counted_also_while_much_else_happens(dut):
    form = Form(baud=SYS_CLK_HZ / 8, parity="E")
    bench = await SerialBench(dut).begin(form, flow=CTS)
    bench.cts_n.value = 1
    for _ in range(6):
        await bench.write("transmit", 2 << 24)
    await bench.counters()
    bad = [*form.changed(parity="O").levels(0x21)[:-1], 0, 1, 1]
    task = cocotb.start_soon(bench.drive(bad * 8, form.bit_ps))
    written = 0
    while not task.done():
        await bench.write("transmit", 2 << 24)
        written += 3
    await bench.step(50)
    counts = {"received": 8, "framing": 8, "parity": 8, "lost": written}
    assert await bench.counters() == counts


@cocotb.test()
async def both_directions_go_on_at_once(dut):
    form = Form(baud=SYS_CLK_HZ / 10)
    bench = await SerialBench(dut).begin(form)
    line = Line(bench)
    values = list(range(100, 112))
    for value in values:
        await bench.write("transmit", value ^ 0xFF)
    await bench.send(values, form)
    await until_idle(bench)
    assert await bench.receive_all() == [(value, 0) for value in values]
    assert [levels for _, levels in line.characters(form)] == [
        form.levels(value ^ 0xFF) for value in values
    ]
