"""The latency instrument in the services, asked over UDP, in every build and on another CPU."""

from __future__ import annotations

import re

import pytest
from scapy.layers.inet import UDP
from test_services import exchange, udp

from tierv.sim.cyclictest import from_text

COMMANDS = 7100
SAMPLES = 15


def ask(system, *commands: str) -> list[tuple[str, str]]:
    """For each command, in order: `ok` or `error`, and what it prints."""
    requests = [
        udp(f"{number} {command}".encode(), COMMANDS) for number, command in enumerate(commands)
    ]
    statuses, texts = {}, dict.fromkeys(range(len(commands)), "")
    for answer in exchange(system, requests):
        text = bytes(answer[UDP].payload)[: answer[UDP].len - 8].decode()
        header, _, printed = text.partition("\n")
        number, _, statuses[int(number)] = header.split()
        texts[int(number)] += printed
    return [(statuses[number], text) for number, text in texts.items()]


@pytest.mark.parametrize("access", ["take", "test"])
def test_a_run_over_udp_is_counted_by_hardware_and_software(system, access, request):
    # The other command gives the run time to end.
    started, _, shown = ask(
        system,
        f"latency start {access} interval 3000 spread 6 seed 7 samples {SAMPLES}",
        "ifconfig",
        "latency show",
    )
    assert started == ("ok", "")
    status, text = shown
    assert status == "ok"
    hardware, software = from_text(text)
    assert hardware.total == software.total == SAMPLES
    assert sum(hardware.counts.values()) + hardware.overflow == SAMPLES
    missed = int(re.search(r"# Missed: (\d+), saturated: 0\n", text)[1])
    # Without interrupts the line may wait for longer than an interval.
    assert missed == 0 or "polled" in request.node.name
    least, most = map(int, re.search(r"# Software - hardware: (-?\d+) to (-?\d+)\n", text).groups())
    # Software sees the end of what hardware sees, and its own instructions.
    assert 0 <= least <= most < 60
    assert software.minimum >= hardware.minimum + least
    assert software.maximum <= hardware.maximum + most


@pytest.mark.parametrize("access", ["take", "test"])
def test_a_run_ends_with_the_last_sample_however_soon_another_moment_comes(system, access):
    run = f"latency start {access} interval 64 samples {SAMPLES} spread 0"
    shown = ask(system, run, "ifconfig", "latency show")[2][1]
    assert [side.total for side in from_text(shown)] == [SAMPLES, SAMPLES]


def test_irqtune_counts_the_samples_of_all_runs_also_alone_in_a_tier(system, request):
    run = f"latency start interval 3000 samples {SAMPLES} spread 0"
    alone = ["irqtune echo=tier1"] if "tiers" in request.node.name else []
    # The commands between give the runs time to end.
    answers = ask(system, *alone, run, "ifconfig", run, "ifconfig", "irqtune --suggest")
    assert {status for status, _ in answers} == {"ok"}
    units, room = re.search(
        r"^ *\d+ echo +\d+ +(\d+) +(\d+) ", answers[-1][1], re.MULTILINE
    ).groups()
    assert (int(units), int(room)) == (2 * SAMPLES, 1)


def test_a_wrong_command_is_answered_and_starts_nothing(system):
    *wrong, shown = ask(
        system,
        "latency start seed 0",
        "latency start fast",
        "latency begin",
        "latency stop now",
        "latency show all",
        "latency",
    )
    messages = (
        "seed must be from 1 to 4294967295, not '0'",
        "latency start: no 'fast'",
        "latency: start, stop or show, not 'begin'",
        "a word too many behind stop: 'now'",
        "a word too many behind show: 'all'",
    )
    assert wrong == [("error", f"error: {message}\n") for message in messages]
    hardware, software = from_text(shown[1])
    assert hardware.total == software.total == 0
    # What a register holds before the first answer is no latency.
    assert {side.minimum for side in (hardware, software)} == {0}
