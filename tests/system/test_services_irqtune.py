"""irqtune on the whole SoC: from the console and over UDP, while the services run."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from scapy.layers.inet import UDP
from scapy.layers.l2 import Ether
from system_builds import READY
from test_services import COMMANDS, FAST_ECHO, QUIET, arp_request, exchange, udp

from tierv.sim.firmware import Context, build_firmware
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.run import Simulation, Until
from tierv.sim.stimulus import Frame, UartBytes

PRINTING = 1_500_000
#: What `irqtune 3 12` must make of the lines that there are: line n is IRQ n.
ROTATED = {"timer0": (4, 1), "ethmac": (5, 2), "console": (6, 3), "uart0": (8, 12)}


def ask(system, *requests: bytes) -> list[str]:
    """Commands over UDP; the answers, all of whose parts fit into one datagram."""
    answers = exchange(system, [udp(request, COMMANDS) for request in requests])
    return [bytes(answer[UDP].payload)[: answer[UDP].len - 8].decode() for answer in answers]


def listing(text: str) -> dict[str, tuple[str, int, int]]:
    """Owner, priority and count by the name of the line."""
    rows = re.findall(r"^ *\d+ (\w+) +(\w+) +(\d+) +(\d+) +[\d.-]+\s*$", text, re.MULTILINE)
    return {name: (owner, int(priority), int(count)) for name, owner, priority, count in rows}


def owner(system, tier: int) -> str:
    """How the listing names who serves lines."""
    context = str(system.services.path.parent.name).partition("-")[0]
    return {"tiers": f"tier{tier}", "single": "trap", "polled": "poll"}[context]


def test_lines_are_listed_with_owner_priority_and_count(system):
    echo = udp(b"counted", FAST_ECHO)
    echoed, answer = exchange(system, [echo, udp(b"1 irqtune\n", COMMANDS)])
    assert echoed[UDP].sport == FAST_ECHO
    text = bytes(answer[UDP].payload).decode()
    assert text.startswith("1 0 ok")
    lines = listing(text)
    # The request for our address, the datagram and the command.
    assert lines["ethmac"] == (owner(system, 2), 8, 3)
    assert lines["console"][2] > 0
    assert lines["timer0"][0] == owner(system, 2)


def test_the_console_sets_what_the_original_would(system):
    commands = [b"irqtune\n", b"irqtune 3 12\n", b"irqtune -o\n"]
    uart = [
        UartBytes(0, command, cycle=READY + index * PRINTING)
        for index, command in enumerate(commands)
    ]
    result = system.run(cycles=20_000_000, uart=uart, until=Until(quiet_cycles=PRINTING))
    before, rotated, restored = result.uart(0).decode().split("tierv> ")[1:4]
    table = dict(re.findall(r"I(\d\d)/P(\d\d)", rotated))
    assert len(table) == 16
    for name, (irq, priority) in ROTATED.items():
        assert f"I{irq:02}/P{priority:02} {name}\r\n" in rotated
    priorities = {name: priority for name, (_, priority, _) in listing(before).items()}
    assert priorities.keys() > ROTATED.keys()
    assert {name: priority for name, (_, priority, _) in listing(restored).items()} == priorities


def test_lines_move_while_traffic_goes_on_and_nothing_is_lost(system):
    tiers = owner(system, 2) == "tier2"
    payloads = [index.to_bytes(4, "big") * 25 for index in range(12)]
    command = b"2 irqtune ethmac=tier1:3" if tiers else b"2 irqtune ethmac=3"
    back = b"3 irqtune -o"
    frames = [arp_request(), *(udp(payload, FAST_ECHO) for payload in payloads[:4])]
    frames += [udp(command, COMMANDS), *(udp(payload, FAST_ECHO) for payload in payloads[4:8])]
    frames += [udp(back, COMMANDS), *(udp(payload, FAST_ECHO) for payload in payloads[8:])]
    # As close as the wire allows.
    result = system.run(
        cycles=20_000_000,
        frames=[Frame(frame, READY) for frame in frames],
        until=Until(quiet_cycles=QUIET),
    )
    answers = [Ether(frame.data) for frame in result.frames[1:]]
    echoes = [bytes(answer[UDP].payload) for answer in answers if answer[UDP].sport == FAST_ECHO]
    assert echoes == payloads
    texts = [bytes(a[UDP].payload).decode() for a in answers if a[UDP].sport == COMMANDS]
    moved, restored = map(listing, texts)
    assert moved["ethmac"][:2] == (owner(system, 1), 3)
    assert restored["ethmac"][:2] == (owner(system, 2), 8)


def suggestion(text: str) -> dict[str, tuple[int, int, int]]:
    """Priority, units and room by the name of the line, in the order suggested."""
    rows = re.findall(r"^ *\d+ (\w+) +(\d+) +(\d+) +(\d+) +[\d.-]+\s*$", text, re.MULTILINE)
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


def test_the_order_suggested_follows_what_was_measured(system):
    frames = [Frame(frame, READY) for frame in [arp_request(), *[udp(bytes(64), FAST_ECHO)] * 40]]
    uart = [UartBytes(2, bytes(60), cycle=READY)]
    ask_for_order = udp(b"4 irqtune --suggest --apply", COMMANDS)
    result = system.run(
        cycles=20_000_000,
        frames=[*frames, Frame(ask_for_order, READY + PRINTING)],
        uart=uart,
        until=Until(quiet_cycles=QUIET),
    )
    lines = suggestion(Ether(result.frames[-1].data)[UDP].payload.load.decode())
    busy = {name: line for name, line in lines.items() if line[1]}
    assert busy.keys() == {"ethmac", "console", "timer0", "uart1"}
    assert busy["uart1"][1] == 60
    waits = [room / units for _, units, room in busy.values()]
    assert waits == sorted(waits)
    assert list(busy) == list(lines)[: len(busy)]
    priorities = [priority for priority, _, _ in busy.values()]
    assert priorities == sorted(priorities, reverse=True)
    assert all(priority == 0 for name, (priority, _, _) in lines.items() if name not in busy)


def test_what_can_not_be_done_is_answered_counted_and_changes_nothing(system):
    impossible = b"6 irqtune ethmac=9 timer0=tier%d:1" % (3 if owner(system, 2) == "tier2" else 1)
    requests = [
        b"4 irqtune",
        b"5 irqtune nobody=7",
        impossible,
        b"7 irqtune ethmac=16",
        b"irqtune",
        b"",
        b"8 nonsense",
        bytes(range(200)),
        b"9 irqtune 8",
        b"10 irqtune -n 3",
        b"11 counters",
        b"12 irqtune",
    ]
    before, *errors, shown, counters, after = ask(system, *requests)
    for text, number in zip(errors, ["5", "6", "7", "-", "-", "8", "-", "9"], strict=True):
        assert re.match(rf"{number} 0 error *\nerror: .", text), text
    assert "no line 'nobody'" in errors[0]
    assert "tier3" in errors[1] or "tier1" in errors[1]
    assert "'16'" in errors[2]
    assert "I03/P00" in shown
    assert re.search(r"COMMAND_ERRORS +8\n", counters)
    assert [row[:2] for row in listing(after).values()] == [
        row[:2] for row in listing(before).values()
    ]


@pytest.mark.slow
def test_a_core_with_more_tiers_serves_lines_in_them():
    model = build_model(ModelParams(soc=simulation_params(cpu_variant="tiers4"), profile=False))
    services = build_firmware("services", model, Context.TIERS)
    simulation = Simulation(model)
    system = SimpleNamespace(
        services=services, run=lambda **given: simulation.run(services, **given)
    )
    requests = [
        udp(b"1 irqtune uart0=tier3:7 ethmac=tier3:1 timer0=tier1", COMMANDS),
        udp(b"through tier 3", FAST_ECHO),
        udp(b"2 irqtune uart0=tier4:7", COMMANDS),
        udp(b"3 irqtune", COMMANDS),
    ]
    _, echo, refused, shown = exchange(system, requests)
    assert bytes(echo[UDP].payload).startswith(b"through tier 3")
    assert b"no line can be served in tier4" in bytes(refused[UDP].payload)
    lines = listing(bytes(shown[UDP].payload).decode())
    assert lines["uart0"][:2] == ("tier3", 7)
    assert lines["ethmac"][:2] == ("tier3", 1)
    assert lines["timer0"][0] == "tier1"
    assert lines["console"][0] == "tier2"
