"""What control commands do to serial ports, who is told what, and who may use a port."""

from __future__ import annotations

import pytest
from terminal_host import (
    BAUD,
    CLIENT,
    CLOCK_HZ,
    DATA_CLIENT,
    DEPTH,
    Client,
    TerminalHost,
)

from tierv.sim.host import protocol
from tierv.sim.host.protocol import (
    Command,
    CommandRefusedError,
    Control,
    Item,
    LineState,
    ModemState,
    Parity,
    Purge,
    Reason,
)
from tierv.soc.serial.params import tuning_word

CTS, RTS, OBEY_XOFF, SEND_XOFF, ASSERT_RTS = (1 << bit for bit in range(5))
#: Events of a port.
RECEIVE, TRANSMIT, CTS_CHANGED = 1, 2, 8
PACK_SOON = protocol.number(Command.PACK_LENGTH, 1)


@pytest.fixture
def host() -> TerminalHost:
    with TerminalHost() as running:
        running.control(Item(Command.PEER, DATA_CLIENT.peer()))
        running.told()
        yield running


def test_a_port_begins_with_the_settings_of_its_reset(host):
    values = {
        Command.SET_BAUDRATE: BAUD,
        Command.SET_DATASIZE: 8,
        Command.SET_PARITY: Parity.NONE,
        Command.SET_STOPSIZE: 1,
        Command.PACK_TIME: 10_000,
        Command.PACK_IDLE: 0,
        Command.PACK_LENGTH: protocol.MAX_DATA_BYTES,
        Command.SET_LINESTATE_MASK: 0,
        Command.SET_MODEMSTATE_MASK: 0xFF,
    }
    answers = host.control(*map(Item, values), port=1)
    assert {answer.code: answer.number for answer in answers} == values
    asked = (Control.ASK_FLOW, Control.ASK_BREAK, Control.ASK_RTS)
    holding = [host.set(Command.SET_CONTROL, value, 1) for value in asked]
    assert holding == [Control.FLOW_NONE, Control.BREAK_OFF, Control.RTS_ON]
    registers = host.registers(1)
    assert registers["tuning"] == tuning_word(BAUD, CLOCK_HZ)
    assert (registers["format"], registers["flow"]) == (3, ASSERT_RTS)
    assert registers["watermarks"] >> 16 == DEPTH // 4
    # The peer is held back in the middle of the slack, and goes on at half of what may wait.
    assert registers["flow_levels"] == (DEPTH * 3 // 4 + 8) | (DEPTH * 3 // 8) << 16


@pytest.mark.parametrize(
    ("parity", "bits"),
    [(Parity.NONE, 0), (Parity.EVEN, 1), (Parity.ODD, 2), (Parity.MARK, 3), (Parity.SPACE, 4)],
)
def test_a_form_is_that_of_the_hardware(host, parity, bits):
    host.set(Command.SET_CONTROL, Control.BREAK_ON)
    host.set(Command.SET_PARITY, parity)
    host.set(Command.SET_DATASIZE, 6)
    host.set(Command.SET_STOPSIZE, 2)
    assert host.registers()["format"] == 1 | bits << 2 | 1 << 5 | 1 << 7
    host.set(Command.SET_CONTROL, Control.BREAK_OFF)
    host.set(Command.SET_DATASIZE, 5)
    host.set(Command.SET_STOPSIZE, 1)
    assert host.registers()["format"] == bits << 2
    assert host.registers(1)["format"] == 3


def test_a_speed_is_answered_by_the_one_achieved_and_an_impossible_one_changes_nothing(host):
    word = tuning_word(3_000_001, CLOCK_HZ)
    assert host.set(Command.SET_BAUDRATE, 3_000_001) == round(word * CLOCK_HZ / (1 << 32))
    before = host.registers()
    assert before["tuning"] == word
    for baud in (CLOCK_HZ // 8 + 1, 1):
        with pytest.raises(CommandRefusedError, match="impossible"):
            host.set(Command.SET_BAUDRATE, baud)
        assert host.registers() == before
    assert host.set(Command.SET_BAUDRATE, 0) == 3_000_001
    assert host.counters()["BAD_COMMANDS"] == 2


FLOWS = [
    (Control.FLOW_HARDWARE, CTS | RTS),
    (Control.FLOW_XON_XOFF, OBEY_XOFF | SEND_XOFF),
    (Control.FLOW_NONE, 0),
]


def test_flow_control_and_rts_are_those_of_the_hardware(host):
    for flow, bits in FLOWS:
        host.set(Command.SET_CONTROL, flow)
        assert host.registers()["flow"] == bits | ASSERT_RTS
        host.set(Command.SET_CONTROL, Control.RTS_OFF)
        assert host.registers()["flow"] == bits
        host.set(Command.SET_CONTROL, Control.RTS_ON)
        assert host.registers()["flow"] == bits | ASSERT_RTS


SETTINGS = [
    protocol.number(Command.SET_BAUDRATE, 9600),
    protocol.number(Command.SET_CONTROL, Control.FLOW_HARDWARE),
    protocol.number(Command.SET_CONTROL, Control.BREAK_ON),
    protocol.number(Command.PACK_TIME, 7),
    protocol.number(Command.PURGE_DATA, Purge.RECEIVED),
    protocol.number(Command.PURGE_DATA, Purge.TRANSMIT),
    protocol.number(Command.SET_MODEMSTATE_MASK, 0),
]


@pytest.mark.parametrize("locks", [0, 1, 4])
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda item: f"{item.code}-{item.number}")
def test_a_setting_waits_for_the_end_of_the_ports_service(host, setting, locks):
    """The board ends the program if a register is written before that, or without the lock."""
    host.command("busy", 0, locks)
    host.control(setting)
    assert host.command("locks") == [["locks", str(locks + 2)]]


def test_cts_is_told_while_the_client_watches_it(host):
    def change(asserted: bool) -> list[tuple[int, int, bytes]]:
        host.command("cts", 0, int(asserted))
        told = host.told()
        (answer,) = host.control(Item(Command.NOTIFY_MODEMSTATE))
        assert answer.number == (ModemState.CTS if asserted else 0)
        return told

    def told(state: int) -> list[tuple[int, int, bytes]]:
        return [(0, Command.NOTIFY_MODEMSTATE, bytes([state | ModemState.CTS_CHANGED]))]

    assert change(True) == told(ModemState.CTS)
    assert change(False) == told(0)
    others = 0xFF & ~(ModemState.CTS | ModemState.CTS_CHANGED)
    for mask in (ModemState.CTS, ModemState.CTS_CHANGED):
        host.set(Command.SET_MODEMSTATE_MASK, others)
        assert host.registers()["ev_enable"] & CTS_CHANGED == 0
        assert change(True) == change(False) == []
        # Nor is what was before it watched.
        host.set(Command.SET_MODEMSTATE_MASK, mask)
        assert host.registers()["ev_enable"] & CTS_CHANGED != 0
        assert host.told() == []
        assert change(True) == told(ModemState.CTS)
        assert change(False) == told(0)
        assert host.told() == []


def test_cts_is_not_told_when_the_client_has_lost_interest_meanwhile(host):
    host.command("hold", 1, 0)
    host.command("cts", 0, 1)
    item = protocol.number(Command.SET_MODEMSTATE_MASK, 0)
    host.give(protocol.encode(0, 1, [item]), protocol.CONTROL_PORT, CLIENT)
    host.command("hold", 0, 0)
    (answer,) = host.take(protocol.CONTROL_PORT)
    assert protocol.decode(answer.payload)[1] == 1


def test_notifications_go_to_whoever_gave_the_last_good_command_for_the_port(host):
    other = Client(CLIENT.address, 5)
    host.set(Command.SET_LINESTATE_MASK, 0xFF)
    with pytest.raises(CommandRefusedError):
        host.control(Item(Command.SIGNATURE - 1 & 0x3F), client=other)
    host.control(Item(Command.SIGNATURE), client=other, port=1)
    host.come(b"x", flags=2)
    assert len(host.told()) == 1
    host.control(Item(Command.SIGNATURE), client=other)
    host.come(b"x", flags=2)
    assert [one.to for one in host.take(protocol.CONTROL_PORT)] == [other]


BAD = [b"\1\0", bytes([1, 2, 9]), bytes([2, 0, 9]), b"", bytes([1, 1, 9]) + bytes(254)]


def test_bad_datagrams_are_counted_for_all_ports_and_change_nothing(host):
    for number, datagram in enumerate(BAD):
        host.give(datagram, protocol.CONTROL_PORT, CLIENT)
        answers = host.take(protocol.CONTROL_PORT)
        assert [one.payload[3] for one in answers] == [protocol.ERROR] * (len(datagram) > 2)
        assert [host.counters(port)["BAD_DATAGRAMS"] for port in (0, 1)] == [number + 1] * 2
    longest = [Item(Command.SIGNATURE)] * 126 + [PACK_SOON]
    assert len(protocol.encode(0, 1, longest)) <= protocol.REQUEST_BYTES + 4
    longest = [Item(Command.NOTIFY_LINESTATE)] * 126
    assert len(host.control(*longest)) == 126
    assert host.counters()["BAD_DATAGRAMS"] == len(BAD)


def test_a_datagram_of_the_longest_length_is_understood_and_one_more_byte_is_not(host):
    items = [Item(Command.PACK_LENGTH)] * 124 + [PACK_SOON]
    request = protocol.encode(0, 1, items) + bytes([Command.SIGNATURE])
    assert len(request) == protocol.REQUEST_BYTES
    host.give(request, protocol.CONTROL_PORT, CLIENT)
    (answer,) = host.take(protocol.CONTROL_PORT)
    assert protocol.decode(answer.payload)[2][-1].value == bytes([0, Reason.BAD_LENGTH])
    host.come(b"a")
    assert len(host.received()) == 1
    host.give(request + bytes(1), protocol.CONTROL_PORT, CLIENT)
    (answer,) = host.take(protocol.CONTROL_PORT)
    assert answer.payload[3:] == bytes([protocol.ERROR, 2, protocol.ERROR, Reason.BAD_LENGTH])


def test_what_the_hardware_counts_is_added_up(host):
    for _ in range(2):
        host.come(b"ab", flags=2)
        host.come(b"c", flags=4)
        host.come(b"\0", flags=1)
        host.counters()
    counters = host.counters()
    names = ("FRAMING_ERRORS", "PARITY_ERRORS", "BREAKS", "OVERRUNS")
    assert [counters[name] for name in names] == [4, 2, 2, 0]
    assert counters["RECEIVED_BYTES"] == 6
    assert host.counters(1)["FRAMING_ERRORS"] == 0


def errors(host: TerminalHost) -> list[int]:
    counters = host.counters()
    return [counters[name] for name in ("FRAMING_ERRORS", "PARITY_ERRORS", "BREAKS")]


def test_what_the_hardware_has_counted_outlives_that_another_has_the_port(host):
    host.come(b"ab", flags=2)
    host.come(b"c", flags=4)
    assert errors(host) == [2, 1, 0]
    # Nobody asks between this one and the end.
    host.come(b"\0", flags=1)
    host.command("give", 0)
    host.come(b"not ours", flags=4)
    host.command("return", 0)
    assert errors(host) == [2, 1, 1]
    host.come(b"c", flags=4)
    assert errors(host) == [2, 2, 1]


@pytest.mark.parametrize("suspended", [False, True])
def test_errors_are_counted_beyond_what_the_hardware_can(host, suspended):
    if suspended:
        host.control(Item(Command.FLOWCONTROL_SUSPEND))
    for _ in range(35):
        host.come(bytes(2000), flags=1)
    assert errors(host) == [0, 0, 70_000]


def test_a_port_that_another_has_is_not_there_and_comes_back_as_it_was(host):
    host.control(
        protocol.number(Command.SET_BAUDRATE, 2_000_000),
        protocol.number(Command.SET_PARITY, Parity.EVEN),
        protocol.number(Command.SET_CONTROL, Control.FLOW_HARDWARE),
        protocol.number(Command.SET_CONTROL, Control.RTS_OFF),
        protocol.number(Command.SET_CONTROL, Control.BREAK_ON),
        protocol.number(Command.SET_LINESTATE_MASK, LineState.BREAK),
    )
    # Flow control keeps it in the queue.
    host.data(payload=bytes(range(100)))
    settings = host.registers()
    host.come(b"a")
    host.command("give", 0)
    assert host.registers() != settings
    host.give(protocol.encode(0, 1, [Item(Command.SIGNATURE)]), protocol.CONTROL_PORT, CLIENT)
    (answer,) = host.take(protocol.CONTROL_PORT)
    assert answer.payload[3:] == bytes([protocol.ERROR, 2, protocol.ERROR, Reason.BAD_PORT])
    host.come(b"not ours")
    host.data(payload=b"refused")
    assert host.told() == [(0, Command.FLOWCONTROL_SUSPEND, b"")]
    assert "used by other" in "".join(host.said("serial"))
    host.command("return", 0)
    assert host.registers()["watermarks"] == 1 | DEPTH // 4 << 16
    # What was in the FIFO is gone; what was in the queue is not.
    host.send(100)
    assert host.line[0] == bytes(range(63, 100))
    # The first service sets the levels.
    host.data(payload=b"")
    assert host.registers() == settings | {"ev_enable": RECEIVE | CTS_CHANGED}
    assert [one.payload for one in host.received()] == [b"a"]
    assert host.told() == [(0, Command.FLOWCONTROL_RESUME, b"")]
    counters = host.counters()
    assert (counters["REFUSED_DATAGRAMS"], counters["REFUSED_BYTES"]) == (1, 7)
    assert (counters["PACKED_EVENT"], counters["RECEIVED_BYTES"]) == (1, 1)


def test_a_port_that_comes_back_calls_for_what_it_did(host):
    assert host.registers()["ev_enable"] == RECEIVE | CTS_CHANGED
    host.command("give", 0)
    assert host.registers()["ev_enable"] == RECEIVE
    host.command("return", 0)
    assert host.registers()["ev_enable"] == RECEIVE | CTS_CHANGED


def test_the_command_serial_tells_settings_peers_and_counts(host):
    host.control(
        protocol.number(Command.SET_PARITY, Parity.EVEN),
        protocol.number(Command.SET_DATASIZE, 7),
        protocol.number(Command.SET_STOPSIZE, 2),
        Item(Command.PEER, Client(CLIENT.address, 4660).peer()),
        port=1,
    )
    host.data(payload=b"abcde")
    host.come(b"ab")
    host.advance(CLOCK_HZ // 100)
    with pytest.raises(CommandRefusedError):
        host.set(Command.PACK_LENGTH, 0)
    assert host.said("serial") == [
        " 0: 1000000 8N1  peer 10.0.0.2:4712",
        "    received 2  sent 5  refused 0  starved 0  bad commands 1",
        " 1: 1000000 7E2  peer 10.0.0.2:4660",
        "    received 0  sent 0  refused 0  starved 0  bad commands 0",
    ]
    host.control(Item(Command.PEER, bytes(6)))
    assert host.said("serial")[0] == " 0: 1000000 8N1  no peer"
