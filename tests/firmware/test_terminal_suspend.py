"""Whoever waits for the terminal server's protocol service is told to go on."""

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


def build_driver(*, mac_in_protocol: bool = False) -> Path:
    return build(
        f"terminal_suspend_driver_{int(mac_in_protocol)}",
        [TESTS / "terminal_suspend_driver.c", *net_sources(), *PORT_SOURCES],
        # Optimised, as it is the compiler's order of stores that is on trial.
        sanitize=False,
        include=[write_headers("suspend", soc=SOC), TESTS],
        defines=[
            "CONTEXT_POLLED",
            PORT_DEFINE,
            f"NETWORK_MAC_IN_PROTOCOL={int(mac_in_protocol)}",
        ],
    )


@pytest.fixture(scope="module")
def driver() -> Path:
    return build_driver()


def test_a_client_is_told_to_go_on_wherever_its_port_was_served(driver):
    run_stepped(driver, "preempted")


def test_a_client_is_told_to_go_on_as_soon_as_there_is_a_packet_for_that(driver):
    run_stepped(driver, "packet")


def test_a_port_is_called_when_there_are_packets_wherever_it_lacked_one(driver):
    run_stepped(driver, "starved")


@pytest.mark.parametrize("mac_in_protocol", [False, True])
def test_the_driver_is_called_for_what_a_port_has_received_if_it_has_to_fetch_it(mac_in_protocol):
    run_stepped(build_driver(mac_in_protocol=mac_in_protocol), "sent")
