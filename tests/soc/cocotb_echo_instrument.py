"""The echo instrument alone: moments, latencies and what is counted, cycle by cycle."""

from __future__ import annotations

import os
import random
import statistics
from collections import Counter

import cocotb
from csr_bench import CsrBench
from echo_reference import intervals

BINS = int(os.environ["ECHO_BINS"])
LATENCY_BITS = int(os.environ["ECHO_LATENCY_BITS"])
COUNTER_BITS = int(os.environ["ECHO_COUNTER_BITS"])
SUM_BITS = int(os.environ["ECHO_SUM_BITS"])
START, STOP, FIRE, ERASE = 1, 2, 4, 8
ERASING = 4
SHORTEST = 64
#: From the write of a command to the countdown, from its end to the line.
COMMAND_CYCLES = 2


class Instrument:
    """The block, with what its pins did."""

    def __init__(self, dut) -> None:
        self.bench = CsrBench(dut)
        self.dut = dut
        self.rises: list[int] = []
        self.answers: list[int] = []
        self._before = 0
        self.bench.each_cycle.append(self._look)

    def _look(self) -> None:
        level = int(self.dut.pads_line.value)
        assert level == int(self.dut.ev_irq.value)
        if level and not self._before:
            self.rises.append(self.bench.cycle)
        self._before = level
        if int(self.dut.pads_answer.value):
            self.answers.append(self.bench.cycle)

    async def begin(self, **registers: int) -> None:
        """Reset, and give registers values; the histogram's memory is erased."""
        await self.bench.reset()
        self._before = 0
        await self.erase()
        for name, value in registers.items():
            await self.bench.write(name, value)
        self.rises.clear()
        self.answers.clear()

    async def erase(self) -> None:
        await self.bench.write("control", ERASE)
        await self.bench.step(BINS + 4)
        assert await self.read("status") == 0

    async def read(self, name: str) -> int:
        return await self.bench.read(name)

    async def command(self, bits: int) -> int:
        return await self.bench.write("control", bits)

    async def until_line(self) -> int:
        """The first cycle in which the line is high, which is the present one."""
        most = self.bench.cycle + 5_000
        while not int(self.dut.pads_line.value):
            await self.bench.step()
            assert self.bench.cycle < most, "the line does not rise"
        return self.bench.cycle

    async def take(self) -> int:
        return await self.read("take")

    async def test_and_clear(self, between: int = 0) -> int:
        """The other variant: tests, waits, lowers; returns what was read."""
        seen = await self.read("line")
        await self.bench.step(between)
        await self.bench.write("line", 1)
        return seen

    async def answer_after(self, latency: int) -> None:
        """Answer so that the latency is this, by either variant in turn."""
        await self.until_line()
        await self.bench.step(latency)
        if len(self.answers) % 2:
            await self.bench.write("line", 1)
        else:
            assert await self.take() == 1
        await self.bench.step()

    async def histogram(self) -> list[int]:
        counts = []
        for index in range(BINS):
            await self.bench.write("bin_index", index)
            await self.bench.step(2)
            counts.append(await self.read("bin_count"))
        return counts


async def made(dut, **registers: int) -> Instrument:
    instrument = Instrument(dut)
    await instrument.begin(**registers)
    return instrument


@cocotb.test()
async def the_line_rises_once_so_many_cycles_after_fire(dut):
    for interval in (SHORTEST, 65, 100):
        echo = await made(dut, interval=interval)
        written = await echo.command(FIRE)
        assert await echo.until_line() == written + interval + COMMAND_CYCLES
        assert await echo.read("status") == 0
        await echo.take()
        await echo.bench.step(3 * interval)
        assert len(echo.rises) == 1


@cocotb.test()
async def an_interval_that_is_too_short_counts_as_the_shortest(dut):
    for interval in (0, SHORTEST - 1):
        echo = await made(dut, interval=interval)
        written = await echo.command(FIRE)
        assert await echo.until_line() == written + SHORTEST + COMMAND_CYCLES


@cocotb.test()
async def a_read_that_takes_answers_in_its_own_cycle(dut):
    for latency in (0, 1, 5, 63):
        echo = await made(dut, interval=200)
        await echo.command(FIRE)
        rise = await echo.until_line()
        await echo.bench.step(latency)
        assert await echo.take() == 1
        assert int(dut.pads_line.value) == 0
        # The pulse comes in the cycle after the access.
        assert echo.answers == [rise + latency + 1]
        assert await echo.read("latency") == latency
        assert await echo.take() == 0
        assert await echo.read("samples") == 1


@cocotb.test()
async def a_test_leaves_the_line_and_the_write_behind_it_answers(dut):
    for between in (0, 3):
        echo = await made(dut, interval=200)
        await echo.command(FIRE)
        rise = await echo.until_line()
        await echo.bench.step(4)
        assert await echo.test_and_clear(between) == 1
        await echo.bench.step()
        # A read takes two cycles.
        assert echo.answers == [rise + 4 + 2 + between + 1]
        assert await echo.read("latency") == 4 + 2 + between
        assert await echo.read("line") == 0


@cocotb.test()
async def writing_0_to_the_line_and_answers_without_a_rise_change_nothing(dut):
    echo = await made(dut, interval=100)
    await echo.bench.write("line", 1)
    assert await echo.take() == 0
    await echo.command(FIRE)
    await echo.until_line()
    await echo.bench.write("line", 0)
    assert await echo.read("line") == 1
    assert await echo.read("samples") == 0
    assert echo.answers == []


@cocotb.test()
async def the_time_since_the_rise_goes_on_after_the_answer(dut):
    echo = await made(dut, interval=200)
    await echo.command(FIRE)
    rise = await echo.until_line()
    await echo.take()
    for wait in (0, 10, 50):
        await echo.bench.step(wait)
        now = echo.bench.cycle
        assert await echo.read("elapsed") == now - rise


@cocotb.test()
async def moments_are_the_interval_and_the_spread_apart_and_repeat_with_the_seed(dut):
    for seed, spread in ((1, 5), (0xDEADBEEF, 8), (0, 3), (77, 0)):
        for _ in range(2):
            echo = await made(dut, interval=70, spread_log2=spread, seed=seed)
            written = await echo.command(START)
            for _ in range(12):
                await echo.answer_after(0)
            expected = [written + 70 + COMMAND_CYCLES]
            for step in intervals(seed, 70, spread, 11):
                expected.append(expected[-1] + step)
            assert echo.rises == expected


@cocotb.test()
async def random_intervals_fill_their_range(dut):
    spread = 4
    steps = intervals(12345, 100, spread, 4_000)
    counts = Counter(steps)
    assert sorted(counts) == list(range(100, 100 + (1 << spread)))
    # Evenly: 250 each, s.d. 15.
    assert all(170 < count < 330 for count in counts.values())
    echo = await made(dut, interval=100, spread_log2=spread, seed=12345)
    await echo.command(START)
    for _ in range(40):
        await echo.answer_after(1)
    measured = [after - before for before, after in zip(echo.rises, echo.rises[1:], strict=False)]
    assert measured == steps[:39]


@cocotb.test()
async def stop_ends_the_run_and_lowers_the_line_without_a_sample(dut):
    echo = await made(dut, interval=64)
    await echo.command(START)
    await echo.bench.step()
    assert await echo.read("status") == 1
    await echo.until_line()
    await echo.command(STOP)
    await echo.bench.step()
    assert await echo.take() == 0
    await echo.bench.step(300)
    assert (await echo.read("missed"), await echo.read("samples")) == (0, 0)
    assert len(echo.rises) == 1


@cocotb.test()
async def a_moment_in_the_cycle_of_stop_does_not_raise_the_line(dut):
    # The command is there a cycle after it was written, the rise a cycle after it was due.
    for distance, rises in ((61, 1), (62, 1), (63, 2)):
        echo = await made(dut, interval=64)
        await echo.command(START)
        rise = await echo.until_line()
        await echo.take()
        await echo.bench.step(rise + distance - echo.bench.cycle)
        await echo.command(STOP)
        await echo.bench.step(300)
        assert len(echo.rises) == rises, distance
        assert await echo.take() == 0


@cocotb.test()
async def moments_that_find_the_line_high_are_missed_and_counted(dut):
    echo = await made(dut, interval=64)
    await echo.command(START)
    rise = await echo.until_line()
    await echo.bench.step(64 * 3)
    assert await echo.read("missed") == 3
    now = echo.bench.cycle
    assert await echo.take() == 1
    assert await echo.read("latency") == min(now - rise, (1 << LATENCY_BITS) - 1)
    assert (await echo.read("samples"), len(echo.rises)) == (1, 1)


@cocotb.test()
async def a_moment_in_the_cycle_of_the_answer_is_missed_and_one_behind_it_is_not(dut):
    # Due in the cycle before the rise would be seen.
    for latency, missed in ((62, 0), (63, 1), (64, 1)):
        echo = await made(dut, interval=64)
        await echo.command(START)
        await echo.until_line()
        await echo.bench.step(latency)
        await echo.take()
        await echo.bench.step(4)
        assert await echo.read("missed") == missed, latency
        assert len(echo.rises) == 2 - missed


@cocotb.test()
async def histogram_and_sums_add_up(dut):
    rng = random.Random(5)
    most = min(BINS, 60) - 1
    echo = await made(dut, interval=80, spread_log2=4)
    await echo.command(START)
    latencies = [rng.randrange(most + 1) for _ in range(min(60, (1 << COUNTER_BITS) - 1))]
    for latency in latencies:
        await echo.answer_after(latency)
    await echo.command(STOP)
    counts = await echo.histogram()
    assert counts == [latencies.count(index) for index in range(BINS)]
    assert sum(counts) == await echo.read("samples") == len(latencies)
    assert await echo.read("minimum") == min(latencies)
    assert await echo.read("maximum") == max(latencies)
    total, squares = await echo.read("sum"), await echo.read("squares")
    assert (total, squares) == (sum(latencies), sum(x * x for x in latencies))
    mean = total / len(latencies)
    deviation = (squares / len(latencies) - mean**2) ** 0.5
    assert abs(deviation - statistics.pstdev(latencies)) < 1e-9
    assert (await echo.read("overflow"), await echo.read("saturated")) == (0, 0)


@cocotb.test()
async def sums_of_long_latencies_have_all_their_bits(dut):
    rng = random.Random(6)
    echo = await made(dut, interval=70)
    total = squares = 0
    for _ in range(14):
        latency = rng.randrange(150, 255)
        total, squares = total + latency, squares + latency**2
        await echo.command(FIRE)
        await echo.answer_after(latency)
        await echo.bench.step(4)
        assert await echo.read("sum") == total
        assert await echo.read("squares") == min(squares, (1 << SUM_BITS) - 1)


@cocotb.test()
async def wider_bins_take_more_cycles_each_and_what_is_beyond_them_overflows(dut):
    for width_log2 in range(8):
        echo = await made(dut, interval=250, bin_log2=width_log2)
        last = BINS << width_log2
        latencies = [0, (1 << width_log2) - 1, 1 << width_log2, last - 1, last, last + 1]
        latencies = [latency for latency in latencies if latency < 200]
        for latency in latencies:
            await echo.command(FIRE)
            await echo.answer_after(latency)
        counts = await echo.histogram()
        bins = Counter(latency >> width_log2 for latency in latencies)
        assert counts == [bins[index] for index in range(BINS)]
        assert await echo.read("overflow") == sum(bins[index] for index in bins if index >= BINS)
        assert await echo.read("samples") == len(latencies)
        assert await echo.read("sum") == sum(latencies)


@cocotb.test()
async def erase_forgets_everything_and_lowers_the_line(dut):
    echo = await made(dut, interval=64)
    await echo.command(START)
    for latency in (0, 1, 1):
        await echo.answer_after(latency)
    await echo.until_line()
    await echo.erase()
    assert int(dut.pads_line.value) == 0
    for name in ("samples", "missed", "overflow", "maximum", "sum", "squares", "saturated"):
        assert await echo.read(name) == 0
    assert await echo.read("minimum") == (1 << LATENCY_BITS) - 1
    assert await echo.histogram() == [0] * BINS


@cocotb.test()
async def commands_have_no_effect_while_the_histogram_is_erased(dut):
    echo = await made(dut, interval=64)
    await echo.command(ERASE)
    await echo.command(START)
    await echo.bench.step(BINS + 200)
    assert (await echo.read("status"), echo.rises) == (0, [])


@cocotb.test()
async def fire_has_no_effect_while_running(dut):
    echo = await made(dut, interval=100)
    written = await echo.command(START)
    await echo.bench.step(50)
    await echo.command(FIRE)
    assert await echo.until_line() == written + 100 + COMMAND_CYCLES
    assert await echo.read("status") == 1


@cocotb.test()
async def a_reset_erases_the_histogram_too(dut):
    echo = await made(dut)
    await echo.command(FIRE)
    await echo.answer_after(5)
    await echo.bench.step(4)
    assert sum(await echo.histogram()) == await echo.read("samples") == 1
    await echo.bench.reset()
    assert await echo.read("status") == ERASING
    await echo.bench.step(BINS)
    assert await echo.read("status") == 0
    assert sum(await echo.histogram()) == await echo.read("samples") == 0
