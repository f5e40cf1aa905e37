"""Alarms by one timer: when they ring, and what looking for one that is due takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_build import FAKE, ROOT, TESTS, Program, build, register_definitions, write_headers
from litex.soc.cores.timer import Timer


class Alarms:
    """Alarms 0 to 3 at cycle 0, on a processor that sees the timer's line or not."""

    def __init__(self, cpu: str) -> None:
        soc = {"CONFIG_CLOCK_FREQUENCY": 100_000_000, "CONFIG_CPU_TIERS": 1, "UARTS": 0}
        soc |= {"TIMER0_INTERRUPT": 4, f"CONFIG_CPU_TYPE_{cpu}": 1}
        csr = register_definitions("CSR_TIMER0", Timer().get_csrs())
        sources = [TESTS / "alarm_driver.c", TESTS / "text.c"]
        sources += [ROOT / f"firmware/{name}.c" for name in ("alarm", "drivers/timer")]
        include = [FAKE, write_headers(f"alarm-{cpu}", soc=soc, csr=csr), TESTS]
        program = build(f"alarm_driver_{cpu}", sources, include=include, defines=["CONTEXT_POLLED"])
        self._program = Program(program, end=".")

    def do(self, *words: object) -> list[str]:
        return self._program.command(" ".join(map(str, words)))

    def passed(self, cycles: int) -> list[tuple[int, int]]:
        """Who rings in so many cycles, and in which."""
        (line,) = self.do("pass", cycles)
        return [(int(number), int(at)) for number, at in (word.split("@") for word in line.split())]

    def close(self) -> None:
        self._program.close()


@pytest.fixture(params=["VEXRISCV", "PICORV32"])
def alarms(request) -> Iterator[Alarms]:
    alarms = Alarms(request.param)
    yield alarms
    alarms.close()


def test_they_ring_in_the_order_in_which_they_are_due_also_where_the_clock_comes_round(alarms):
    for number, cycles in [(0, 1500), (1, 500), (2, 1500), (3, 900)]:
        alarms.do("set", number, cycles)
    assert alarms.passed(5000) == [(1, 500), (3, 900), (0, 1500), (2, 1500)]


def test_one_that_is_set_anew_or_cancelled_does_not_ring_when_it_was_to(alarms):
    for number in range(3):
        alarms.do("set", number, 100 + number)
    alarms.do("set", 0, 300)
    alarms.do("cancel", 1)
    alarms.do("cancel", 3)
    assert [alarms.do("waits", number) for number in range(4)] == [["1"], ["0"], ["1"], ["0"]]
    assert alarms.passed(1000) == [(2, 102), (0, 300)]
    assert [alarms.do("waits", number) for number in (0, 2)] == [["0"], ["0"]]


def test_one_that_is_set_again_when_it_rings_does_not_drift(alarms):
    alarms.do("repeat", 0, 400)
    alarms.do("set", 0, 400)
    alarms.do("set", 1, 1000)
    assert alarms.passed(2100) == [(0, 400), (0, 800), (1, 1000), (0, 1200), (0, 1600), (0, 2000)]


def test_what_is_due_when_the_line_is_served_late_rings_then_and_does_not_drift_either(alarms):
    alarms.do("repeat", 0, 400)
    alarms.do("set", 0, 400)
    alarms.do("set", 1, 500)
    alarms.do("late", 950)
    assert alarms.passed(1000) == [(0, 951), (1, 951), (0, 951), (0, 1200), (0, 1600)]


def test_one_that_is_set_for_now_rings_at_once(alarms):
    alarms.do("set", 0, 1000)
    alarms.do("set", 1, 0)
    assert alarms.passed(2000) == [(1, 1), (0, 1000)]


def test_a_look_for_nothing_is_one_access_where_the_line_is_not_seen():
    alarms = Alarms("PICORV32")
    alarms.do("set", 0, 1000)
    assert alarms.do("look") == ["1"]
    assert alarms.passed(500) == []
    assert alarms.do("look") == ["1"]
    assert alarms.passed(1000) == [(0, 1000)]
    assert alarms.do("look") == ["1"]
    alarms.close()
