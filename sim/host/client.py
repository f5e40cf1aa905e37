"""A serial port of a board, over UDP: its data, its settings and its counters."""

from __future__ import annotations

import itertools
import select
import time
from collections.abc import Callable, Sequence

from . import protocol
from .board_socket import BoardSocket
from .protocol import Command, Item, ProtocolError, TransmitState

#: Answers take less, if the board is there; then the request goes out again.
_TRY_S = 0.5
_TRIES = 6


class SerialClient:
    """Control and data sockets for one serial port. Both are closed at the end of a ``with``.

    Every request is safe to repeat, so that a lost datagram costs no more than time.
    """

    def __init__(
        self,
        address: str,
        port: int,
        *,
        control_port: int = protocol.CONTROL_PORT,
        data_port: int = protocol.DATA_PORT,
        try_s: float = _TRY_S,
    ) -> None:
        self.port = port
        self._try_s = try_s
        self._sequence = itertools.cycle(range(1, 256))
        #: Called with each item that the board tells of itself.
        self.notified: Callable[[Item], None] = lambda _: None
        self.control = BoardSocket(address, control_port)
        self.data = BoardSocket(address, data_port + port)

    def __enter__(self) -> SerialClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.control.close()
        self.data.close()

    def request(self, *commands: Item, tries: int = _TRIES) -> list[Item]:
        """Have commands carried out; their answers.

        Raises ``NoAnswerError``, ``CommandRefusedError`` and ``ProtocolError``.
        """
        sequence = next(self._sequence)
        datagram = protocol.encode(self.port, sequence, commands)
        for _ in range(tries):
            self.control.send(datagram)
            deadline = time.monotonic() + self._try_s
            while (left := deadline - time.monotonic()) > 0:
                if select.select([self.control], [], [], left)[0]:
                    answers = self._receive(sequence)
                    if answers is not None:
                        return protocol.check(self.port, commands, answers)
        raise self.control.no_answer("terminal server")

    def _receive(self, sequence: int) -> list[Item] | None:
        """The answer, if the datagram that has come is the one."""
        datagram = self.control.receive()
        if datagram is None:
            return None
        try:
            port, number, items = protocol.decode(datagram)
        except ProtocolError:
            return None
        if port != self.port:
            return None
        if number == 0:
            for item in items:
                self.notified(Item(item.code - protocol.ANSWER, item.value))
        return items if number == sequence else None

    def take_notifications(self) -> None:
        """Handle what the board has told meanwhile; does not wait."""
        while select.select([self.control], [], [], 0)[0]:
            self._receive(0)

    def ask(self, *commands: Command, tries: int = _TRIES) -> list[Item]:
        """What holds."""
        return self.request(*(Item(command) for command in commands), tries=tries)

    def set_numbers(self, settings: Sequence[tuple[Command, int]]) -> list[int]:
        """Make settings that are one number each; those that hold then."""
        answers = self.request(*(protocol.number(*setting) for setting in settings))
        return [answer.number for answer in answers]

    def take_data_here(self) -> bytes:
        """From now on the port's data come to this client; the value of ``PEER`` that says so."""
        (answer,) = self.request(protocol.peer(bytes(4), self.data.own_port))
        return answer.value

    def counters(self) -> dict[str, int]:
        """Counters of the port."""
        return protocol.counters(self.ask(Command.COUNTERS)[0].value)

    def transmit_state(self) -> TransmitState:
        """What the board's queue to the serial line has room for."""
        return protocol.transmit_state(self.ask(Command.TRANSMIT_STATE)[0].value)
