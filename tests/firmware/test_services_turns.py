"""The services' application under more datagrams than it can answer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from host_build import ROOT, TESTS, build, write_headers


@pytest.fixture(scope="module")
def path() -> Path:
    soc = {"CONFIG_CLOCK_FREQUENCY": 100_000_000, "CONFIG_CPU_TIERS": 1, "UARTS": 0}
    soc |= {"UART_INTERRUPT": 6, "ETHMAC_INTERRUPT": 5, "ETHMAC_RX_SLOTS": 2, "ETHMAC_TX_SLOTS": 2}
    names = ("apps/command", "apps/remote", "apps/source", "net/packet", "net/checksum")
    sources = [ROOT / f"firmware/{name}.c" for name in names]
    return build(
        "services_flood_driver",
        [TESTS / "services_flood_driver.c", *sources],
        include=[write_headers("services-flood", soc=soc, csr={})],
        defines=["CONTEXT_POLLED"],
    )


def failure_of(path: Path, *arguments: str) -> str | None:
    """What the driver says of its case if that fails."""
    done = subprocess.run(
        [path, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    return None if done.returncode == 0 else done.stderr


@pytest.mark.parametrize(("port", "words"), [(7, "echo"), (19, "0 0"), (7100, "1 help help")])
def test_the_others_have_their_turn_however_many_datagrams_come_for_one(path, port, words):
    assert failure_of(path, str(port), words) is None


def test_a_command_s_answer_does_not_wait_for_the_end_of_what_the_source_sends(path):
    assert failure_of(path, "19", "10000 4", "1 say") is None
