"""The settings of ``firmware/config.h``: what is impossible is refused by its name."""

from __future__ import annotations

import subprocess

import pytest

from tierv.sim.firmware import CC, FIRMWARE

FLAGS = ("-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-std=gnu11", "--specs=picolibc.specs")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffreestanding", "-DCONTEXT_SINGLE")
#: Where a setting is checked that not all of the firmware has.
LINE, SHARE, TERMINAL = "apps/network_line.c", "apps/share.c", "apps/terminal/terminal.c"
SLOTS, CONSOLE, NET = "drivers/ethmac_slots.c", "apps/console.c", "net/service.c"
#: The source, the least and the greatest value, and others that are refused.
RANGES = {
    "ARP_ENTRIES": (NET, 1, 255),
    "ARP_LIFETIME_S": (NET, 1, 65535),
    "ARP_TRIES": (NET, 1, 255),
    "APPLICATION_SHARE_FRAMES": (SHARE, 1, 2**32 - 1),
    "APPLICATION_SHARE_INTERVAL_US": (SHARE, 100, 1_000_000),
    "APPLICATION_SHARE_PERCENT": (NET, 0, 99),
    "APPLICATION_SHARE_PROTOCOL_CYCLES": (NET, 0, 10_000),
    "APPLICATION_SHARE_TRAP_CYCLES": (NET, 0, 10_000),
    "DHCP_SPREAD_S": (NET, 1, 65535),
    "DHCP_TRIES": (NET, 1, 255),
    "ETHMAC_DMA_BATCH": (NET, 1, 15),
    "ETHMAC_DMA_BATCH_US": (NET, 1, 1000),
    "ETHMAC_DMA_TRANSMIT": (NET, 2, 256, 129, 512),
    "ICMP_ERRORS_PER_S": (NET, 0, 2**32 - 1),
    "IPV4_MULTICAST_TTL": (NET, 0, 255),
    "IPV4_TTL": (NET, 1, 255),
    "LIN_FRAMES": (NET, 3, 62),
    "LIN_NODES": (NET, 0, 16),
    "LIN_SLOTS": (NET, 1, 255),
    "NETWORK_DHCP": (NET, 0, 1),
    "NETWORK_REFILL_US": (NET, 1, 1_000_000),
    "NETWORK_SECOND_CYCLES": (LINE, 10_000, 1 << 30, 0),
    "NET_APPLICATION_HOLD": (NET, 1, 23),
    "NET_BUFFER_BYTES": (SLOTS, 1516, 2048),
    "NET_DRIVER_SUMS": (SLOTS, 0, 0),
    "NET_EXCESS_DROPS": (NET, 1, 2**32 - 1),
    "NET_SENT_BATCH": (NET, 1, 4),
    "NET_SERIAL_PACKETS": (TERMINAL, 7, 32, 0),
    "SERIAL_RING_CHARACTERS": (NET, 4, 1 << 16, 1, 2),
    "TERMINAL_PORT_PACKETS": (TERMINAL, 2, 8, 1, 16),
    "TERMINAL_TRANSMIT_WORDS": (NET, 512, 1 << 16, 256),
    "UART_RING_BYTES": (CONSOLE, 256, 1 << 16, 128),
    "UDP_BUCKETS": (NET, 1, 256, 255, 512),
    "UDP_SOCKET_SLOTS": (NET, 1, 1 << 10, 1000),
}


def complaint(model, source: str, *defines: str) -> str:
    """What the compiler has against a source of the firmware with these settings."""
    command = [CC, "-fsyntax-only", *FLAGS, *WARNINGS, f"-I{FIRMWARE}", f"-I{model.include}"]
    command += [*(f"-D{define}" for define in defines), FIRMWARE / source]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("name", RANGES)
def test_a_setting_has_a_least_and_a_greatest_value_and_others_are_refused_by_name(model, name):
    source, least, most, *others = RANGES[name]
    for value in (least, most):
        assert complaint(model, source, f"{name}={value}") == ""
    for value in (least - 1, most + 1, *others):
        refused = complaint(model, source, f"{name}={value}")
        assert "error" in refused
        assert name in refused, value


@pytest.mark.parametrize(("percent", "least_us"), [(80, 250), (90, 500), (99, 5000)])
def test_a_share_leaves_the_services_what_looking_at_the_clock_takes(model, percent, least_us):
    share = f"APPLICATION_SHARE_PERCENT={percent}"
    assert complaint(model, SHARE, share, f"APPLICATION_SHARE_INTERVAL_US={least_us}") == ""
    refused = complaint(model, SHARE, share, f"APPLICATION_SHARE_INTERVAL_US={least_us - 1}")
    assert "APPLICATION_SHARE_INTERVAL_US must be longer" in refused
