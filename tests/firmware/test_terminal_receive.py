"""From serial lines to the network: packets by their definition, however late ports are served."""

from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate

import pytest
from host_build import examples
from hypothesis import given
from hypothesis import strategies as st
from terminal_host import (
    BIT_CYCLES,
    BREAK,
    CLIENT,
    DATA_CLIENT,
    DEPTH,
    FRAMING,
    NEAREST_CYCLES,
    NO_RULE,
    PARITY,
    SLOW,
    US_CYCLES,
    Client,
    TerminalHost,
    character_cycles,
)
from terminal_rules import Rules, packets

from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command, Item, LineState, ModemState, Purge

CHARACTER = character_cycles()
#: A character is in the FIFO so long before its time.
EARLY = BIT_CYCLES // 4 + 8
#: For a delimiter, characters that may wait, and how long each does so at the most.
DELIMITER_CYCLES = 16 * (CHARACTER + 10 * BIT_CYCLES)


@pytest.fixture
def host() -> TerminalHost:
    with TerminalHost() as running:
        running.pack(SLOW)
        yield running


def due(rules: Rules, found: list[tuple[str, bytes]], arrivals: list[tuple[int, int]]) -> list[int]:
    """When each packet was to be closed."""
    times, at = [], 0
    for reason, data in found:
        first, last = arrivals[at][1], arrivals[at + len(data) - 1][1]
        times.append({"time": first + rules.time, "idle": last + rules.idle}.get(reason, last))
        at += len(data)
    return times


def last_by_time(rules: Rules, data: bytes, times: list[int]) -> list[tuple[str, bytes]]:
    """The last packet, which nothing but time can close; none if no rule does."""
    ends = {times[-1] + rules.idle: "idle"} if rules.idle else {}
    if rules.time:
        ends[times[-len(data)] + rules.time] = "time"
    return [(ends[min(ends)], data)] if min(ends, default=0) else []


US = st.one_of(st.just(0), st.integers(1, 12), st.integers(13, 200), st.just(1000))
RULES = st.builds(
    Rules,
    time=US.map(lambda us: us * US_CYCLES),
    idle=US.map(lambda us: us * US_CYCLES),
    length=st.one_of(st.integers(1, 9), st.integers(10, 90), st.just(NO_RULE.length)),
    delimiter=st.sampled_from([b"", b"", b"", b"a", b"ab", b"aa"]),
)
GAPS = st.one_of(
    st.just(NEAREST_CYCLES),
    st.integers(NEAREST_CYCLES, CHARACTER + BIT_CYCLES),
    st.integers(NEAREST_CYCLES, 30_000),
)


@given(
    rules=RULES,
    parts=st.lists(st.tuples(st.integers(1, 40), GAPS, GAPS), min_size=1, max_size=6),
    seed=st.integers(0, 1 << 32),
    latency=st.sampled_from([0, 0, 700, 3000]),
    flags=st.sampled_from([0, 0, FRAMING, PARITY]),
)
@examples(120)
def test_packets_are_those_of_the_definition(rules, parts, seed, latency, flags):
    """Across 2^32 cycles; each goes out when it is due, or as soon as its port is served then."""
    choose = random.Random(seed)
    gaps = [gap for count, first, rest in parts for gap in [first] + [rest] * (count - 1)]
    with TerminalHost() as host:
        host.pack(rules)
        host.command("latency", latency)
        times = list(accumulate(gaps, initial=host.cycle + 2 * CHARACTER))[1:]
        arrivals = [(choose.choice(b"aabc\0\xff"), time) for time in times]
        flagged = [flags * (choose.random() < 0.1) for _ in arrivals]
        host.arrive(arrivals, flags=flagged)
        host.advance(times[-1] - host.cycle + rules.time + rules.idle + 10 * DELIMITER_CYCLES)
        sent = host.received()
        found = packets(rules, arrivals)
        if found[-1][0] == "open":
            found += last_by_time(rules, found.pop()[1], times)
        assert [one.payload for one in sent] == [payload for _, payload in found]
        counters = host.counters()
        reasons = Counter(reason for reason, _ in found)
        if sum(len(payload) for _, payload in found) == len(arrivals):
            assert counters["RECEIVED_BYTES"] == len(arrivals)
        assert counters["PACKETS"] == len(found)
        assert {name: counters[f"PACKED_{name.upper()}"] for name in reasons} == reasons
        assert counters["FRAMING_ERRORS"] + counters["PARITY_ERRORS"] == sum(map(bool, flagged))
        assert counters["OVERRUNS"] == 0
        if counters["STARVED"]:
            return
        for datagram, cycle, (reason, _) in zip(
            sent, due(rules, found, arrivals), found, strict=True
        ):
            late = datagram.cycle - cycle
            assert -EARLY <= late <= latency + DELIMITER_CYCLES * (reason == "delimiter")


@pytest.mark.parametrize(
    ("baud", "form", "bits"),
    [
        (1_000_000, {Command.SET_DATASIZE: 7}, 8),
        (1_000_000, {Command.SET_DATASIZE: 5, Command.SET_PARITY: 2}, 7),
        (9600, {Command.SET_PARITY: 3, Command.SET_STOPSIZE: 2}, 10),
        (9600, {Command.SET_PARITY: 5}, 10),
        (12_500_000, {}, 9),
    ],
)
def test_time_runs_from_three_quarters_of_the_stop_bit(host, baud, form, bits):
    for command, value in {Command.SET_BAUDRATE: baud, **form}.items():
        assert host.set(command, value) == value
    host.pack(Rules(100_000, 0, NO_RULE.length, b""))
    begin = host.cycle + 200_000
    host.arrive([(7, begin)], baud=baud, bits=bits)
    host.advance(400_000)
    assert [one.cycle for one in host.received()] == [begin + 100_000]


def test_a_long_packet_needs_no_more_interrupts_than_its_bytes_fill_fifos(host):
    host.pack(Rules(100_000 * US_CYCLES, 0, NO_RULE.length, b""))
    before = host.counters()
    host.come(bytes(range(200)) * 5)
    host.advance(100_000 * US_CYCLES)
    after = host.counters()
    assert host.payloads() == [bytes(range(200)) * 5]
    assert after["INTERRUPTS"] - before["INTERRUPTS"] <= 2 + 1000 // (DEPTH * 3 // 4)
    assert after["SERVICES"] - before["SERVICES"] <= 3 + 1000 // (DEPTH * 3 // 4)


@pytest.mark.parametrize(
    ("baud", "waiting"), [(1_000_000, 48), (5_000_000, 43), (6_250_000, 39), (12_500_000, 32)]
)
def test_characters_wait_as_long_as_others_may_be_served(host, baud, waiting):
    """32 cycles for a character of each FIFO; half of one at the most, a quarter at the least."""
    host.set(Command.SET_BAUDRATE, baud)
    to_come = 2 * DEPTH * 32 // character_cycles(baud) + 1
    assert waiting == DEPTH - max(min(to_come, DEPTH // 2), DEPTH // 4)
    assert host.registers()["watermarks"] & 0xFFFF == waiting


@pytest.mark.parametrize("rules", [Rules(50_000, 0, 9, b""), Rules(0, 50_000, 9, b"")])
def test_a_service_shortly_before_a_packet_is_due_does_not_send_it(host, rules):
    host.pack(rules)
    begin = host.cycle + 3000
    host.arrive([(0, begin)])
    host.advance(3000 + 50_000 - 20)
    host.data(payload=b"")
    assert host.received() == []
    host.advance(100)
    assert [one.cycle for one in host.received()] == [begin + 50_000]


def test_nothing_calls_for_a_packet_that_is_gone(host):
    host.pack(Rules(50_000, 0, 2, b""))
    host.come(b"a")
    host.come(b"b")
    assert host.payloads() == [b"ab"]
    before = host.counters()["SERVICES"]
    host.advance(200_000)
    assert host.counters()["SERVICES"] == before


def test_a_gap_is_waited_for_behind_the_last_byte_alone(host):
    host.pack(Rules(0, 50_000, NO_RULE.length, b""))
    before = host.counters()["SERVICES"]
    host.come(bytes(2 * 48 + 1))
    host.advance(200_000)
    assert host.payloads() == [bytes(2 * 48 + 1)]
    # Two watermarks, a timeout, and the end of the gap.
    assert host.counters()["SERVICES"] == before + 4


@pytest.mark.parametrize("early", [1, 7])
def test_an_alarm_that_rings_early_is_set_again(host, early):
    """Its clock and that of the ports are the same to a few cycles."""
    host.pack(Rules(50_000, 0, NO_RULE.length, b""))
    host.command("early", early)
    begin = host.cycle + 3000
    host.arrive([(0, begin)])
    host.advance(100_000)
    assert [one.cycle for one in host.received()] == [begin + 50_000]


def test_a_break_ends_a_packet_and_is_no_byte_of_any(host):
    host.set(Command.SET_LINESTATE_MASK, LineState.BREAK)
    host.come(b"ab")
    host.come(b"\0", flags=BREAK)
    assert host.payloads() == [b"ab"]
    assert host.told() == [(0, Command.NOTIFY_LINESTATE, bytes([LineState.BREAK, 0, 0, 0, 2]))]
    host.come(b"\0", flags=BREAK)
    assert host.payloads() == []
    host.come(b"c")
    host.come(b"\0", flags=BREAK)
    assert host.payloads() == [b"c"]
    counters = host.counters()
    assert (counters["BREAKS"], counters["PACKED_EVENT"], counters["PACKETS"]) == (3, 2, 2)
    assert counters["NOTIFICATIONS"] == 3


@pytest.mark.parametrize(
    ("flags", "state"), [(FRAMING, LineState.FRAMING), (PARITY, LineState.PARITY)]
)
def test_bytes_with_errors_are_data_and_told_of_if_the_client_wants(host, flags, state):
    host.come(b"a")
    host.come(b"b", flags=flags)
    assert host.told() == []
    host.set(Command.SET_LINESTATE_MASK, 0xFF & ~state)
    host.come(b"b", flags=flags)
    assert host.told() == []
    host.set(Command.SET_LINESTATE_MASK, state)
    host.come(b"cd")
    host.come(b"e", flags=flags)
    # Each time it happens, however soon.
    host.come(b"f", flags=flags)
    told = [bytes([state, 0, 0, 0, count]) for count in (6, 7)]
    assert host.told() == [(0, Command.NOTIFY_LINESTATE, value) for value in told]
    host.advance(SLOW.time)
    assert host.payloads() == [b"abbcdef"]


def test_states_that_come_before_the_protocol_service_runs_are_told_at_once(host):
    host.set(Command.SET_LINESTATE_MASK, 0xFF)
    host.command("hold", 1, 0)
    host.come(b"a", flags=FRAMING)
    host.come(b"b", flags=PARITY)
    host.command("hold", 0, 0)
    value = bytes([LineState.FRAMING | LineState.PARITY, 0, 0, 0, 2])
    assert host.told() == [(0, Command.NOTIFY_LINESTATE, value)]


def test_states_are_not_told_while_the_client_takes_no_datagrams_but_afterwards(host):
    host.set(Command.SET_LINESTATE_MASK, 0xFF)
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    host.come(b"a", flags=FRAMING)
    host.come(b"b")
    host.come(b"c", flags=PARITY)
    host.command("cts", 0, 1)
    host.come(b"d")
    assert host.told() == []
    host.control(Item(Command.FLOWCONTROL_RESUME))
    state = ModemState.CTS_CHANGED | ModemState.CTS
    assert host.told() == [
        (0, Command.NOTIFY_LINESTATE, bytes([LineState.FRAMING | LineState.PARITY, 0, 0, 0, 3])),
        (0, Command.NOTIFY_MODEMSTATE, bytes([state])),
    ]
    host.control(Item(Command.FLOWCONTROL_RESUME))
    assert host.told() == []


def test_what_a_full_fifo_loses_is_counted_and_told(host):
    host.set(Command.SET_LINESTATE_MASK, 0xFF)
    host.command("latency", 10_000_000)
    host.come(bytes(DEPTH) + b"lost")
    host.command("latency", 0)
    host.come(b"on")
    assert host.counters()["OVERRUNS"] == 4
    assert host.told() == [
        (0, Command.NOTIFY_LINESTATE, bytes([LineState.OVERRUN, 0, 0, 0, DEPTH + 1]))
    ]
    host.advance(SLOW.time)
    assert host.payloads() == [bytes(DEPTH) + b"on"]


def test_other_rules_close_the_packet_and_another_form_does_not(host):
    host.come(b"a")
    host.set(Command.SET_BAUDRATE, 2_000_000)
    host.set(Command.SET_BAUDRATE, 1_000_000)
    assert host.payloads() == []
    for command, value in (
        (Command.PACK_TIME, protocol.MAX_RULE_US - 1),
        (Command.PACK_IDLE, 0),
        (Command.PACK_LENGTH, 9),
    ):
        host.set(command, value)
        assert host.payloads() == [b"a"]
        host.come(b"a")
    host.control(protocol.delimiter(b"x"))
    assert host.payloads() == [b"a"]
    assert host.counters()["PACKED_EVENT"] == 4


def test_nothing_is_sent_while_the_client_takes_none_and_all_is_afterwards(host):
    host.pack(NO_RULE, port=1)
    for port in (0, 1):
        host.set(Command.PACK_LENGTH, 3, port)
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    host.come(b"abcdefg")
    host.come(b"uvw", port=1)
    assert (host.payloads(), host.payloads(1)) == ([], [b"uvw"])
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.advance(100_000)
    assert host.payloads() == [b"abc", b"def"]
    host.come(b"hi")
    assert host.payloads() == [b"ghi"]


def test_a_purge_takes_what_waits_anywhere_and_nothing_else(host):
    host.set(Command.PACK_LENGTH, 4)
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    host.command("hoard", "serial", 32)
    host.come(bytes(11))
    host.command("latency", 10_000_000)
    host.come(bytes(5))
    host.command("latency", 0)
    (answer,) = host.control(protocol.number(Command.PURGE_DATA, Purge.RECEIVED))
    assert answer.number == Purge.RECEIVED
    assert host.counters()["PURGED_BYTES"] == 16
    host.control(Item(Command.FLOWCONTROL_RESUME))
    host.come(b"abcdefgh")
    assert host.payloads() == [b"abcd", b"efgh"]
    assert host.counters()["NOT_SENT_BYTES"] == 0


def test_a_purge_begins_a_packet_anew(host):
    host.pack(Rules(0, 0, NO_RULE.length, b"xy"))
    host.come(b"abx")
    host.control(protocol.number(Command.PURGE_DATA, Purge.RECEIVED))
    assert host.counters()["PURGED_BYTES"] == 3
    host.come(b"yz")
    host.come(b"xy")
    assert host.payloads() == [b"yzxy"]


def test_packets_without_a_peer_are_counted_and_their_memory_is_not_lost(host):
    host.control(Item(Command.PEER, bytes(6)))
    host.set(Command.PACK_LENGTH, 2)
    host.come(bytes(200))
    counters = host.counters()
    assert (counters["NOT_SENT_PACKETS"], counters["NOT_SENT_BYTES"]) == (100, 200)
    assert host.payloads() == []
    host.data(payload=b"")
    host.come(b"ab")
    assert [(one.to, one.payload) for one in host.received()] == [(DATA_CLIENT, b"ab")]


def test_packets_for_a_neighbour_that_is_asked_for_wait_for_it(host):
    stranger = Client(CLIENT.address + 7, 9)
    host.pack(Rules(0, 0, 2, b""), client=stranger)
    host.come(b"abcd")
    assert host.payloads() == []
    assert len(host.others) == 1
    host.arp(2, stranger)
    assert host.payloads() == [b"ab", b"cd"]
    host.command("forget")
    host.come(b"efghijkl")
    host.arp(2, stranger)
    host.advance(1_000_000)
    assert host.payloads() == [b"ef", b"gh", b"ij", b"kl"]
    assert host.counters()["NOT_SENT_PACKETS"] == 0


def test_a_datagram_of_another_module_that_waits_for_the_neighbour_keeps_its_place(host):
    stranger = Client(CLIENT.address + 7, 9)
    host.pack(Rules(0, 0, 2, b""), client=stranger)
    host.command("forget")
    host.command(f"other {int(stranger.address)}")
    host.come(b"abcd")
    host.arp(2, stranger)
    host.advance(1_000_000)
    assert [one.payload for one in host.sent] == [b"other", b"ab", b"cd"]


def test_ports_have_their_own_lines_rules_and_peers(host):
    other = Client(CLIENT.address, 5000)
    host.pack(Rules(0, 0, 2, b""))
    host.pack(Rules(0, 0, 3, b""), port=1, client=other)
    host.come(b"abcd")
    host.come(b"uvwxyz", port=1)
    assert host.payloads() == [b"ab", b"cd"]
    assert [(one.to, one.payload) for one in host.received(1)] == [(other, b"uvw"), (other, b"xyz")]
    assert host.counters(1)["RECEIVED_BYTES"] == 6
