"""Commands of a board's console, over UDP (``firmware/apps/remote.h``)."""

from __future__ import annotations

import itertools
import random
import re
import select
from dataclasses import dataclass

from .board_socket import BoardSocket

#: UDP port of the board, and the longest command that it takes, in bytes.
COMMAND_PORT = 7100
COMMAND_BYTES = 95
#: After that the request goes out again.
_TRY_S = 0.5
_TRIES = 6
_NUMBERS = 10**9
_HEADER = re.compile(rb"(\d+) (\d+) (more|ok|error) *\n")


@dataclass(frozen=True)
class Answer:
    """What a command printed, and whether it failed."""

    text: str
    failed: bool


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
        for _ in range(_TRIES):
            number = next(self._numbers) % _NUMBERS
            self._socket.send(f"{number} {command}".encode())
            answer = self._collect(number)
            if answer is not None:
                return answer
        raise self._socket.no_answer("board")

    def _collect(self, number: int) -> Answer | None:
        """All parts of the answer, or None if they are not there in time."""
        parts: dict[int, bytes] = {}
        last: tuple[int, bool] | None = None
        while select.select([self._socket], [], [], self._try_s)[0]:
            datagram = self._socket.receive() or b""
            header = _HEADER.match(datagram)
            if header is None or int(header[1]) != number:
                continue
            part = int(header[2])
            parts[part] = datagram[header.end() :]
            if header[3] != b"more":
                last = part, header[3] == b"error"
            if last is not None and len(parts) == last[0] + 1:
                whole = b"".join(parts[index] for index in sorted(parts))
                return Answer(whole.decode(errors="replace"), last[1])
        return None
