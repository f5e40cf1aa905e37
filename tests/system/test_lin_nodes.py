"""LIN on the whole SoC: a responder that a stimulus commands, a commander, both on one wire."""

from __future__ import annotations

import re

import pytest
from scapy.layers.inet import UDP
from scapy.layers.l2 import Ether
from system_builds import READY, pin
from test_services import COMMANDS, QUIET, arp_request, udp
from test_services_irqtune import suggestion

from tierv.sim import lin
from tierv.sim.host import protocol
from tierv.sim.host.lin import (
    HOST_PORT,
    Counter,
    Failure,
    Outcome,
    Record,
    Request,
    decode,
    encode,
)
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame, UartBytes, UartFormat

#: The fastest that LIN has.
FORM = UartFormat(20_000)
CLOCK_HZ = 100_000_000
BIT = CLOCK_HZ // 20_000
STEP = 100_000
STATUS, COMMAND = 0x21, 0x22


class Session:
    """Frames and characters of a run, one after the other."""

    def __init__(self) -> None:
        self.cycle = READY
        self.frames = [Frame(arp_request(), READY)]
        self.uart: list = []
        self._number = 0

    def _send(self, payload: bytes, port: int) -> None:
        self.cycle += STEP
        self.frames.append(Frame(udp(payload, port), self.cycle))

    def command(self, *commands: str) -> Session:
        for text in commands:
            self._number += 1
            self._send(f"{self._number} {text}".encode(), COMMANDS)
        return self

    def ask(self, *records: Record) -> Session:
        self._send(encode(records), HOST_PORT)
        return self

    def header(self, port: int, identifier: int, length: int, **changes) -> int:
        """A header, and time for a response; the cycle of the header's end."""
        self.cycle += STEP
        begin = self.cycle
        self.uart += lin.header(pin(port), identifier, begin, FORM, **changes)
        end = begin + lin.header_cycles(FORM.baud, CLOCK_HZ)
        self.cycle = end + (10 * length + 14) * BIT
        return end

    def frame(self, port: int, identifier: int, data: bytes, **changes) -> Session:
        self.cycle += STEP
        self.uart += lin.frame(pin(port), identifier, data, self.cycle, FORM, **changes)
        self.cycle += (lin.HEADER_BITS + 10 * len(data) + 14) * BIT
        return self

    def characters(self, port: int, data: bytes) -> Session:
        """What the terminal server receives after reset, and time for its packet."""
        self.cycle += STEP
        form = UartFormat(1_000_000)
        self.uart.append(UartBytes(pin(port), data, self.cycle, form))
        self.cycle += 10 * len(data) * round(CLOCK_HZ / form.baud)
        return self.wait(11)

    def wait(self, ms: float) -> Session:
        self.cycle += round(ms * CLOCK_HZ / 1000)
        return self

    def run(self, system, *, ports=(0,), wires=None, **arguments):
        # The run is over some time after the last stimulus.
        self.command("help help")
        return system.run(
            cycles=self.cycle + 20_000_000,
            frames=self.frames,
            uart=self.uart,
            uart_formats={pin(port): FORM for port in ports},
            wires=[(pin(port),) for port in ports] if wires is None else wires,
            until=Until(quiet_cycles=QUIET),
            **arguments,
        )


def answers(result) -> list[str]:
    """What commands printed, by their order."""
    packets = [Ether(frame.data) for frame in result.frames]
    texts = [
        bytes(packet[UDP].payload)[: packet[UDP].len - 8].decode()
        for packet in packets
        if UDP in packet and packet[UDP].sport == COMMANDS
    ]
    return [text.partition("\n")[2] for text in texts]


def records(result) -> list[Record]:
    """Answers and reports of the data port."""
    packets = [Ether(frame.data) for frame in result.frames]
    return [
        record
        for packet in packets
        if UDP in packet and packet[UDP].sport == HOST_PORT
        for record in decode(bytes(packet[UDP].payload)[: packet[UDP].len - 8])
    ]


def reports(result) -> list[tuple[Outcome, int, int, bytes]]:
    """Outcome, port, identifier and data of each report."""
    return [
        (record.outcome, record.port, record.identifier, record.data)
        for record in records(result)
        if record.outcome is not None
    ]


def sent(result, port: int, after: int = 0) -> tuple[int, bytes]:
    """Cycle of the first character that a port sent after a cycle, and all of them."""
    own = result.characters[result.characters["port"] == pin(port)]
    own = own[own["cycle"] >= after]
    assert not own["errors"].any()
    return (int(own["cycle"][0]) if len(own) else 0), bytes(own["data"].astype("u1"))


def response(identifier: int, data: bytes) -> bytes:
    return data + bytes([lin.checksum(data, identifier)])


def test_a_header_is_answered_behind_its_stop_bit_and_reported(system):
    session = Session().command("lin 0 on 20000", "lin 0 publish 0x21 3", "lin 0 set 0x21 a1b2c3")
    session.ask(Record(Request.WATCH, 0))
    end = session.header(0, STATUS, 3)
    result = session.run(system)
    first, data = sent(result, 0)
    assert data == response(STATUS, b"\xa1\xb2\xc3")
    # Not before the stop bit is over, which the receiver knows to an eighth of a bit.
    assert 0 <= first - end <= BIT // 8 + 10
    whole = result.characters[result.characters["port"] == pin(0)]["cycle"]
    assert int(whole[-1] - whole[0]) <= 3 * (10 * BIT + 20)
    assert reports(result) == [(Outcome.SENT, 0, STATUS, b"\xa1\xb2\xc3")]


def test_received_data_reach_the_host_and_data_of_the_host_the_bus(system):
    session = Session().command(
        "lin 0 on 20000", "lin 0 subscribe 0x22 2", "lin 0 publish 0x21 1 classic"
    )
    session.ask(Record(Request.WATCH, 0), Record(Request.SET, 0, STATUS, b"\x5a"))
    session.frame(0, COMMAND, b"\x01\x02")
    session.header(0, STATUS, 1)
    session.ask(Record(Request.READ, 0, COMMAND))
    result = session.run(system)
    assert sent(result, 0)[1] == bytes([0x5A, lin.checksum(b"\x5a")])
    assert reports(result) == [
        (Outcome.RECEIVED, 0, COMMAND, b"\x01\x02"),
        (Outcome.SENT, 0, STATUS, b"\x5a"),
    ]
    read = records(result)[-1]
    assert (read.failure, read.number, read.data) == (None, 1, b"\x01\x02")


def test_what_is_wrong_is_counted_and_reported_and_other_ports_go_on(system):
    session = Session().command(
        *("lin 0 on 20000", "lin 0 subscribe 0x22 2", "lin 0 publish 0x21 1 error=0"),
        *("lin 0 set 0x21 00", "lin 1 on 20000", "lin 1 publish 0x21 1", "lin 1 set 0x21 77"),
    )
    session.ask(Record(Request.WATCH, 0))
    session.header(0, COMMAND, 0, pid=lin.protect(COMMAND) ^ 0x40)
    session.frame(0, COMMAND, b"\x01\x02", classic=True)
    session.header(0, COMMAND, 2)
    session.header(0, STATUS, 1)
    session.header(1, STATUS, 1)
    outcome = Counter.FIRST_OUTCOME
    session.ask(
        *(Record(Request.COUNT, 0, outcome + each) for each in Outcome),
        Record(Request.COUNT, 0, Counter.HEADERS),
    )
    result = session.run(system, ports=(0, 1))
    assert reports(result) == [
        (Outcome.BAD_PARITY, 0, COMMAND, bytes([lin.protect(COMMAND) ^ 0x40])),
        (Outcome.BAD_CHECKSUM, 0, COMMAND, b"\x01\x02"),
        (Outcome.NO_RESPONSE, 0, COMMAND, b""),
        (Outcome.SENT, 0, STATUS, b"\x01"),
    ]
    counts = {
        record.identifier: record.number
        for record in records(result)
        if record.what == Request.COUNT | 0x80 and record.number
    }
    expected = (Outcome.BAD_PARITY, Outcome.BAD_CHECKSUM, Outcome.NO_RESPONSE, Outcome.SENT)
    assert counts == {Counter.HEADERS: 3} | {outcome + each: 1 for each in expected}
    # The error was shown in the status; the other port has not noticed anything.
    assert sent(result, 0)[1] == response(STATUS, b"\x01")
    assert sent(result, 1)[1] == response(STATUS, b"\x77")


def test_sending_stops_at_the_byte_that_the_wire_changed(system):
    session = Session().command("lin 0 on 20000", "lin 0 publish 0x21 4", "lin 0 set 0x21 ffffffff")
    session.ask(Record(Request.WATCH, 0))
    end = session.header(0, STATUS, 4)
    # Another node holds some bits of the second byte low.
    session.uart.append(UartBytes(pin(0), b"\xf0", end + 10 * BIT + BIT // 4, FORM))
    result = session.run(system)
    assert sent(result, 0)[1] == b"\xff\xff"
    assert reports(result) == [(Outcome.BIT_ERROR, 0, STATUS, b"\xff")]


def test_a_commander_and_a_responder_of_one_soc_talk_on_one_wire(system):
    session = Session().command(
        *("lin 0 on 20000 commander", "lin 0 subscribe 0x21 2", "lin 0 publish 0x22 1"),
        *("lin 0 set 0x22 c5", "lin 1 on 20000", "lin 1 publish 0x21 2", "lin 1 set 0x21 0102"),
        *("lin 1 subscribe 0x22 1", "lin 1 identity 0x11 0x1234 0x5678 0x9a 77"),
    )
    session.ask(Record(Request.WATCH, 1), Record(Request.WATCH, 0))
    session.command("lin 0 schedule 0x21:4 0x22:4").wait(7)
    session.command("lin 0 schedule")
    session.wait(2)
    # Node configuration: read the product identification of whoever is there.
    request = bytes.fromhex("7f06b200ff7fffff")
    session.ask(Record(Request.SET, 0, lin.COMMANDER_REQUEST, request))
    session.ask(Record(Request.HEADER, 0, lin.COMMANDER_REQUEST)).wait(9)
    session.ask(Record(Request.HEADER, 0, lin.RESPONDER_RESPONSE)).wait(9)
    session.ask(Record(Request.SLEEP, 0)).wait(9)
    result = session.run(system, ports=(0, 1), wires=[(pin(0), pin(1))])
    found = reports(result)
    identification = bytes.fromhex("1106f2341278569a")
    sleep = bytes([0, *[0xFF] * 7])
    for expected in (
        (Outcome.RECEIVED, 0, STATUS, b"\x01\x02"),
        (Outcome.SENT, 1, STATUS, b"\x01\x02"),
        (Outcome.SENT, 0, COMMAND, b"\xc5"),
        (Outcome.RECEIVED, 1, COMMAND, b"\xc5"),
        (Outcome.RECEIVED, 1, lin.COMMANDER_REQUEST, request),
        (Outcome.RECEIVED, 0, lin.RESPONDER_RESPONSE, identification),
        (Outcome.ASLEEP, 0, lin.COMMANDER_REQUEST, sleep),
        (Outcome.ASLEEP, 1, lin.COMMANDER_REQUEST, sleep),
    ):
        assert found.count(expected) == 1, (expected, found)
    assert len(found) == 10, found


def test_bad_commands_say_what_is_wrong_and_change_nothing(system):
    session = Session().command(
        *("lin 9 on 19200", "lin 0 on 115200", "lin 0 on 19200 boss", "lin 0 set 0x21 00"),
        *("lin 0 on 19200", "lin 0 on 19200", "lin 0 publish 0x3c 8", "lin 0 publish 64 1"),
        *("lin 0 publish 0x21 9", "lin 0 publish 0x21 1 error=8", "lin 0 publish 0x21 1 twice"),
        *("lin 0 publish 0x21 1", "lin 0 set 0x21 0", "lin 0 set 0x21 0102", "lin 0 schedule 1:2"),
        *("lin 0 identity 0 0 0 0 0", "lin 0 jump", "lin 0 off", "lin 0 off"),
    )
    session.ask(Record(Request.SET, 0, STATUS, b"1"), Record(Request.COUNT, 7, 0))
    session.ask(Record(99, 0))
    result = session.run(system)
    errors = [re.sub(r"\n$", "", text).removeprefix("error: ") for text in answers(result)]
    assert errors[:19] == [
        "a serial port must be from 0 to 3, not '9'",
        "a speed must be from 1000 to 20000, not '115200'",
        "a role must be commander, or nothing, not 'boss'",
        "port 0 is no LIN node; lin 0 on BAUD",
        "",
        "port 0 is a LIN node",
        "0x3c: the identifier is reserved",
        "an identifier must be from 0 to 63, not '64'",
        "a length must be from 1 to 8, not '9'",
        "error=8: no such bit",
        "no option 'twice'",
        "",
        "data must be 2 to 16 hexadecimal digits, not '0'",
        "0102: not 1 to 8 bytes, or not as many as the frame has",
        "0: the node is no commander",
        "a NAD must be from 1 to 125, not '0'",
        "no verb 'jump'; try lin help",
        "",
        "port 0 is no LIN node; lin 0 on BAUD",
    ]
    assert [record.failure for record in records(result)] == [
        Failure.NO_NODE,
        Failure.NO_NODE,
        Failure.MALFORMED,
    ]


def test_words_too_many_or_too_few_are_refused_and_change_nothing(system):
    refused = {
        "lin 0 on 20000 commander now": "a word too many behind commander: 'now'",
        "lin 0 on": "on needs BAUD [commander]",
        "lin 0 set 0x21 a1 b2": "a word too many behind a1: 'b2'",
        "lin 0 set 0x21": "set needs ID HEX",
        "lin 0 get 0x21 0x22": "a word too many behind 0x21: '0x22'",
        "lin 0 remove 0x21 0x22": "a word too many behind 0x21: '0x22'",
        "lin 0 header 1 2": "a word too many behind 1: '2'",
        "lin 0 subscribe 1 2 classic error=0": "a word too many behind classic: 'error=0'",
        "lin 0 publish 1 2 once error=0 classic 1": "a word too many behind classic: '1'",
        "lin 0 identity 1 2 3 4": "identity needs NAD SUPPLIER FUNCTION VARIANT SERIAL",
        "lin 0 identity 1 2 3 4 5 6": "a word too many behind 5: '6'",
        "lin 0 sleep now": "a word too many behind sleep: 'now'",
        "lin 0 wake up": "a word too many behind wake: 'up'",
        "lin 0 off and on": "a word too many behind off: 'and'",
        "lin help set": "a word too many behind help: 'set'",
    }
    session = Session().command("lin 0 on 20000", "lin 0 publish 0x21 1", *refused, "lin 0")
    shown = answers(session.run(system, ports=()))[2:]
    assert shown[: len(refused)] == [f"error: {text}\n" for text in refused.values()]
    assert "0x21 published 1 bytes, written 0\n" in shown[len(refused)]


def test_nodes_frames_and_counters_are_shown(system):
    expected = {
        "lin": "port 0 responder 20000 bit/s awake NAD 0x01: headers 0, sent 0, received 0\n",
        "lin 0": "0x21 published 2 bytes, written 1\n",
        "lin help": "lin PORT publish ID BYTES [classic] [once] [error=BIT]\n",
        "lin 0 get 0x21": "beef written 1\n",
    }
    session = Session().command("lin 0 on 20000", "lin 0 publish 0x21 2", "lin 0 set 0x21 beef")
    shown = answers(session.command(*expected).run(system))[3:7]
    for text, line in zip(shown, expected.values(), strict=True):
        assert line in text


def test_a_port_that_is_given_back_is_the_terminal_server_s_again(system):
    session = Session().command("lin 0 on 20000", "lin 0 off")
    session._send(b"to the port", 7001)
    result = session.run(system, ports=())
    assert result.uart(pin(0)) == b"to the port"


def test_a_place_that_is_free_again_serves_another_port_and_no_longer_the_first(system):
    session = Session().command("lin 0 on 20000", "lin 0 off", "lin 1 on 20000")
    session.command("lin 1 publish 5 1")
    session.ask(Record(Request.READ, 0, 5), Record(Request.READ, 1, 5)).command("lin")
    result = session.run(system, ports=())
    assert [record.failure for record in records(result)] == [Failure.NO_NODE, None]
    assert re.findall(r"port (\d+)", answers(result)[4]) == ["1"]


@pytest.mark.parametrize("apart", [1_000, pytest.param(250, marks=pytest.mark.slow)])
def test_a_port_that_is_given_away_keeps_nothing_of_settings_that_are_being_made(system, apart):
    session = Session()
    faster = protocol.number(protocol.Command.SET_BAUDRATE, 1_000_000)
    settings = protocol.encode(0, 1, [faster] * 40)
    phases = range(-6_000, 4_000, apart)
    for phase in phases:
        session.command("lin 0 on 20000")
        session.frames.append(Frame(udp(settings, protocol.CONTROL_PORT), session.cycle + phase))
        session.header(0, STATUS, 0)
        session.ask(Record(Request.COUNT, 0, Counter.HEADERS)).command("lin 0 off")
    session.frames.sort(key=lambda frame: frame.cycle)
    found = records(session.run(system))
    assert [record.number for record in found] == [1] * len(phases)


def test_irqtune_counts_what_a_port_receives_whoever_has_it(system):
    session = Session()
    session.characters(0, bytes(60)).command("irqtune --suggest")
    session.command("lin 0 on 20000", "lin 0 subscribe 0x22 2")
    session.frame(0, COMMAND, b"\x01\x02").command("irqtune --suggest", "lin 0 off")
    session.wait(1).characters(0, bytes(5)).command("irqtune --suggest")
    lines = [suggestion(text) for text in answers(session.run(system)) if "slack" in text]
    units, rooms = zip(*(line["uart0"][1:] for line in lines), strict=True)
    # A frame is break, sync field, identifier, data and checksum.
    assert units == (60, 66, 71)
    assert rooms[0] == rooms[2] > rooms[1] == 1


def test_data_that_a_host_sets_are_not_lost_beside_those_that_commands_set(system):
    session = Session().command("lin 0 on 20000", "lin 0 publish 0x21 8")
    begin, read = session.cycle + STEP, Record(Request.READ, 0, STATUS)
    by_command = b"\xff" * 8
    for place in range(120):
        command = f"{10 + place} lin 0 set 0x21 {by_command.hex()}".encode()
        session.frames.append(Frame(udp(command, COMMANDS), begin + place * 10_773))
    for place in range(40):
        data = [bytes([(30 * place + index) % 255] * 8) for index in range(30)]
        both = [record for each in data for record in (Record(Request.SET, 0, STATUS, each), read)]
        session.frames.append(Frame(udp(encode(both), HOST_PORT), begin + place * 30_000))
    session.frames.sort(key=lambda frame: frame.cycle)
    session.cycle = session.frames[-1].cycle
    result = session.run(system)
    said = records(result)
    pairs = [(was.data, found.data) for was, found in zip(said[::2], said[1::2], strict=True)]
    assert len(pairs) > 300
    assert len(answers(result)) > 10
    assert [pair for pair in pairs if pair[1] not in (pair[0], by_command)] == []
