"""A client of the terminal server that has sent too much, and is told to go on."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_build import (
    PORT_DEFINE,
    PORT_SOURCES,
    TESTS,
    build,
    net_sources,
    run_stepped,
    write_headers,
)

SOC = {
    "CONFIG_CLOCK_FREQUENCY": 100_000_000,
    "CONFIG_CPU_TIERS": 1,
    "UARTS": 1,
    "ETHMAC_INTERRUPT": 1,
}


@pytest.fixture(scope="module")
def driver() -> Path:
    return build(
        "terminal_suspend_driver",
        [TESTS / "terminal_suspend_driver.c", *net_sources(), *PORT_SOURCES],
        # Optimised, as it is the compiler's order of stores that is on trial.
        sanitize=False,
        include=[write_headers("suspend", soc=SOC), TESTS],
        defines=["CONTEXT_POLLED", PORT_DEFINE],
    )


def test_a_client_is_told_to_go_on_wherever_its_port_was_served(driver):
    run_stepped(driver, "preempted")


def test_a_client_is_told_to_go_on_as_soon_as_there_is_a_packet_for_that(driver):
    run_stepped(driver, "packet")
