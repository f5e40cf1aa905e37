"""Serial ports that are served late, or have no packet to fill."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from terminal_host import (
    BIT_CYCLES,
    FRAMING,
    NEAREST_CYCLES,
    NO_RULE,
    PORT_PACKETS,
    SLOW,
    US_CYCLES,
    Client,
    TerminalHost,
)
from terminal_rules import Rules, packets

from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command, Item, LineState, Purge

#: From a character to the next one, without a gap.
CHARACTER_CYCLES = 10 * BIT_CYCLES

#: Rules that a burst of characters from the FIFO may run across.
ACROSS = [
    *(Rules(time, 0, NO_RULE.length, b"") for time in range(5_000, 20_000, 700)),
    *(Rules(SLOW.time, 0, length, b"") for length in range(1, 17)),
]


@pytest.fixture
def host() -> TerminalHost:
    with TerminalHost() as running:
        running.pack(SLOW)
        yield running


@pytest.mark.parametrize("latency", [400, 950, 3000, 9000, 25_000])
def test_bursts_end_where_packets_do_however_fast_the_sender_is(host, latency):
    host.command("latency", latency)
    for rules in ACROSS:
        host.pack(rules)
        begin = host.cycle + 3000
        arrivals = [(number, begin + number * NEAREST_CYCLES) for number in range(45)]
        host.arrive(arrivals)
        host.advance(2_000_000)
        found = packets(rules, arrivals)
        if rules.length < 45 and found[-1][0] == "open":
            found.pop()
        assert host.payloads() == [payload for _, payload in found]
        host.control(protocol.number(Command.PURGE_DATA, Purge.RECEIVED))
    assert host.counters()["OVERRUNS"] == 0


def test_a_port_without_packets_waits_loses_nothing_and_costs_little(host):
    host.set(Command.PACK_LENGTH, 4)
    host.pack(NO_RULE, port=1)
    host.set(Command.PACK_LENGTH, 4, port=1)
    assert host.command("hoard", "serial", 32) == [["hoarded", str(32 - 2 * PORT_PACKETS)]]
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    sent = bytes(range(30))
    host.come(sent)
    before = host.counters()
    assert before["STARVED"] == 1
    assert host.registers()["ev_enable"] & 1 == 0
    host.advance(1_000_000)
    after = host.counters()
    assert after["STARVED"] == 1
    assert after["INTERRUPTS"] == before["INTERRUPTS"]
    assert after["SERVICES"] - before["SERVICES"] == 100
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.advance(1_000_000)
    assert b"".join(host.payloads()) == sent[:28]
    assert host.registers()["ev_enable"] & 1 == 1
    host.come(b"zz")
    assert host.payloads() == [sent[28:] + b"zz"]
    assert host.counters()["RECEIVED_BYTES"] == 32


def test_a_port_that_gets_packets_again_goes_on_at_once(host):
    host.command("hoard", "serial", 32)
    host.set(Command.PACK_LENGTH, 1)
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    host.come(b"abc")
    counters = host.counters()
    assert (counters["STARVED"], counters["RECEIVED_BYTES"]) == (1, 2)
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.control(Item(Command.SIGNATURE))
    assert host.payloads() == [b"a", b"b", b"c"]


def test_a_port_has_a_packet_while_those_of_another_wait_for_clients_that_are_not_there(host):
    length = Rules(0, 0, 4, b"")
    host.command("hoard", "serial", 32)
    host.pack(length, port=1)
    for number in (77, 78):
        host.pack(length, client=Client(IPv4Address(f"10.0.0.{number}")))
        host.come(b"gone")
    sent = [bytes([number]) * 4 for number in range(6)]
    for data in sent:
        host.come(b"gone")
        host.come(data, port=1)
    assert host.payloads(1) == sent
    assert host.counters(1)["STARVED"] == 0


def test_bytes_that_have_waited_for_half_the_clocks_range_are_sent_when_there_is_a_packet(host):
    host.command("hoard", "serial", 32)
    host.pack(Rules(100 * US_CYCLES, 0, 1, b""))
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    host.come(b"abc")
    host.set(Command.PACK_LENGTH, 9)
    host.advance(5 << 29)
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.advance(20_000)
    assert host.payloads() == [b"a", b"b", b"c"]


@pytest.mark.parametrize("waits", [1 << 30, 5 << 29, 7 << 29])
@pytest.mark.parametrize("rule", [Command.PACK_TIME, Command.PACK_IDLE])
def test_bytes_that_have_waited_without_a_rule_are_sent_when_there_is_one(host, waits, rule):
    host.pack(NO_RULE)
    host.come(b"abc")
    host.advance(waits)
    assert host.command("reads") == [["reads", "0"]]
    host.set(rule, 1000)
    assert host.payloads() == [b"abc"]
    assert host.registers()["ev_enable"] & 1 == 1
    assert host.counters()["STARVED"] == 0


def test_three_characters_are_taken_at_once_when_no_rule_concerns_them(host):
    host.command("latency", 50_000)
    host.come(bytes(40))
    assert host.command("reads") == [["reads", "0"]]
    host.advance(50_000)
    # The first one alone, for its time.
    assert host.command("reads") == [["reads", str(1 + 39 // 3)]]
    host.come(bytes(40))
    host.advance(50_000)
    assert int(host.command("reads")[0][1]) <= 14 + 14


def test_three_are_taken_at_once_for_the_packet_behind_one_that_was_due(host):
    due, late = 40, 20
    host.command("latency", (due + late) * CHARACTER_CYCLES)
    host.pack(Rules(due * CHARACTER_CYCLES, 0, NO_RULE.length, b""))
    begin = host.cycle + 3000
    host.arrive([(number, begin + number * CHARACTER_CYCLES) for number in range(due + late)])
    host.advance((due + late) * CHARACTER_CYCLES + 3000)
    assert host.payloads() == [bytes(range(due))]
    (reads,) = host.command("reads")
    # Alone: both packets' first, and those just before the end of the first one.
    alone = 2 + 2 + (late + 3) // 4 + 2
    assert int(reads[1]) <= alone + (due + late - alone) // 3


@pytest.mark.parametrize("rules", [Rules(100_000, 0, 1, b""), Rules(0, 100_000, 1, b"")])
def test_a_byte_that_found_no_packet_keeps_its_time(host, rules):
    host.command("hoard", "serial", 32)
    host.pack(rules)
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    begin = host.cycle + 3000
    host.arrive([(number, begin + 1000 * number) for number in range(3)])
    host.advance(20_000)
    host.set(Command.PACK_LENGTH, 9)
    host.command("hoard", "serial", 0)
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.advance(500_000)
    (*_, last) = host.received()
    assert (last.cycle, last.payload) == (begin + 2000 + 100_000, b"\2")


def hold_one(host: TerminalHost, flags: int = 0) -> int:
    """Two packets of a byte each, and a byte with flags that finds none for it; its time."""
    host.pack(Rules(10_000, 0, NO_RULE.length, b""))
    host.command("hoard", "serial", 32)
    host.command("latency", 5000)
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    begin = host.cycle + 3000
    arrivals = [(ord("a"), begin), (ord("b"), begin + 30_000), (ord("c"), begin + 42_000)]
    host.arrive(arrivals, flags=[0, 0, flags])
    host.advance(60_000)
    host.command("latency", 0)
    counters = host.counters()
    assert (counters["PACKED_TIME"], counters["RECEIVED_BYTES"], counters["STARVED"]) == (2, 2, 1)
    # The character is no longer in the FIFO.
    assert host.command("reads") == [["reads", "3"]]
    return begin + 42_000


def test_a_byte_that_a_late_service_has_taken_goes_out_in_its_time(host):
    time = hold_one(host)
    host.set(Command.PACK_TIME, 1000)
    host.command("hoard", "serial", 0)
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.advance(200_000)
    sent = host.received()
    assert [one.payload for one in sent] == [b"a", b"b", b"c"]
    assert sent[-1].cycle == time + 1000 * US_CYCLES


def test_a_byte_with_an_error_that_finds_no_packet_is_told_of_as_received_and_is_sent(host):
    host.set(Command.SET_LINESTATE_MASK, LineState.FRAMING)
    hold_one(host, FRAMING)
    host.command("hoard", "serial", 0)
    host.control(Item(Command.FLOWCONTROL_RESUME))
    value = bytes([LineState.FRAMING, 0, 0, 0, 3])
    assert host.told() == [(0, Command.NOTIFY_LINESTATE, value)]
    host.advance(200_000)
    assert host.payloads() == [b"a", b"b", b"c"]
    assert host.counters()["RECEIVED_BYTES"] == 3


def test_a_byte_that_a_late_service_has_taken_is_purged_too(host):
    hold_one(host)
    host.control(protocol.number(Command.PURGE_DATA, Purge.RECEIVED))
    assert host.counters()["PURGED_BYTES"] == 3
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.come(b"z")
    host.advance(100_000)
    assert host.payloads() == [b"z"]


def test_a_byte_that_a_late_service_has_taken_is_gone_when_another_had_the_port(host):
    hold_one(host)
    host.command("give", 0)
    host.command("return", 0)
    assert host.registers()["ev_enable"] & 1
    host.command("hoard", "serial", 0)
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.come(b"z")
    host.advance(100_000)
    assert host.payloads() == [b"a", b"b", b"z"]


def test_a_purge_gives_the_port_packets_and_the_levels_of_an_empty_one(host):
    host.set(Command.PACK_LENGTH, 4)
    host.command("hoard", "serial", 32)
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    host.come(bytes(8))
    host.control(protocol.number(Command.PURGE_DATA, Purge.RECEIVED))
    host.come(bytes(2))
    assert host.registers()["timeout"] == 0
    host.control(protocol.number(Command.PURGE_DATA, Purge.RECEIVED))
    assert host.registers()["timeout"] == 10
    host.come(bytes(8))
    counters = host.counters()
    assert (counters["STARVED"], counters["PURGED_BYTES"]) == (0, 10)
