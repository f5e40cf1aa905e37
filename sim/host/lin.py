"""LIN nodes of a board, over UDP: data of frames, and reports of what happens on the bus.

``firmware/apps/lin/host.h`` describes the datagrams. Nodes are made by the board's command ``lin``.
"""

from __future__ import annotations

import contextlib
import enum
import itertools
import random
import select
import struct
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .board_socket import BoardSocket
from .errors import HostError

HOST_PORT = 7200
ALL_PORTS = 0xFF
#: A port that no board has.
NO_PORT = 0xFE
MOST_RECORDS = 64
_ANSWER, _FAILED, _REPORT = 0x80, 0xC0, 0x40
_RECORD = struct.Struct(">BBBBI8s")
#: Of the values that have room in a record.
_MOST = {"what": 0xFF, "port": 0xFF, "identifier": 0xFF, "number": 0xFFFF_FFFF}
_TRY_S = 0.5
_TRIES = 6


class Request(enum.IntEnum):
    """What a record asks for."""

    SET = 1
    READ = 2
    WATCH = 3
    UNWATCH = 4
    HEADER = 5
    WAKE = 6
    SLEEP = 7
    SLOT = 8
    SCHEDULE = 9
    COUNT = 10


class Outcome(enum.IntEnum):
    """What a report tells."""

    SENT = 0
    RECEIVED = 1
    NO_RESPONSE = 2
    INCOMPLETE = 3
    BAD_CHECKSUM = 4
    BAD_CHARACTER = 5
    BIT_ERROR = 6
    BAD_SYNC = 7
    BAD_PARITY = 8
    BAD_HEADER = 9
    ASLEEP = 10
    AWAKE = 11


class Failure(enum.IntEnum):
    """Why a request failed."""

    NO_SUCH_FRAME = 1
    BAD_IDENTIFIER = 2
    IN_USE = 3
    FULL = 4
    BAD_LENGTH = 5
    BAD_BIT = 6
    BAD_SLOT = 7
    NOT_COMMANDER = 8
    NO_NODE = 32
    MALFORMED = 33
    NO_COUNTER = 34
    MANY_SLOTS = 36


class Counter(enum.IntEnum):
    """Counters of a node; from 16 on its outcomes."""

    HEADERS = 0
    UNANSWERED = 1
    LATE = 2
    OVERRUNS = 3
    REPORTS_LOST = 4
    FIRST_OUTCOME = 16


class LinError(HostError):
    """A request that the board refused."""


@dataclass(frozen=True)
class Record:
    """A request, an answer or a report; up to eight bytes of data."""

    what: int
    port: int
    identifier: int = 0
    data: bytes = b""
    number: int = 0

    @property
    def failure(self) -> Failure | None:
        """Why the request failed, or None."""
        return Failure(self.number) if self.what & _FAILED == _FAILED else None

    @property
    def outcome(self) -> Outcome | None:
        """The outcome that a report tells, or None for an answer."""
        return Outcome(self.what - _REPORT) if self.what & _FAILED == _REPORT else None


def encode(records: Iterable[Record]) -> bytes:
    """A datagram.

    Raises ``ValueError`` for data of more than eight bytes, and naming a value without room.
    """
    parts = []
    for record in records:
        if len(record.data) > 8:
            raise ValueError(f"data must have at most 8 bytes, not {record.data.hex()!r}")
        for name, most in _MOST.items():
            value = getattr(record, name)
            if not 0 <= value <= most:
                raise ValueError(f"{name} must be from 0 to {most}, not {value!r}")
        head = (record.what, record.port, record.identifier, len(record.data), record.number)
        parts.append(_RECORD.pack(*head, record.data))
    return b"".join(parts)


def decode(datagram: bytes) -> list[Record]:
    """The records of a datagram. Raises ``ValueError`` if it is no whole number of them."""
    if len(datagram) % _RECORD.size:
        raise ValueError(f"a datagram must be whole records of 16 bytes, not {len(datagram)} bytes")
    return [
        Record(what, port, identifier, data[:count], number)
        for what, port, identifier, count, number, data in _RECORD.iter_unpack(datagram)
    ]


def _mark(number: int) -> Record:
    """A request that does nothing, and whose answer repeats the number."""
    return Record(Request.UNWATCH, NO_PORT, number=number)


def _is_answer(mark: Record, records: Sequence[Record]) -> bool:
    """Whether a datagram answers the one that ends in the mark, or calls one malformed."""
    if len(records) == 1 and records[0].what == _FAILED:
        return True
    return len(records) > 0 and records[-1] == replace(mark, what=mark.what | _ANSWER)


#: What waits on the board until it is carried out, and is refused meanwhile.
_WAITING = (Request.HEADER, Request.SLEEP)


class LinClient:
    """A socket for the LIN nodes of one board, closed at the end of a ``with``.

    The board has places for a few that watch: this one gives its own back then.
    """

    def __init__(self, address: str, port: int = HOST_PORT) -> None:
        self._socket = BoardSocket(address, port)
        self._numbers = itertools.count(random.randrange(1 << 32))
        self._has_watched = False
        #: Reports that came while an answer was waited for.
        self.reports: list[Record] = []

    def __enter__(self) -> LinClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self._has_watched:
            with contextlib.suppress(OSError):
                self._socket.send(encode([Record(Request.UNWATCH, ALL_PORTS)]))
        self._socket.close()

    def ask(self, *requests: Record) -> list[Record]:
        """Have requests carried out; their answers.

        A request whose answer is lost goes out again; an answer that comes late is not taken for
        that of the next. A header or ``sleep`` that still waits when it is repeated has been taken.
        Raises ``LinError`` for the first that the board refused, ``NoAnswerError`` if it does
        not answer, ``ValueError`` for more requests than a datagram has room for.
        """
        if len(requests) >= MOST_RECORDS:
            raise ValueError(f"requests must be fewer than {MOST_RECORDS}, not {len(requests)}")
        mark = _mark(next(self._numbers) % (1 << 32))
        while (stale := self._receive(0)) is not None:
            self._keep_reports(stale)
        self._has_watched |= any(each.what == Request.WATCH for each in requests)
        for tried in range(_TRIES):
            self._socket.send(encode([*requests, mark]))
            deadline = time.monotonic() + _TRY_S
            while (left := deadline - time.monotonic()) > 0:
                records = self._receive(left) or []
                if _is_answer(mark, records):
                    return self._checked(requests, records, repeated=tried > 0)
                self._keep_reports(records)
        raise self._socket.no_answer("board")

    def next_reports(self, timeout_s: float) -> list[Record]:
        """Reports, those first that came before; none if nothing comes in time."""
        if not self.reports:
            self._keep_reports(self._receive(timeout_s) or [])
        found, self.reports = self.reports, []
        return found

    def _keep_reports(self, records: list[Record]) -> None:
        self.reports += [record for record in records if record.outcome is not None]

    def _receive(self, timeout_s: float) -> list[Record] | None:
        if not select.select([self._socket], [], [], timeout_s)[0]:
            return None
        return decode(self._socket.receive() or b"")

    @staticmethod
    def _checked(
        requests: Sequence[Record], answers: list[Record], *, repeated: bool
    ) -> list[Record]:
        for request, answer in zip(requests, answers, strict=False):
            if repeated and answer.failure is Failure.FULL and request.what in _WAITING:
                continue
            if answer.failure is not None:
                raise LinError(f"{request} failed: {answer.failure.name}")
        return answers[: len(requests)]
