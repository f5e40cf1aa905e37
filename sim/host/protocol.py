"""What the terminal server says over the network, in Python.

``firmware/apps/terminal/protocol.h`` says the same to the firmware and explains it; a test compares
every number of both.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .errors import HostError

VERSION = 1
#: UDP ports: of control, and of the data of serial port 0, from which the others count up.
CONTROL_PORT = 7000
DATA_PORT = 7001
HEADER_BYTES = 3
#: Longest control datagram that the board understands.
REQUEST_BYTES = 256
#: A datagram takes room in the board's queue for its bytes rounded up to a multiple of this.
ROOM_BYTES = 3
#: Added to a command's code by its answer; the code of an error.
ANSWER = 100
ERROR = 255
#: Longest datagram of data, and longest time of a packing rule.
MAX_DATA_BYTES = 1472
MAX_RULE_US = 1_000_000


class Command(enum.IntEnum):
    """Codes of commands; those below 64 are RFC 2217's."""

    SIGNATURE = 0
    SET_BAUDRATE = 1
    SET_DATASIZE = 2
    SET_PARITY = 3
    SET_STOPSIZE = 4
    SET_CONTROL = 5
    NOTIFY_LINESTATE = 6
    NOTIFY_MODEMSTATE = 7
    FLOWCONTROL_SUSPEND = 8
    FLOWCONTROL_RESUME = 9
    SET_LINESTATE_MASK = 10
    SET_MODEMSTATE_MASK = 11
    PURGE_DATA = 12
    PACK_TIME = 64
    PACK_IDLE = 65
    PACK_LENGTH = 66
    PACK_DELIMITER = 67
    PEER = 68
    COUNTERS = 69
    TRANSMIT_STATE = 70


class Control(enum.IntEnum):
    """Values of ``SET_CONTROL``."""

    ASK_FLOW = 0
    FLOW_NONE = 1
    FLOW_XON_XOFF = 2
    FLOW_HARDWARE = 3
    ASK_BREAK = 4
    BREAK_ON = 5
    BREAK_OFF = 6
    ASK_RTS = 10
    RTS_ON = 11
    RTS_OFF = 12


class LineState(enum.IntFlag):
    """Bits of a line state."""

    OVERRUN = 1 << 1
    PARITY = 1 << 2
    FRAMING = 1 << 3
    BREAK = 1 << 4
    TRANSMIT_EMPTY = 1 << 5
    SHIFTER_EMPTY = 1 << 6


class ModemState(enum.IntFlag):
    """Bits of a modem state."""

    CTS_CHANGED = 1 << 0
    CTS = 1 << 4


class Reason(enum.IntEnum):
    """Why a command or datagram was not carried out."""

    UNKNOWN_COMMAND = 1
    BAD_LENGTH = 2
    BAD_VALUE = 3
    IMPOSSIBLE = 4
    BAD_VERSION = 5
    BAD_PORT = 6
    NO_ROOM = 7


class Parity(enum.IntEnum):
    """Values of ``SET_PARITY`` (RFC 2217, section 2)."""

    NONE = 1
    ODD = 2
    EVEN = 3
    MARK = 4
    SPACE = 5


class Purge(enum.IntFlag):
    """Values of ``PURGE_DATA``."""

    RECEIVED = 1
    TRANSMIT = 2


#: Names of the counters, in the order of the answer.
COUNTERS = (
    "RECEIVED_BYTES",
    "PACKETS",
    "PACKED_TIME",
    "PACKED_IDLE",
    "PACKED_LENGTH",
    "PACKED_DELIMITER",
    "PACKED_EVENT",
    "NOT_SENT_PACKETS",
    "NOT_SENT_BYTES",
    "TRANSMIT_BYTES",
    "TRANSMIT_DATAGRAMS",
    "REFUSED_BYTES",
    "REFUSED_DATAGRAMS",
    "PURGED_BYTES",
    "BREAKS",
    "FRAMING_ERRORS",
    "PARITY_ERRORS",
    "OVERRUNS",
    "STARVED",
    "BAD_COMMANDS",
    "BAD_DATAGRAMS",
    "NOTIFICATIONS",
    "LOST_NOTIFICATIONS",
    "INTERRUPTS",
    "SERVICES",
)

#: Values that are one number, by their bytes.
_NUMBER_BYTES = {
    Command.SET_BAUDRATE: 4,
    Command.SET_DATASIZE: 1,
    Command.SET_PARITY: 1,
    Command.SET_STOPSIZE: 1,
    Command.SET_CONTROL: 1,
    Command.SET_LINESTATE_MASK: 1,
    Command.SET_MODEMSTATE_MASK: 1,
    Command.PURGE_DATA: 1,
    Command.PACK_TIME: 4,
    Command.PACK_IDLE: 4,
    Command.PACK_LENGTH: 2,
}


class ProtocolError(HostError):
    """What came is no answer or notification of a terminal server."""


class CommandRefusedError(HostError):
    """The board answered with errors: which commands, the reasons, and what it has done."""

    def __init__(self, refused: Iterable[tuple[str, int]], done: Iterable[int]) -> None:
        reasons = ", ".join(f"{command}: {_reason(reason)}" for command, reason in refused)
        others = ", ".join(map(_command, done))
        super().__init__(f"the board refuses {reasons}" + (f"; done: {others}" if others else ""))


def _command(code: int) -> str:
    known = Command(code).name if code in list(Command) else f"datagram ({code})"
    return known.lower().replace("_", "-")


def _reason(reason: int) -> str:
    if reason == Reason.BAD_PORT:
        return "there is none, or it is a LIN node"
    known = Reason(reason).name if reason in list(Reason) else str(reason)
    return known.lower().replace("_", " ")


@dataclass(frozen=True)
class Item:
    """A command, an answer to one or a notification: code and value."""

    code: int
    value: bytes = b""

    @property
    def number(self) -> int:
        """The value as one number."""
        return int.from_bytes(self.value, "big")


@dataclass(frozen=True)
class TransmitState:
    """Bytes of the queue to a serial line; ``taken`` since reset, modulo 2^32.

    A datagram takes ``room_taken`` of the room.
    """

    room: int
    waiting: int
    taken: int


def number(command: Command, value: int) -> Item:
    """A command whose value is one number. Raises ``ValueError`` for one that has not got room."""
    size = _NUMBER_BYTES[command]
    if not 0 <= value < 1 << 8 * size:
        raise ValueError(f"{command.name} must be from 0 to {(1 << 8 * size) - 1}, not {value!r}")
    return Item(command, value.to_bytes(size, "big"))


def delimiter(data: bytes) -> Item:
    """The command that sets the delimiter; empty for none."""
    if len(data) > 2:
        raise ValueError(f"a delimiter has at most two bytes, not {data!r}")
    return Item(Command.PACK_DELIMITER, bytes([len(data)]) + data)


def peer(address: bytes, port: int) -> Item:
    """The command that sets the peer of the data: four bytes and a UDP port."""
    return Item(Command.PEER, struct.pack(">4sH", address, port))


def peer_text(value: bytes) -> str:
    """The value of ``PEER`` as text; empty if there is none."""
    address, port = struct.unpack(">4sH", value)
    return f"{'.'.join(map(str, address))}:{port}" if port else ""


def encode(port: int, sequence: int, items: Iterable[Item]) -> bytes:
    """A control datagram."""
    parts = [bytes([VERSION, port, sequence])]
    parts += [bytes([item.code, len(item.value)]) + item.value for item in items]
    return b"".join(parts)


def decode(data: bytes) -> tuple[int, int, list[Item]]:
    """Serial port, sequence number and items of a control datagram.

    Raises ``ProtocolError`` for what is none.
    """
    if len(data) < HEADER_BYTES or data[0] != VERSION:
        raise ProtocolError(f"not a control datagram: {data[:16].hex()}")
    items = []
    at = HEADER_BYTES
    while at < len(data):
        end = at + 2 + data[at + 1] if at + 1 < len(data) else len(data) + 1
        if end > len(data):
            raise ProtocolError(f"an item ends behind the datagram: {data.hex()}")
        items.append(Item(data[at], data[at + 2 : end]))
        at = end
    return data[1], data[2], items


def check(port: int, commands: Sequence[Item], answers: Sequence[Item]) -> list[Item]:
    """The answers of a serial port, with the codes of the commands.

    Raises ``CommandRefusedError`` if one is an error, ``ProtocolError`` if they don't fit.
    """
    refused = []
    for index, answer in enumerate(answers):
        if answer.code == ERROR and len(answer.value) == 2:
            code, reason = answer.value
            text = f"serial port {port}" if reason == Reason.BAD_PORT else _command(code)
            if index < len(commands) and commands[index].code == code in _NUMBER_BYTES:
                text += f" {commands[index].number}"
            refused.append((text, reason))
    if refused:
        done = [item.code - ANSWER for item in answers if item.code != ERROR]
        raise CommandRefusedError(refused, done)
    codes = [item.code + ANSWER for item in commands]
    if [answer.code for answer in answers] != codes:
        raise ProtocolError(f"answers {answers!r} to {commands!r}")
    return [Item(item.code - ANSWER, item.value) for item in answers]


def counters(value: bytes) -> dict[str, int]:
    """The value of an answer to ``COUNTERS``, by name."""
    if len(value) != 4 * len(COUNTERS):
        raise ProtocolError(f"counters of {len(value)} bytes")
    return dict(zip(COUNTERS, struct.unpack(f">{len(COUNTERS)}I", value), strict=True))


def room_taken(data_bytes: int) -> int:
    """Bytes of a ``TransmitState``'s room that a datagram takes."""
    return -(-data_bytes // ROOM_BYTES) * ROOM_BYTES


def transmit_state(value: bytes) -> TransmitState:
    """The value of an answer to ``TRANSMIT_STATE``."""
    if len(value) != 12:
        raise ProtocolError(f"a transmit state of {len(value)} bytes")
    return TransmitState(*struct.unpack(">3I", value))
