"""What the timer's driver writes, given to LiteX's timer: when its line rises, to the cycle."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_build import FAKE, ROOT, TESTS, Program, build, register_definitions, write_headers
from litex.gen import LiteXModule
from litex.soc.cores.timer import Timer
from litex.soc.interconnect import csr_bus
from migen import run_simulation

#: From the bus to the register, and from the count of 0 to the event.
REGISTER_CYCLES = 2
#: A processor's bus is not as fast as the simulated one.
GAPS = [0, 1, 7]


class Bench(LiteXModule):
    """LiteX's timer and its registers; ``ticks`` are the cycles in which its line rises."""

    def __init__(self) -> None:
        self.timer = Timer()
        self.bus = csr_bus.Interface(data_width=32)
        self.bank = csr_bus.CSRBank(self.timer.get_csrs(), bus=self.bus)
        self.cycle = 0
        self.ticks: list[int] = []
        self._pending = False

    def step(self, cycles: int = 1):
        """Let so many cycles pass."""
        for _ in range(cycles):
            yield
            self.cycle += 1
            pending = bool((yield self.timer.ev.irq))
            if pending and not self._pending:
                self.ticks.append(self.cycle)
            self._pending = pending

    def play(self, writes: list[str], gap: int):
        """Make the writes; returns the cycle of the last one."""
        for address, value in (map(int, line.split()) for line in writes):
            yield from self.step(gap)
            yield self.bus.adr.eq(address // 4)
            yield self.bus.dat_w.eq(value)
            yield self.bus.we.eq(1)
            yield from self.step()
            yield self.bus.we.eq(0)
        return self.cycle


@pytest.fixture(scope="module")
def driver() -> Iterator[Program]:
    csr = register_definitions("CSR_TIMER0", Timer().get_csrs())
    sources = [TESTS / "timer_driver.c", TESTS / "text.c", ROOT / "firmware/drivers/timer.c"]
    headers = write_headers("timer", csr=csr, soc={})
    program = Program(build("timer_driver", sources, include=[FAKE, headers, TESTS]), end=".")
    yield program
    program.close()


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("period", [12, 13, 200])
def test_it_ticks_every_period_from_the_start_on(driver, period, gap):
    bench = Bench()

    def drive():
        begin = yield from bench.play(driver.command(f"start {period}"), gap)
        for tick in range(1, 5):
            yield from bench.step(begin + REGISTER_CYCLES + tick * period - bench.cycle)
            assert bench.ticks[-1:] == [bench.cycle]
            yield from bench.play(driver.command("acknowledge"), gap)
        assert len(bench.ticks) == 4

    run_simulation(bench, drive())


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("cycles", [1, 2, 3, 200])
def test_it_ticks_once(driver, cycles, gap):
    bench = Bench()

    def drive():
        begin = yield from bench.play(driver.command(f"once {cycles}"), gap)
        yield from bench.step(cycles + REGISTER_CYCLES)
        assert bench.ticks == [begin + cycles + REGISTER_CYCLES]
        yield from bench.play(driver.command("acknowledge"), gap)
        yield from bench.step(2 * cycles + 10)
        assert len(bench.ticks) == 1

    run_simulation(bench, drive())


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("before", ["start 30", "once 30", "once 1000"])
@pytest.mark.parametrize("command", ["start", "once"])
def test_a_start_forgets_the_one_before_and_its_tick(driver, command, before, gap):
    bench = Bench()

    def drive():
        yield from bench.play(driver.command(before), gap)
        yield from bench.step(40)
        begin = yield from bench.play(driver.command(f"{command} 50"), gap)
        bench.ticks.clear()
        yield from bench.step(50 + REGISTER_CYCLES)
        assert bench.ticks == [begin + 50 + REGISTER_CYCLES]

    run_simulation(bench, drive())
