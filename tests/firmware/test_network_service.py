"""The applications' network with a MAC that moves frames by itself: nothing of it is missed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from host_build import (
    PORT_DEFINE,
    ROOT,
    TESTS,
    Program,
    build,
    net_sources,
    run_stepped,
    write_headers,
)
from net_host import config

CLOCK_HZ = 100_000_000
REFILL_CYCLES = CLOCK_HZ // 1_000_000 * config("NETWORK_REFILL_US")
EXCESS = config("NET_EXCESS_DROPS")
BATCH = config("ETHMAC_DMA_BATCH")
#: Frames of the driver's flood.
FLOOD = 1000
APPS = ROOT / "firmware" / "apps"


def build_driver(name: str, *sources: Path, sanitize: bool) -> Path:
    soc = {"CONFIG_CLOCK_FREQUENCY": CLOCK_HZ, "CONFIG_CPU_TIERS": 1, "UARTS": 0}
    soc["ETHMAC_INTERRUPT"] = 2
    soc |= {f"LOCALIP{index}": index for index in range(1, 5)}
    soc |= {f"MACADDR{index}": index for index in range(1, 7)}
    common = [TESTS / "network_mac.c", APPS / "network_line.c", *net_sources()]
    return build(
        name,
        [TESTS / f"{name}.c", *sources, *common],
        sanitize=sanitize,
        include=[TESTS / "fake_mac", write_headers("network", soc=soc), TESTS],
        defines=["CONTEXT_POLLED", PORT_DEFINE],
    )


def test_the_service_sees_what_comes_between_any_two_of_its_instructions():
    # Optimised, as it is the compiler's order of stores that is on trial.
    run_stepped(build_driver("network_step_driver", sanitize=False))


@pytest.fixture
def mac() -> Iterator[Program]:
    sources = [TESTS / "text.c", APPS / "network.c"]
    program = Program(build_driver("network_turns_driver", *sources, sanitize=True))
    yield program
    program.close()


def tell(mac: Program, command: str) -> tuple[int, int, int]:
    """Datagrams that may be dropped, cycles of the alarm, and whether the service has work."""
    (line,) = mac.command(command)
    left, cycles, posted, _ = map(int, line.split())
    return left, cycles, posted


def test_nothing_has_to_come_back_where_nothing_was_dropped(mac):
    tell(mac, "frame")
    assert tell(mac, "serve") == (EXCESS, 0, 0)


def test_packets_of_what_was_dropped_come_back_in_a_while(mac):
    for _ in range(2):
        for left in reversed(range(EXCESS)):
            assert tell(mac, "drop") == (left, 0, 0)
        assert tell(mac, "serve") == (0, REFILL_CYCLES, 0)
        assert tell(mac, "serve") == (0, REFILL_CYCLES, 0)
        assert tell(mac, "ring") == (0, 0, 1)
        assert tell(mac, "serve") == (EXCESS, 0, 0)


def test_who_has_no_packet_for_a_frame_looks_again_in_a_while(mac):
    tell(mac, "lose")
    assert tell(mac, "serve") == (EXCESS, REFILL_CYCLES, 0)
    assert tell(mac, "ring") == (EXCESS, 0, 1)


def test_a_flood_leaves_the_rest_of_the_protocol_service_its_turn(mac):
    turns = 0
    tell(mac, "flood")
    while tell(mac, "serve")[2]:
        turns += 1
    # A frame at a look, and eight rounds of eight looks at a turn.
    assert turns == FLOOD // 64


@pytest.mark.parametrize(("held", "frames"), [(0, 1), (1, 1), (2, BATCH), (9, BATCH)])
def test_frames_wait_for_others_while_the_application_has_two_datagrams(mac, held, frames):
    tell(mac, f"hold {held}")
    (line,) = mac.command("serve")
    assert int(line.split()[-1]) == frames
