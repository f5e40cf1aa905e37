"""The receiver of a serial port: forms, speeds, glitches and breaks at its pin."""

from __future__ import annotations

import itertools
import random

import cocotb
from cocotb.triggers import Timer
from serial_bench import BREAK, FRAMING, PARITY, PERIOD_PS, SYS_CLK_HZ, USUAL, Form, SerialBench

FORMS = [
    Form(data_bits=data_bits, parity=parity, stop_bits=stop_bits)
    for data_bits, parity, stop_bits in itertools.product((5, 6, 7, 8), "NEOMS", (1, 2))
]
#: Cycles in a bit where fractions of it matter.
BIT = 80
FINE = Form(baud=SYS_CLK_HZ / BIT)
#: From the middle of a stop bit on the pin to the event: filter, receiver, FIFO.
EVENT_LATENCY = 6


@cocotb.test()
async def characters_of_every_form_are_received(dut):
    random.seed(1)
    bench = await SerialBench(dut).begin()
    for form in FORMS:
        await bench.set_form(form)
        most = (1 << form.data_bits) - 1
        values = [0, most, 0x55 & most, 0xAA & most, *random.choices(range(most + 1), k=6)]
        await bench.send(values, form)
        assert await bench.receive_all() == [(value, 0) for value in values], form


@cocotb.test()
async def every_byte_is_received_at_the_fastest_speed(dut):
    form = Form(baud=SYS_CLK_HZ / 8)
    bench = await SerialBench(dut).begin(form)
    for first in range(0, 256, 8):
        values = list(range(first, first + 8))
        await bench.send(values, form)
        assert await bench.receive_all() == [(value, 0) for value in values]


@cocotb.test()
async def a_wrong_parity_bit_is_flagged_and_counted(dut):
    opposite = {"E": "O", "O": "E", "M": "S", "S": "M"}
    bench = await SerialBench(dut).begin()
    for parity, other in opposite.items():
        form = Form(parity=parity)
        await bench.set_form(form)
        await bench.send([0x13], form)
        await bench.send([0x13, 0x80], form.changed(parity=other))
        await bench.send([0x80], form)
        flags = [flags for _, flags in await bench.receive_all()]
        assert flags == [0, PARITY, PARITY, 0], parity
        assert await bench.counters() == {"received": 4, "parity": 2}


@cocotb.test()
async def a_low_stop_bit_is_flagged_and_counted_and_the_next_character_is_right(dut):
    bench = await SerialBench(dut).begin()
    for value in (0, 1, 0x80, 0xFF):
        await bench.drive([*USUAL.levels(value)[:-1], 0, 1], USUAL.bit_ps)
        await bench.send([0x5A])
        assert await bench.receive_all() == [(value, FRAMING), (0x5A, 0)]
        assert await bench.counters() == {"received": 2, "framing": 1}


async def right_at(bench: SerialBench, error: float) -> bool:
    """Whether characters at a speed that is wrong by so much are received."""
    values = [0x00, 0x7F, 0x80, 0x55, 0xFE]
    await bench.send(values, FINE.changed(baud=FINE.baud * (1 + error)))
    await bench.drive([1] * 30, FINE.bit_ps)
    return await bench.receive_all() == [(value, 0) for value in values]


@cocotb.test()
async def speeds_may_differ_by_less_than_half_a_bit_in_nine_and_a_half(dut):
    bench = await SerialBench(dut).begin(FINE)
    for error in (0.01, 0.03, 0.045):
        assert await right_at(bench, error), error
        assert await right_at(bench, -error), -error
    for error in (0.065, 0.08):
        assert not await right_at(bench, error), error
        assert not await right_at(bench, -error), -error


@cocotb.test()
async def a_low_level_of_less_than_half_a_bit_is_forgotten(dut):
    bench = await SerialBench(dut).begin(FINE)
    for cycles in (1, 2, 5, BIT // 8, BIT // 4, BIT * 3 // 8):
        for wait in (BIT, 2 * BIT):
            await bench.drive([0], cycles * PERIOD_PS)
            await bench.drive([1], wait * PERIOD_PS)
        assert await bench.receive_all() == [], cycles
        await bench.send([0xA7], FINE)
        assert await bench.receive_all() == [(0xA7, 0)], cycles
    assert await bench.counters() == {"received": 6}


@cocotb.test()
async def a_spike_of_less_than_an_eighth_of_a_bit_changes_no_character(dut):
    bench = await SerialBench(dut).begin(FINE)
    levels = [level for bit in FINE.levels(0x35) for level in [bit] * BIT]
    for position in range(BIT // 4, len(levels) - 8, 7):
        spiked = list(levels)
        for cycle in range(position, position + BIT // 8 - 3):
            spiked[cycle] ^= 1
        await bench.drive(spiked, PERIOD_PS)
        await bench.drive([1], FINE.bit_ps)
        assert await bench.receive_all() == [(0x35, 0)], position


@cocotb.test()
async def a_break_is_a_low_level_of_ten_and_a_half_bits_and_given_once(dut):
    expected = {9: 0, 10: FRAMING, 10.4: FRAMING}
    bench = await SerialBench(dut).begin(FINE)
    for bits in (9, 10, 10.4, 10.6, 11, 13, 26, 300):
        await bench.send_break(bits, FINE)
        await bench.send([0x55, 0x3C], FINE)
        flags = expected.get(bits, BREAK)
        assert await bench.receive_all() == [(0, flags), (0x55, 0), (0x3C, 0)], bits
        counts = await bench.counters()
        assert counts.get("breaks", 0) == (flags == BREAK), bits
        assert counts["received"] == 3 - (flags == BREAK)


@cocotb.test()
async def a_break_is_seen_whatever_the_form(dut):
    bench = await SerialBench(dut).begin()
    for form in FORMS:
        await bench.set_form(form)
        for bits in (13, 26):
            await bench.send_break(bits, form)
            await bench.send([0x15], form)
            assert await bench.receive_all() == [(0, BREAK), (0x15, 0)], form


@cocotb.test()
async def a_break_is_given_once_at_every_phase_of_the_ticks(dut):
    for cycles in (8, 13, 20):
        form = Form(baud=SYS_CLK_HZ / cycles, parity="E")
        bench = await SerialBench(dut).begin(form)
        for pause in range(2 * cycles, 3 * cycles):
            await bench.send_break(12, form)
            await bench.step(pause)
            assert await bench.receive_all() == [(0, BREAK)], (cycles, pause)
        assert await bench.counters() == {"breaks": cycles}


@cocotb.test()
async def a_break_within_a_character_is_seen_behind_its_framing_error(dut):
    bench = await SerialBench(dut).begin(FINE)
    for bits in range(1, 8):
        # The character has ones until the line falls for 13 bits.
        await bench.drive([0, *[1] * bits, *[0] * 13, 1], FINE.bit_ps)
        await bench.send([0x55], FINE)
        cut = (1 << bits) - 1
        assert await bench.receive_all() == [(cut, FRAMING), (0, BREAK), (0x55, 0)], bits


@cocotb.test()
async def the_end_of_a_break_needs_no_more_than_three_eighths_of_a_bit(dut):
    bench = await SerialBench(dut).begin(FINE)
    await bench.send_break(13, FINE, delimiter=0.4)
    await bench.send([0x55], FINE)
    assert await bench.receive_all() == [(0, BREAK), (0x55, 0)]


@cocotb.test()
async def a_high_level_at_one_tick_ends_no_break(dut):
    bench = await SerialBench(dut).begin(FINE)
    for bits, level in ((12, 0), (1 / 8, 1), (14, 0), (2, 1)):
        bench.rx.value = level
        await bench.step(round(bits * BIT))
    assert await bench.receive_all() == [(0, BREAK)]


@cocotb.test()
async def zeros_with_a_high_parity_bit_are_a_character_also_ahead_of_a_break(dut):
    form = USUAL.changed(parity="M")
    bench = await SerialBench(dut).begin(form)
    await bench.drive([*form.levels(0)[:-1], *[0] * 12, 1, 1], form.bit_ps)
    assert await bench.receive_all() == [(0, FRAMING), (0, BREAK)]


@cocotb.test()
async def the_event_comes_in_the_middle_of_the_stop_bit(dut):
    bench = await SerialBench(dut).begin(FINE, watermarks=1, ev_enable=1)
    for value in (0x00, 0xFF, 0x5A):
        start = bench.cycle
        cocotb.start_soon(bench.send([value], FINE))
        assert await bench.rise(bench.irq) - start == 19 * BIT // 2 + EVENT_LATENCY
        await bench.receive()
        await Timer(BIT * PERIOD_PS, "ps")


@cocotb.test()
async def a_break_calls_when_it_is_recognised(dut):
    bench = await SerialBench(dut).begin(FINE, watermarks=8, ev_enable=1)
    await bench.step(BIT)
    start = bench.cycle
    cocotb.start_soon(bench.send_break(30, FINE))
    assert await bench.rise(bench.irq) - start == 21 * BIT // 2 + EVENT_LATENCY
    assert await bench.receive() == (0, BREAK)
    assert not int(bench.irq.value)


@cocotb.test()
async def any_traffic_is_received(dut):
    """Characters, breaks and gaps in random order, at a speed that is no divisor of the clock."""
    random.seed(2)
    form = Form(baud=3_333_333)
    bench = await SerialBench(dut).begin(form)
    expected = []
    for _ in range(120):
        if random.random() < 0.2:
            await bench.send_break(random.uniform(11, 30), form)
            expected.append((0, BREAK))
        else:
            value = random.randrange(256)
            await bench.send([value], form)
            expected.append((value, 0))
        if random.random() < 0.5:
            await Timer(random.randrange(1, 500_000), "ps")
        if len(expected) > 8:
            assert await bench.receive_all() == expected
            expected.clear()
    assert await bench.receive_all() == expected
