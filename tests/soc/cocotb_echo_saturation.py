"""An echo instrument whose counters are full soon: they stay there and say so."""

from __future__ import annotations

import cocotb
from cocotb_echo_instrument import BINS, COUNTER_BITS, FIRE, LATENCY_BITS, START, STOP, made

FULL = (1 << COUNTER_BITS) - 1
LONGEST = (1 << LATENCY_BITS) - 1
BIN, SAMPLES, MISSED, OVERFLOW, SUM, SQUARES, LATENCY = (1 << bit for bit in range(7))


async def answers(echo, count: int, latency: int) -> None:
    for _ in range(count):
        await echo.command(FIRE)
        await echo.answer_after(latency)
    # The sum of the squares is the last to change.
    await echo.bench.step(4)


@cocotb.test()
async def a_full_bin_and_a_full_counter_of_answers_stay_full(dut):
    echo = await made(dut, interval=64)
    await answers(echo, FULL, 2)
    assert await echo.read("saturated") == 0
    assert (await echo.histogram())[2] == FULL
    for _ in range(2):
        await answers(echo, 1, 2)
        assert await echo.read("saturated") == BIN | SAMPLES
        assert await echo.read("samples") == FULL
        assert await echo.histogram() == [0, 0, FULL] + [0] * (BINS - 3)
    # The sums go on.
    assert await echo.read("sum") == 2 * (FULL + 2)


@cocotb.test()
async def a_full_counter_of_overflows_stays_full(dut):
    echo = await made(dut, interval=64)
    await answers(echo, FULL, BINS)
    assert await echo.read("saturated") == 0
    await answers(echo, 2, BINS)
    assert await echo.read("overflow") == FULL
    assert await echo.read("saturated") == SAMPLES | OVERFLOW
    assert await echo.histogram() == [0] * BINS


@cocotb.test()
async def a_full_counter_of_missed_moments_stays_full(dut):
    echo = await made(dut, interval=64)
    await echo.command(START)
    await echo.until_line()
    await echo.bench.step(64 * FULL)
    assert (await echo.read("missed"), await echo.read("saturated")) == (FULL, 0)
    await echo.bench.step(64 * 3)
    await echo.command(STOP)
    assert (await echo.read("missed"), await echo.read("saturated")) == (FULL, MISSED)


@cocotb.test()
async def a_latency_that_is_too_long_counts_as_the_longest(dut):
    for latency, expected, flag in (
        (LONGEST - 1, LONGEST - 1, 0),
        (LONGEST, LONGEST, LATENCY),
        (LONGEST + 9, LONGEST, LATENCY),
    ):
        echo = await made(dut, interval=64)
        await answers(echo, 1, latency)
        assert await echo.read("latency") == await echo.read("maximum") == expected
        assert await echo.read("minimum") == expected
        assert await echo.read("saturated") == flag
        assert await echo.read("sum") == expected
        assert await echo.read("squares") == expected**2


@cocotb.test()
async def full_sums_stay_full(dut):
    echo = await made(dut, interval=64)
    await answers(echo, 1, LONGEST - 1)
    assert await echo.read("saturated") == 0
    await answers(echo, 1, LONGEST - 1)
    # Sums of 16 bits: two squares are too many.
    assert await echo.read("saturated") == SQUARES
    assert await echo.read("squares") == (1 << 16) - 1
    assert await echo.read("sum") == 2 * (LONGEST - 1)
    await answers(echo, 1, 0)
    assert await echo.read("squares") == (1 << 16) - 1


@cocotb.test()
async def erase_clears_what_was_full(dut):
    echo = await made(dut, interval=64)
    await answers(echo, FULL + 1, LONGEST)
    assert await echo.read("saturated") != 0
    await echo.erase()
    assert await echo.read("saturated") == 0
    await answers(echo, 1, 3)
    assert (await echo.read("saturated"), await echo.read("samples")) == (0, 1)
    assert (await echo.histogram())[3] == 1
