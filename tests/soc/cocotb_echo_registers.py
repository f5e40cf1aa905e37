"""The echo instrument's registers, and all values of those that make its moments."""

from __future__ import annotations

import cocotb
from cocotb_echo_instrument import BINS, COMMAND_CYCLES, FIRE, SHORTEST, START, STOP, made
from csr_bench import CsrBench, check_storages, low_bits
from echo_reference import seed_before

#: Bits of the registers that hold what is written.
STORAGES = {
    "seed": 32,
    "interval": 24,
    "spread_log2": 5,
    "bin_log2": 3,
    "bin_index": (BINS - 1).bit_length(),
}
#: What of them is not 0 after a reset.
RESET = {"seed": 1, "interval": 1000}
MAX_SPREAD_LOG2 = 20
#: More than it takes to see that a moment is late.
LATE = 8


@cocotb.test()
async def registers_hold_what_is_written(dut):
    bench = CsrBench(dut)
    await bench.reset()
    await check_storages(bench, low_bits(STORAGES), RESET)


@cocotb.test()
async def the_spread_has_the_low_bits_of_the_random_number_and_no_others(dut):
    echo = await made(dut, interval=SHORTEST)
    for bits in range(MAX_SPREAD_LOG2 + 1):
        await echo.bench.write("spread_log2", bits)
        low = [1 << bit for bit in range(bits)]
        for number in (0xFFFF_FFFF & -1 << bits, *low):
            await echo.bench.write("seed", seed_before(number))
            await echo.command(START)
            rise = await echo.until_line()
            await echo.take()
            spread = number % (1 << bits)
            # Those of many cycles are not waited for.
            await echo.bench.step(rise + SHORTEST + min(spread, LATE) - echo.bench.cycle)
            assert echo.rises[-1] == rise, (bits, number)
            assert bool(dut.pads_line.value) == (spread <= LATE), (bits, number)
            await echo.command(STOP)
            await echo.bench.step(2)


@cocotb.test()
async def a_long_interval_is_as_long_as_it_says(dut):
    for interval in (0x1555, 0x2AAA, 0x4001):
        echo = await made(dut, interval=interval)
        written = await echo.command(FIRE)
        await echo.bench.step(interval + COMMAND_CYCLES - 2)
        assert not dut.pads_line.value
        assert await echo.until_line() == written + interval + COMMAND_CYCLES
