"""Control datagrams of the terminal server: shared numbers, meaning, and bad input."""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_build import Program, examples, hex_bytes
from hypothesis import given
from hypothesis import strategies as st

from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command, Control, Item, Parity, Reason

PORTS, ROOM = 2, 1472
OWN_ADDRESS, OWN_PORT = 0x0A000002, 4711


class Server:
    """The server's control with ports that print what is done to them."""

    def __init__(self, program: Path) -> None:
        self._program = Program(program, end=".")
        self.close = self._program.close
        self.command = self._program.command

    def send(self, datagram: bytes, room: int = ROOM) -> tuple[bytes, list[int], list[str]]:
        """Answer, outcome (port, errors, from a client), and what was done."""
        lines = self.command(f"control {PORTS} {room} {datagram.hex() or '-'}")
        answer = hex_bytes(lines[-1].split()[1])
        return answer, [int(word) for word in lines[-2].split()[1:]], lines[:-2]

    def ask(self, *items: Item, port: int = 1) -> tuple[list[Item], list[str]]:
        """Answers to commands, with the codes of the commands, and what was done."""
        answer, outcome, done = self.send(protocol.encode(port, 9, items))
        answered_port, sequence, answers = protocol.decode(answer)
        assert (answered_port, sequence) == (port, 9)
        assert outcome == [port, 0, bool(items)]
        return protocol.check(port, items, answers), done

    def refuse(self, item: Item) -> Reason:
        """Why a command is not carried out; nothing may have been done."""
        answer, outcome, done = self.send(protocol.encode(1, 9, [item]))
        assert outcome == [1, 1, 0]
        assert done == []
        ((_, _, [error]),) = [protocol.decode(answer)]
        assert (error.code, error.value[0]) == (protocol.ERROR, item.code)
        return Reason(error.value[1])


@pytest.fixture
def server(terminal_program: Path) -> Iterator[Server]:
    running = Server(terminal_program)
    yield running
    running.close()


def test_firmware_and_host_agree_on_every_number(server):
    found: dict[str, dict[str, int]] = {}
    for line in server.command("constants"):
        kind, name, value = line.split()
        found.setdefault(kind, {})[name] = int(value)
    constants = found.pop("constant")
    assert constants == {name: getattr(protocol, name) for name in constants}
    counters = found.pop("COUNTERS")
    assert list(counters) == list(protocol.COUNTERS)
    assert list(counters.values()) == list(range(len(counters)))
    kinds = {
        name: value
        for name, value in vars(protocol).items()
        if isinstance(value, type) and issubclass(value, enum.Enum)
    }
    # RFC 2217's own numbers; the test below has their meaning.
    del kinds["Parity"]
    assert found == {
        name: {member.name: member.value for member in kind} for name, kind in kinds.items()
    }


NUMBERS = [
    (Command.SET_BAUDRATE, 9600, "format 1 9600 8 1 1", 9601),
    (Command.SET_DATASIZE, 7, "format 1 115200 7 1 1", 7),
    (Command.SET_PARITY, Parity.EVEN, "format 1 115200 8 3 1", 3),
    (Command.SET_STOPSIZE, 2, "format 1 115200 8 1 2", 2),
    (Command.SET_CONTROL, Control.FLOW_HARDWARE, "flow 1 3 1", 3),
    (Command.SET_CONTROL, Control.BREAK_ON, "break 1 1", 5),
    (Command.SET_CONTROL, Control.RTS_OFF, "flow 1 1 0", 12),
    (Command.SET_LINESTATE_MASK, 0x1E, None, 0x1E),
    (Command.SET_LINESTATE_MASK, 0xF9, None, 0x18),
    (Command.SET_MODEMSTATE_MASK, 0, None, 0),
    (Command.PURGE_DATA, 3, "purge 1 3", 3),
    (Command.PACK_TIME, 200_000, "rules 1 200000 0 1472 -", 200_000),
    (Command.PACK_IDLE, 1, "rules 1 10000 1 1472 -", 1),
    (Command.PACK_TIME, 0, "rules 1 0 0 1472 -", 0),
    (Command.PACK_TIME, 1_000_000, "rules 1 1000000 0 1472 -", 1_000_000),
    (Command.PACK_LENGTH, 1, "rules 1 10000 0 1 -", 1),
]


@pytest.mark.parametrize(("command", "value", "effect", "holds"), NUMBERS)
def test_a_setting_is_made_and_answered_by_what_holds(server, command, value, effect, holds):
    (answer,), done = server.ask(protocol.number(command, value))
    assert answer.number == holds
    assert done == [effect] * (effect is not None)
    if command not in (Command.PURGE_DATA, Command.SET_CONTROL):
        (again,), done = server.ask(Item(command))
        assert (again, done) == (answer, [])


def test_settings_of_one_port_are_its_own(server):
    server.ask(protocol.number(Command.SET_BAUDRATE, 9600), port=0)
    (answer,), _ = server.ask(Item(Command.SET_BAUDRATE), port=1)
    assert answer.number == 115200


def test_a_value_of_0_asks_as_rfc_2217_has_it(server):
    server.ask(protocol.number(Command.SET_CONTROL, Control.BREAK_ON))
    asked = [
        protocol.number(Command.SET_BAUDRATE, 0),
        protocol.number(Command.SET_DATASIZE, 0),
        protocol.number(Command.SET_PARITY, 0),
        protocol.number(Command.SET_STOPSIZE, 0),
        protocol.number(Command.SET_CONTROL, Control.ASK_FLOW),
        protocol.number(Command.SET_CONTROL, Control.ASK_BREAK),
        protocol.number(Command.SET_CONTROL, Control.ASK_RTS),
    ]
    answers, done = server.ask(*asked)
    assert [answer.number for answer in answers] == [115200, 8, 1, 1, 1, 5, 11]
    assert done == []


def test_the_other_commands(server):
    answers, done = server.ask(
        Item(Command.SIGNATURE),
        protocol.delimiter(b"\r\n"),
        protocol.delimiter(b""),
        protocol.peer(bytes([10, 0, 0, 9]), 5000),
        protocol.peer(bytes(4), 5001),
        protocol.peer(bytes(4), 0),
        Item(Command.FLOWCONTROL_SUSPEND),
        Item(Command.FLOWCONTROL_RESUME),
        Item(Command.NOTIFY_LINESTATE),
        Item(Command.NOTIFY_MODEMSTATE),
    )
    assert answers[0].value == b"TierV terminal server"
    assert [answer.value for answer in answers[1:3]] == [b"\2\r\n", b"\0"]
    assert answers[3].value == struct.pack(">IH", 0x0A000009, 5000)
    assert answers[4].value == struct.pack(">IH", OWN_ADDRESS, 5001)
    assert [answer.value for answer in answers[6:]] == [b"", b"", b"\x20", b"\x10"]
    assert done == [
        "rules 1 10000 0 1472 0d0a",
        "rules 1 10000 0 1472 -",
        "peer 1 0a000009 5000",
        "peer 1 0a000002 5001",
        "peer 1 00000000 0",
        "suspended 1 1",
        "suspended 1 0",
    ]


def test_a_port_whose_client_is_forgotten_is_suspended_no_longer(server):
    nobody = protocol.peer(bytes(4), 0)
    server.ask(protocol.peer(bytes([10, 0, 0, 9]), 5000), Item(Command.FLOWCONTROL_SUSPEND))
    # Another client may come while the board is suspended, and ask it to go on.
    _, done = server.ask(protocol.peer(bytes([10, 0, 0, 8]), 5000))
    assert done == ["peer 1 0a000008 5000"]
    assert server.ask(nobody)[1] == ["peer 1 00000000 0", "suspended 1 0"]
    assert server.ask(nobody)[1] == ["peer 1 00000000 0"]


def test_counters_and_the_transmit_state_are_told(server):
    (counters, state), _ = server.ask(Item(Command.COUNTERS), Item(Command.TRANSMIT_STATE))
    values = protocol.counters(counters.value)
    assert list(values.values()) == [1 << 24 | index for index in range(len(values))]
    assert protocol.transmit_state(state.value) == protocol.TransmitState(0x01020304, 5, 6)


REFUSED = [
    (protocol.number(Command.SET_BAUDRATE, 2_000_000), Reason.IMPOSSIBLE),
    (Item(Command.SET_BAUDRATE, bytes(3)), Reason.BAD_LENGTH),
    (Item(Command.SET_BAUDRATE, bytes(5)), Reason.BAD_LENGTH),
    (protocol.number(Command.SET_DATASIZE, 9), Reason.BAD_VALUE),
    (protocol.number(Command.SET_DATASIZE, 4), Reason.BAD_VALUE),
    (protocol.number(Command.SET_PARITY, 6), Reason.BAD_VALUE),
    (protocol.number(Command.SET_STOPSIZE, 3), Reason.IMPOSSIBLE),
    (protocol.number(Command.SET_STOPSIZE, 4), Reason.BAD_VALUE),
    (protocol.number(Command.SET_CONTROL, 8), Reason.IMPOSSIBLE),
    (protocol.number(Command.SET_CONTROL, 19), Reason.IMPOSSIBLE),
    (protocol.number(Command.SET_CONTROL, 20), Reason.BAD_VALUE),
    (Item(Command.PACK_DELIMITER, b"\1ab"), Reason.BAD_LENGTH),
    (Item(Command.PEER, bytes(5)), Reason.BAD_LENGTH),
    (Item(Command.PEER, bytes(7)), Reason.BAD_LENGTH),
    (protocol.number(Command.PURGE_DATA, 0), Reason.BAD_VALUE),
    (protocol.number(Command.PURGE_DATA, 4), Reason.BAD_VALUE),
    (Item(Command.PURGE_DATA), Reason.BAD_LENGTH),
    (protocol.number(Command.PACK_TIME, 1_000_001), Reason.BAD_VALUE),
    (protocol.number(Command.PACK_IDLE, 0xFFFFFFFF), Reason.BAD_VALUE),
    (protocol.number(Command.PACK_LENGTH, 0), Reason.BAD_VALUE),
    (protocol.number(Command.PACK_LENGTH, 1473), Reason.BAD_VALUE),
    (Item(Command.PACK_DELIMITER, b"\3abc"), Reason.BAD_VALUE),
    (Item(Command.PACK_DELIMITER, b"\2a"), Reason.BAD_LENGTH),
    (protocol.peer(bytes([1, 2, 3, 4]), 0), Reason.BAD_VALUE),
    (Item(Command.PEER, bytes(5)), Reason.BAD_LENGTH),
    (Item(Command.COUNTERS, b"\0"), Reason.BAD_LENGTH),
    (Item(Command.TRANSMIT_STATE, b"\0"), Reason.BAD_LENGTH),
    (Item(Command.FLOWCONTROL_SUSPEND, b"\0"), Reason.BAD_LENGTH),
    (Item(13), Reason.UNKNOWN_COMMAND),
    (Item(200, b"x"), Reason.UNKNOWN_COMMAND),
]


@pytest.mark.parametrize(("item", "reason"), REFUSED)
def test_what_can_t_be_done_is_answered_by_why(server, item, reason):
    before, _ = server.ask(*(Item(command) for command in ASKING))
    assert server.refuse(item) is reason
    after, _ = server.ask(*(Item(command) for command in ASKING))
    assert before == after


ASKING = (
    *(Command.SET_BAUDRATE, Command.SET_DATASIZE, Command.SET_PARITY, Command.SET_STOPSIZE),
    *(Command.SET_CONTROL, Command.SET_LINESTATE_MASK, Command.SET_MODEMSTATE_MASK),
    *(Command.PACK_TIME, Command.PACK_IDLE, Command.PACK_LENGTH, Command.PACK_DELIMITER),
    Command.PEER,
)


def test_commands_behind_a_refused_one_are_carried_out(server):
    items = [protocol.number(Command.PACK_LENGTH, 0), protocol.number(Command.PACK_LENGTH, 7)]
    answer, outcome, done = server.send(protocol.encode(0, 1, items))
    assert done == ["rules 0 10000 0 7 -"]
    assert outcome == [0, 1, 1]
    _, _, (error, good) = protocol.decode(answer)
    assert (error.code, good.code) == (protocol.ERROR, Command.PACK_LENGTH + protocol.ANSWER)


def test_a_good_command_before_a_malformed_one_is_from_a_client(server):
    good = protocol.encode(0, 1, [protocol.number(Command.PACK_LENGTH, 7)])
    answer, outcome, done = server.send(good + b"\1")
    assert done == ["rules 0 10000 0 7 -"]
    assert outcome == [0, 1, 1]
    _, _, (_, error) = protocol.decode(answer)
    assert (error.code, error.value) == (protocol.ERROR, bytes([1, Reason.BAD_LENGTH]))


HEADERS = [
    (b"", b"", [-1, 0, 0]),
    (b"\1\0", b"", [-1, 0, 0]),
    (b"\2\0\7", bytes([1, 0, 7, 255, 2, 255, Reason.BAD_VERSION]), [-1, 1, 0]),
    (b"\1\2\7", bytes([1, 2, 7, 255, 2, 255, Reason.BAD_PORT]), [-1, 1, 0]),
    (b"\1\1\7", b"\1\1\7", [1, 0, 0]),
    (b"\1\1\7" + bytes(254), bytes([1, 1, 7, 255, 2, 255, Reason.BAD_LENGTH]), [-1, 1, 0]),
    (b"\1\1\7\1", bytes([1, 1, 7, 255, 2, 1, Reason.BAD_LENGTH]), [1, 1, 0]),
    (b"\1\1\7\1\4\0\0\0", bytes([1, 1, 7, 255, 2, 1, Reason.BAD_LENGTH]), [1, 1, 0]),
]


@pytest.mark.parametrize(("datagram", "answer", "outcome"), HEADERS)
def test_malformed_datagrams(server, datagram, answer, outcome):
    assert server.send(datagram) == (answer, outcome, [])


def test_an_answer_never_grows_beyond_its_room(server):
    """Each counter command asks with 2 bytes and is answered with 102."""
    many = [Item(Command.COUNTERS)] * 100
    for room in (7, 8, 20, 108, 109, 120, 500, ROOM):
        answer, outcome, _ = server.send(protocol.encode(0, 1, many), room)
        assert len(answer) <= room
        _, _, items = protocol.decode(answer)
        fits = (room - protocol.HEADER_BYTES - 4) // (2 + 4 * len(protocol.COUNTERS))
        assert [item.code for item in items] == [Command.COUNTERS + protocol.ANSWER] * fits + [255]
        assert items[-1].value[1] == Reason.NO_ROOM
        assert outcome[1] == 1


def test_a_text_is_an_answer_if_it_fits_to_the_byte(server):
    request = protocol.encode(0, 1, [Item(Command.SIGNATURE)])
    fits = protocol.HEADER_BYTES + 2 + len(b"TierV terminal server") + 4
    for room, code in ((fits, protocol.ANSWER), (fits - 1, protocol.ERROR)):
        answer, _, _ = server.send(request, room)
        assert answer[protocol.HEADER_BYTES] == code


_ITEMS = st.lists(
    st.one_of(
        st.tuples(st.integers(0, 80), st.binary(max_size=7)).map(
            lambda pair: bytes([pair[0], len(pair[1])]) + pair[1]
        ),
        st.binary(max_size=4),
    ),
    max_size=12,
).map(b"".join)


@pytest.fixture(scope="module")
def lasting_server(terminal_program: Path) -> Iterator[Server]:
    running = Server(terminal_program)
    yield running
    running.close()


@given(
    head=st.sampled_from([b"\1\0\1", b"\1\1\2", b"\1\5\3", b"\0\0\0"]),
    items=_ITEMS,
    room=st.integers(7, 200),
)
@examples(1500)
def test_random_bytes_are_answered_in_form(lasting_server, head, items, room):
    """Under ASan and UBSan; request and answer lie in memory of just their length."""
    answer, outcome, _ = lasting_server.send(head + items, room)
    assert len(answer) <= room
    _, _, answers = protocol.decode(answer)
    errors = [item for item in answers if item.code == protocol.ERROR]
    assert outcome[1] == len(errors)
    assert all(item.value[1] in list(Reason) for item in errors)
