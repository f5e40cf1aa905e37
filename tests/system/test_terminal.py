"""The terminal server on the whole SoC, in every build and on another CPU."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from system_builds import pin
from terminal_frames import (
    CLIENT_PORT,
    GAP,
    PEER_PORT,
    Conversation,
    control_frame,
    data_frame,
    peer_is_here,
    udp_frame,
)
from terminal_rules import Rules, packets

from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command, Control, Item, LineState, Parity, Reason
from tierv.sim.records import UartError
from tierv.sim.stimulus import Frame, UartBreak, UartBytes, UartFormat
from tierv.sim.stimulus import Parity as LineParity

PORTS = 4
CLOCK_HZ = 100_000_000
BAUD = 1_000_000
BIT = CLOCK_HZ // BAUD
#: Cycles from a start bit to when the server takes its character for received: three quarters of
#: the stop bit of 8N1, and eight.
RECEIVED = 39 * BIT // 4 + 8
CYCLES_PER_US = CLOCK_HZ // 1_000_000
ASK_COUNTERS = Item(Command.COUNTERS)


def some_bytes(seed: int, count: int) -> bytes:
    return random.Random(seed).randbytes(count)


def rules_items(rules: Rules) -> list[Item]:
    """Commands that set rules whose times are whole microseconds."""
    return [
        protocol.number(Command.PACK_TIME, rules.time // CYCLES_PER_US),
        protocol.number(Command.PACK_IDLE, rules.idle // CYCLES_PER_US),
        protocol.number(Command.PACK_LENGTH, rules.length),
        protocol.delimiter(rules.delimiter),
        peer_is_here(),
    ]


@pytest.mark.parametrize("count", [250, pytest.param(700, marks=pytest.mark.slow)])
def test_all_ports_at_once_carry_every_byte_both_ways(system, count):
    baud = 250_000
    speed = protocol.number(Command.SET_BAUDRATE, baud)
    talk = Conversation(
        system, *(control_frame(port, speed, peer_is_here()) for port in range(PORTS))
    )
    down = [some_bytes(port, count) for port in range(PORTS)]
    up = [some_bytes(10 + port, count - 100) for port in range(PORTS)]
    form = UartFormat(baud)
    frames = [Frame(data_frame(data, port), talk.start) for port, data in enumerate(down)]
    uart = [UartBytes(pin(port), data, talk.start, form) for port, data in enumerate(up)]
    end = talk.start + count * 10 * CLOCK_HZ // baud + 1_400_000
    asks = [Frame(control_frame(port, ASK_COUNTERS), end + GAP * port) for port in range(PORTS)]
    said = talk.run([*frames, *asks], uart, uart_formats={pin(port): form for port in range(PORTS)})
    for port in range(PORTS):
        assert said.result.uart(pin(port)) == down[port]
        assert said.bytes_of(port) == up[port]
        assert {each.target for each in said.data(port)} == {PEER_PORT}
        counters = said.counters(port)
        assert counters["RECEIVED_BYTES"] == count - 100
        assert counters["TRANSMIT_BYTES"] == count
        assert counters["OVERRUNS"] == counters["STARVED"] == counters["NOT_SENT_BYTES"] == 0
        assert counters["PACKETS"] == len(said.data(port))
    assert not said.result.characters["errors"].any()


ALL_RULES = [
    Rules(time=50_000, idle=0, length=1472, delimiter=b""),
    Rules(time=0, idle=5_000, length=1472, delimiter=b""),
    Rules(time=0, idle=0, length=7, delimiter=b""),
    Rules(time=30_000, idle=3_500, length=20, delimiter=b"\r\n"),
]


def arrivals(seed: int, count: int) -> list[tuple[int, int]]:
    """(byte, start bit in cycles) of characters with gaps of all sizes between."""
    rng = random.Random(seed)
    found, at = [], 0
    for _ in range(count):
        byte = rng.choice(b"\r\nab\x00\xff")
        found.append((byte, at))
        # Back to back, a little apart, or around what the rules ask for.
        gap = rng.choice([0, 0, 0, rng.randrange(300), rng.randrange(6_000), 37_777])
        at += 10 * BIT + gap
    return found


def is_clear(rules: Rules, received: list[tuple[int, int]]) -> bool:
    """No byte comes so near to the end of a packet that the harness's clock would decide."""
    near = [
        replace(rules, time=rules.time and rules.time + a, idle=rules.idle and rules.idle + b)
        for a in (-40, 40)
        for b in (-40, 40)
    ]
    return all(packets(each, received) == packets(rules, received) for each in near)


def test_packets_are_those_of_the_rules(system):
    """The four rules on four ports, with the same bytes."""
    talk = Conversation(
        system, *(control_frame(port, *rules_items(rules)) for port, rules in enumerate(ALL_RULES))
    )
    seed = next(
        seed
        for seed in range(100)
        if all(is_clear(rules, arrivals(seed, 120)) for rules in ALL_RULES)
    )
    sent = arrivals(seed, 120)
    uart = [
        UartBytes(pin(port), bytes([byte]), talk.start + time)
        for port in range(PORTS)
        for byte, time in sent
    ]
    said = talk.run(uart=uart)
    received = [(byte, talk.start + time + RECEIVED) for byte, time in sent]
    for port, rules in enumerate(ALL_RULES):
        expected = packets(rules, received)
        found = [each.payload for each in said.data(port)]
        if expected[-1][0] == "open" and not rules.time and not rules.idle:
            expected.pop()
        assert found == [data for _, data in expected]


def test_a_packet_goes_when_its_time_is_over(system):
    times = [100, 101, 257]
    talk = Conversation(
        system,
        *(
            control_frame(port, *rules_items(Rules(time * CYCLES_PER_US, 0, 1472, b"")))
            for port, time in enumerate(times)
        ),
    )
    uart = [UartBytes(pin(port), b"x", talk.start + 20_000 * port) for port in range(len(times))]
    said = talk.run(uart=uart)
    late = []
    for port, time in enumerate(times):
        (datagram,) = said.data(port)
        due = talk.start + 20_000 * port + RECEIVED + time * CYCLES_PER_US
        late.append(datagram.cycle - due)
    # From the due cycle to the wire.
    assert min(late) > 0
    own_core = system.simulation.model.params.soc.cpu == "tierv"
    assert max(late) < (4_000 if own_core else 10_000)
    assert max(late) - min(late) < 10 * CYCLES_PER_US


def test_a_break_and_bad_characters_are_told_and_counted(system):
    talk = Conversation(
        system,
        control_frame(
            0,
            peer_is_here(),
            protocol.number(Command.PACK_TIME, 1000),
            protocol.number(Command.SET_LINESTATE_MASK, 0xFF),
        ),
        control_frame(
            1,
            peer_is_here(),
            protocol.number(Command.PACK_TIME, 1000),
            protocol.number(Command.SET_PARITY, Parity.EVEN),
        ),
    )
    even = UartFormat(BAUD, parity=LineParity.EVEN)
    odd = UartFormat(BAUD, parity=LineParity.ODD)
    uart = [
        UartBytes(pin(0), b"before", talk.start),
        UartBreak(pin(0), talk.start + 20_000, bits=15),
        UartBytes(pin(0), b"after", talk.start + 40_000),
        UartBytes(pin(0), b"\x55", talk.start + 200_000, framing_error=True),
        UartBytes(pin(1), b"ab", talk.start, format=even),
        UartBytes(pin(1), b"c", talk.start + 10_000, format=odd),
    ]
    asks = [Frame(control_frame(port, ASK_COUNTERS), talk.start + 400_000) for port in (0, 1)]
    said = talk.run(asks, uart)
    assert [each.payload for each in said.data(0)] == [b"before", b"after", b"\x55"]
    states = [item for item in said.told(0) if item.code == Command.NOTIFY_LINESTATE]
    assert [item.value for item in states] == [
        bytes([LineState.BREAK, 0, 0, 0, 6]),
        bytes([LineState.FRAMING, 0, 0, 0, 12]),
    ]
    counters = said.counters(0)
    assert (counters["BREAKS"], counters["FRAMING_ERRORS"], counters["PACKED_EVENT"]) == (1, 1, 1)
    # A parity error is data all the same; nobody has asked to be told.
    assert said.bytes_of(1) == b"abc"
    assert said.counters(1)["PARITY_ERRORS"] == 1
    assert said.told(1) == []


def test_the_client_sends_a_break_and_sets_form_and_speed(system):
    talk = Conversation(
        system,
        control_frame(2, protocol.number(Command.SET_CONTROL, Control.BREAK_ON)),
        control_frame(2, protocol.number(Command.SET_CONTROL, Control.BREAK_OFF)),
        control_frame(
            2,
            protocol.number(Command.SET_BAUDRATE, 115_200),
            protocol.number(Command.SET_DATASIZE, 7),
            protocol.number(Command.SET_PARITY, Parity.EVEN),
            protocol.number(Command.SET_STOPSIZE, 2),
            peer_is_here(),
        ),
    )
    form = UartFormat(115_200, 7, LineParity.EVEN, 2)
    said = talk.run(
        [Frame(data_frame(b"seven bits", 2), talk.start)],
        [UartBytes(pin(2), b"up too", talk.start, format=form)],
        quiet=2_000_000,
        uart_formats={pin(2): form},
    )
    own = said.result.characters[said.result.characters["port"] == pin(2)]
    assert own["errors"][0] == UartError.BREAK
    assert own["duration_cycles"][0] > GAP / 2
    assert bytes(own["data"][1:].astype(np.uint8)) == b"seven bits"
    assert not own["errors"][1:].any()
    assert said.bytes_of(2) == b"up too"
    (_, answers) = said.control(2)[2]
    assert abs(answers[0].number - 115_200) <= 1


def test_a_full_transmit_queue_is_told_and_nothing_is_half_taken(system):
    """Datagrams come faster than the line takes them."""
    talk = Conversation(system, control_frame(3, peer_is_here()))
    sent = [some_bytes(index, 1400) for index in range(4)]
    frames = [Frame(data_frame(data, 3), talk.start) for data in sent]
    ask = Frame(control_frame(3, ASK_COUNTERS, Item(Command.TRANSMIT_STATE)), talk.start + GAP * 10)
    said = talk.run([*frames, ask], quiet=3_200_000)
    taken = said.result.uart(pin(3))
    assert taken == b"".join(sent[: len(taken) // 1400])
    counters = said.counters(3)
    assert counters["TRANSMIT_BYTES"] == len(taken)
    assert counters["REFUSED_BYTES"] == 4 * 1400 - len(taken) > 0
    assert counters["REFUSED_DATAGRAMS"] == 4 - len(taken) // 1400
    codes = [item.code for item in said.told(3)]
    assert codes == [Command.FLOWCONTROL_SUSPEND, Command.FLOWCONTROL_RESUME]


def test_a_client_that_suspends_gets_everything_when_it_resumes(system):
    talk = Conversation(
        system,
        control_frame(0, peer_is_here(), protocol.number(Command.PACK_LENGTH, 50)),
        control_frame(0, Item(Command.FLOWCONTROL_SUSPEND)),
    )
    data = some_bytes(3, 110)
    resume = Frame(control_frame(0, Item(Command.FLOWCONTROL_RESUME)), talk.start + 500_000)
    said = talk.run([resume], [UartBytes(pin(0), data, talk.start)], quiet=1_500_000)
    assert all(each.cycle > talk.start + 500_000 for each in said.data(0))
    assert said.bytes_of(0) == data


def test_the_first_sender_is_the_peer_until_another_is_set(system):
    talk = Conversation(system, control_frame(1, protocol.number(Command.PACK_TIME, 100)))
    step = 200_000
    frames = [
        Frame(data_frame(b"first", 1, 4001), talk.start + step),
        Frame(data_frame(b"stranger", 1, 4002), talk.start + 2 * step),
        Frame(control_frame(1, peer_is_here(4002)), talk.start + 4 * step),
        Frame(data_frame(b"second", 1, 4002), talk.start + 5 * step),
        Frame(control_frame(1, ASK_COUNTERS), talk.start + 7 * step),
    ]
    uart = [
        UartBytes(pin(1), data, talk.start + at)
        for data, at in ((b"lost", 0), (b"one", 3 * step), (b"two", 6 * step))
    ]
    said = talk.run(frames, uart)
    assert said.result.uart(pin(1)) == b"firstsecond"
    assert [(each.target, each.payload) for each in said.data(1)] == [
        (4001, b"one"),
        (4002, b"two"),
    ]
    counters = said.counters(1)
    assert (counters["NOT_SENT_PACKETS"], counters["NOT_SENT_BYTES"]) == (1, 4)


def test_bad_commands_and_a_flood_of_one_port_leave_the_others_alone(system):
    talk = Conversation(
        system,
        control_frame(0, peer_is_here()),
        control_frame(0, protocol.number(Command.SET_BAUDRATE, 50_000_000)),
        control_frame(0, protocol.number(Command.SET_BAUDRATE, 1)),
        control_frame(0, Item(99, b"what?")),
        control_frame(200, Item(Command.SIGNATURE)),
        udp_frame(b"\1", protocol.CONTROL_PORT, CLIENT_PORT),
        udp_frame(random.Random(5).randbytes(300), protocol.CONTROL_PORT, CLIENT_PORT),
    )
    down, up = some_bytes(20, 900), some_bytes(21, 900)
    flood = [UartBytes(pin(1), some_bytes(22, 2_000), talk.start)]
    flood += [UartBreak(pin(2), talk.start + 1_600 * index, bits=12) for index in range(200)]
    said = talk.run(
        [
            Frame(data_frame(down, 0), talk.start),
            Frame(control_frame(0, ASK_COUNTERS), talk.start + 2_500_000),
            Frame(control_frame(1, ASK_COUNTERS), talk.start + 2_500_000),
            Frame(control_frame(2, ASK_COUNTERS), talk.start + 2_500_000),
        ],
        [UartBytes(pin(0), up, talk.start), *flood],
    )
    assert said.result.uart(pin(0)) == down
    assert said.bytes_of(0) == up
    refused = [
        item.value[1]
        for _, items in said.control(0)
        for item in items
        if item.code == protocol.ERROR
    ]
    assert refused == [Reason.IMPOSSIBLE, Reason.IMPOSSIBLE, Reason.UNKNOWN_COMMAND]
    assert said.control(200) == [(1, [Item(protocol.ERROR, bytes([255, Reason.BAD_PORT]))])]
    counters = said.counters(0)
    assert (counters["BAD_COMMANDS"], counters["BAD_DATAGRAMS"]) == (3, 3)
    assert said.counters(1)["NOT_SENT_BYTES"] == 2_000
    assert said.counters(2)["BREAKS"] == 200


def test_the_console_shows_the_ports(system):
    talk = Conversation(system, control_frame(0, peer_is_here()))
    said = talk.run(uart=[UartBytes(0, b"serial\n", talk.start)], quiet=1_000_000)
    text = said.result.uart(0).decode()
    assert f" 0: {BAUD} 8N1  peer 192.168.1.100:{PEER_PORT}" in text
    assert f" 1: {BAUD} 8N1  no peer" in text


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 41, 42, 43])
def test_lengths_of_all_kinds_end_a_packet(system, count):
    talk = Conversation(
        system,
        control_frame(0, peer_is_here(), protocol.number(Command.PACK_LENGTH, count)),
    )
    data = some_bytes(count, 2 * count)
    said = talk.run(uart=[UartBytes(pin(0), data, talk.start)], quiet=100_000)
    assert [each.payload for each in said.data(0)] == [data[:count], data[count:]]
