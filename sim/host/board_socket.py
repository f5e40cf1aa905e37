"""Sockets for the boards of the host's clients."""

from __future__ import annotations

import socket

from .errors import NoAnswerError

_DATAGRAM_BYTES = 2048


class BoardSocket:
    """UDP to one port of a board, which ``select`` takes.

    That a datagram is refused (ICMP, port unreachable) is told by whatever is done with the socket
    next, and may be over by then: a board that starts anew. So it counts as lost, like others, and
    who waits for an answer goes on to wait; ``no_answer`` tells of it in the end.

    Raises ``NoAnswerError`` naming the address if no way leads there.
    """

    def __init__(self, address: str, port: int) -> None:
        self._where = f"{address or repr(address)}, UDP port {port}"
        self._is_refused = False
        if not address:
            # Python would take this host.
            raise NoAnswerError(f"no way to {self._where}: it is no address")
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.connect((address, port))
        except OSError as error:
            self._socket.close()
            raise NoAnswerError(f"no way to {self._where}: {error.strerror}") from None

    def fileno(self) -> int:
        """For ``select``."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    @property
    def own_port(self) -> int:
        """UDP port at this end."""
        return self._socket.getsockname()[1]

    def send(self, datagram: bytes) -> None:
        """Send a datagram."""
        # With the refusal of an earlier one it has not gone out.
        for _ in range(2):
            try:
                self._socket.send(datagram)
                return
            except ConnectionRefusedError:
                self._is_refused = True

    def receive(self) -> bytes | None:
        """A datagram, for which this waits; None if one was refused instead."""
        try:
            datagram = self._socket.recv(_DATAGRAM_BYTES)
        except ConnectionRefusedError:
            self._is_refused = True
            return None
        self._is_refused = False
        return datagram

    def no_answer(self, who: str) -> NoAnswerError:
        """The error of who has waited for an answer often enough."""
        why = ": the host there refuses the port" if self._is_refused else ""
        return NoAnswerError(f"no {who} answers at {self._where}{why}")
