"""Commands of a board's console, over UDP (``firmware/apps/remote.h``)."""

from __future__ import annotations

import itertools
import random
import re
import select
from collections.abc import Mapping
from dataclasses import dataclass

from .board_socket import BoardSocket

#: UDP port of the board, and the longest command that it takes, in bytes.
COMMAND_PORT = 7100
COMMAND_BYTES = 95
#: After so many times that the request goes out again, and at last it is given up. A board that is
#: busy, or simulated, may take seconds, and carries each of them out.
_TRY_S = 0.5
_WAITS = (1, 2, 4, 8)
_NUMBERS = 10**9
_HEADER = re.compile(rb"(\d+) (\d+) (more|ok|error) *\n")


@dataclass(frozen=True)
class Answer:
    """What a command printed, and whether it failed."""

    text: str
    failed: bool


class _Parts:
    """Parts of an answer, as they come."""

    def __init__(self) -> None:
        self._texts: dict[int, bytes] = {}
        self._last: tuple[int, bool] | None = None

    def take(self, part: int, status: bytes, text: bytes) -> None:
        """Take a part, in any order and as often as it comes."""
        self._texts[part] = text
        if status != b"more":
            self._last = part, status == b"error"

    def answer(self) -> Answer | None:
        """The answer, as soon as all is there."""
        if self._last is None or len(self._texts) != self._last[0] + 1:
            return None
        whole = b"".join(self._texts[part] for part in sorted(self._texts))
        return Answer(whole.decode(errors="replace"), self._last[1])


class CommandClient:
    """A socket for the commands of one board, closed at the end of a ``with``.

    A request whose answer is lost is sent again: the board may carry a command out twice.
    """

    def __init__(self, address: str, port: int = COMMAND_PORT, *, try_s: float = _TRY_S) -> None:
        self._try_s = try_s
        self._numbers = itertools.count(random.randrange(_NUMBERS))
        self._socket = BoardSocket(address, port)

    def __enter__(self) -> CommandClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def run(self, command: str) -> Answer:
        """Have a command run.

        Raises ``ValueError`` for one that the board could not read, ``NoAnswerError`` if it does
        not answer.
        """
        if not command.isascii() or not command.isprintable():
            raise ValueError(f"command must be printable ASCII, not {command!r}")
        if len(command) > COMMAND_BYTES:
            raise ValueError(f"command must have at most {COMMAND_BYTES} bytes, not {command!r}")
        # The answer to an earlier try may come late: it is one, too.
        tries: dict[int, _Parts] = {}
        for wait in _WAITS:
            number = next(self._numbers) % _NUMBERS
            tries[number] = _Parts()
            self._socket.send(f"{number} {command}".encode())
            answer = self._collect(tries, wait * self._try_s)
            if answer is not None:
                return answer
        raise self._socket.no_answer("board")

    def _collect(self, tries: Mapping[int, _Parts], wait_s: float) -> Answer | None:
        """The answer to one of the tries, or None if no more of any comes in time."""
        while select.select([self._socket], [], [], wait_s)[0]:
            datagram = self._socket.receive() or b""
            header = _HEADER.match(datagram)
            if header is None or (parts := tries.get(int(header[1]))) is None:
                continue
            parts.take(int(header[2]), header[3], datagram[header.end() :])
            answer = parts.answer()
            if answer is not None:
                return answer
        return None
