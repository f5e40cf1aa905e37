"""The self-test of boards, run on the simulated SoC: what it tells is complete and right."""

from __future__ import annotations

import pytest

from tierv.boards.selftest import run_simulated
from tierv.sim.selftest import Selftest

#: Without interrupts the line would wait until the application has time.
pytestmark = pytest.mark.parametrize("system", ["tiers", "single"], indirect=True, scope="module")
PORTS = 4


@pytest.fixture(scope="module")
def told(system) -> Selftest:
    return run_simulated(system.simulation.model)


def test_a_good_board_passes_every_check(told):
    assert told.failures == []
    names = [record.name for record in told.of("check")]
    assert names.count("serial port") == PORTS
    assert {"local memory", "large memory", "arithmetic", "services", "timer"} <= set(names)


def test_switches_cost_what_the_core_takes_for_them(told):
    post, line = told.of("switch")
    assert post.values["samples"] == 64
    assert line.values["samples"] > 100
    assert line.values["missed"] == 0
    figures = told.figures
    if told.of("selftest")[0].values["contexts"] == 1:
        # Saves and restores registers, and gives up a division that it interrupts.
        assert figures["line to answer: least"] >= 40
        assert figures["taken from the application: mean"] > 80
    else:
        assert figures["post, in: most"] <= 30
        assert figures["line to answer: most"] <= 30
        assert figures["taken from the application: mean"] < 30


def test_every_kernel_is_timed(told):
    cycles = [told.figures[f"kernel {name}"] for name in ("list", "matrix", "state", "crc")]
    assert all(number > 1_000 for number in cycles)
