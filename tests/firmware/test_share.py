"""The application's share on the host: how long frames wait, whatever was before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_build import TESTS, Program, build, write_headers
from net_host import config

CLOCK_HZ = 100_000_000
#: Between frames that come and the look at the clock.
LOOK_CYCLES = 1000
#: From the look at the clock that begins to wait to the next.
INTERVAL_CYCLES = 25_000


@pytest.fixture
def host() -> Iterator[Program]:
    soc = {"CONFIG_CLOCK_FREQUENCY": CLOCK_HZ, "CONFIG_CPU_TIERS": 1, "UARTS": 0}
    include = [write_headers("share", soc=soc)]
    sources = [TESTS / "share_driver.c", TESTS / "text.c"]
    defines = ["CONTEXT_POLLED"]
    path = build("share_driver", sources, include=include, defines=defines)
    program = Program(path)
    yield program
    program.close()


def wait(host: Program, quiet: int, used: int = 0) -> int:
    (answer,) = host.command(f"wait {quiet} {used}")
    return int(answer)


@pytest.mark.parametrize("quiet_s", [0.001, 20, 26, 27, 30, 42, 44, 75])
def test_after_a_quiet_time_of_any_length_frames_go_on_at_once(host, quiet_s):
    assert wait(host, round(quiet_s * CLOCK_HZ)) < INTERVAL_CYCLES


def test_frames_wait_until_the_application_has_had_its_share(host):
    # 20 % of them: what was too much is there after five quarters of it.
    too_much = 400_000
    expected = too_much * 5 // 4
    waited = wait(host, 0, 20_000 + too_much)
    assert expected <= waited <= expected * 1.1 + 2 * INTERVAL_CYCLES


@pytest.mark.parametrize(
    ("quiet", "used"),
    [
        # The clock comes round; the services used more meanwhile than it seems to have brought.
        (1 << 32, 1 << 29),
        (0, CLOCK_HZ // 10 * 3 // 2),
    ],
)
def test_no_more_than_a_tenth_of_a_second_is_paid_back(host, quiet, used):
    assert wait(host, quiet, used) <= CLOCK_HZ // 10 * 1.4


def test_what_an_interval_brings_may_be_used_at_once_and_is_not_saved(host):
    assert wait(host, 0, 18_000) == LOOK_CYCLES
    wait(host, CLOCK_HZ)
    too_much = wait(host, 0, 420_000)
    wait(host, CLOCK_HZ)
    # Nearly as much again as there is.
    assert wait(host, 22_000) == LOOK_CYCLES
    assert wait(host, 0, 420_000) == too_much


@pytest.mark.parametrize("left", [-1, 0, 1])
def test_the_services_have_had_their_share_when_nothing_is_left(host, left):
    # Of every 2^16 cycles; an interval's is there at the beginning.
    rate = 80 * 65536 // 100
    there = (INTERVAL_CYCLES * rate >> 16) + (LOOK_CYCLES * rate >> 16) - LOOK_CYCLES
    assert (wait(host, 0, there - left) == LOOK_CYCLES) == (left > 0)


def test_nothing_is_decided_before_the_alarm_and_without_frames(host):
    assert host.command("look") == ["0 0"]


def test_without_a_share_nothing_is_metered(host):
    frames = config("APPLICATION_SHARE_FRAMES")
    assert host.command("kept") == [f"0 0 1 {frames}"]


def test_interrupts_are_timed_once_whatever_they_interrupt(host):
    answers = [host.command("interrupts") for _ in range(2)]
    trap = config("APPLICATION_SHARE_TRAP_CYCLES")
    service = config("APPLICATION_SHARE_PROTOCOL_CYCLES")
    assert answers == [[f"{100 + trap} {1000 + service}"]] * 2
