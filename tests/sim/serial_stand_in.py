"""A stand-in for a board with serial ports, and a bridge to it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from tierv.sim.host import protocol, pty_bridge
from tierv.sim.host.client import SerialClient
from tierv.sim.host.protocol import Command, Control, Item, Reason

TIMEOUT_S = 20
PORT = 3
MOST_BAUD = 1_000_000
#: Bytes of a datagram that share a word of the transmit queue.
WORD_BYTES = 3


class StandIn(threading.Thread):
    """A board of one serial port, whose line is looped back, as far as the host sees it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.control, self.data = (self._socket() for _ in range(2))
        self.client: tuple[str, int] | None = None
        #: Words of the queue to the line, and how many there may be; what has come back.
        self.queue: deque[bytes] = deque()
        self.words = 1000
        self.line = bytearray()
        #: Bytes that the line takes in a turn; those that did not fit into the queue.
        self.pace, self.refused = 400, 0
        #: How often the queue's state was asked for.
        self.asked = 0
        self.restart()
        #: Tells of a full queue before each answer.
        self.tells_suspend = False
        #: Datagrams for the line without a byte; the speed at which each came.
        self.empty = 0
        self.speeds: list[int] = []
        #: Each answer comes once more, behind the next request.
        self.repeats = False
        self._last = b""
        #: Requests that are not answered, and those that come while another has the port.
        self.lose = self.away = 0
        self._ends = False

    def restart(self) -> None:
        """Settings after reset."""
        self.settings = {Command.SET_BAUDRATE: 115_200, Command.SET_STOPSIZE: 1}
        self.settings |= {Command.SET_CONTROL: Control.FLOW_NONE, Command.SET_LINESTATE_MASK: 0}
        self.peer = ("0.0.0.0", 0)
        self.suspended = False

    @staticmethod
    def _socket() -> socket.socket:
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end.bind(("127.0.0.1", 0))
        return end

    def run(self) -> None:
        while not self._ends:
            ready, _, _ = select.select([self.control, self.data], [], [], 0.002)
            # As on one wire, what was sent before a command is taken before it is answered.
            for payload in self._payloads():
                self.empty += not payload
                self.speeds.append(self.settings[Command.SET_BAUDRATE])
                words = [payload[at : at + WORD_BYTES] for at in range(0, len(payload), WORD_BYTES)]
                if len(self.queue) + len(words) > self.words:
                    self.refused += len(payload)
                else:
                    self.queue += words
            if self.control in ready:
                self._answer(*self.control.recvfrom(2000))
            while self.queue and len(self.line) < self.pace:
                self.line += self.queue.popleft()
            if self.line and not self.suspended and self.peer[1]:
                # A test may have more come meanwhile.
                sent = bytes(self.line[: self.pace])
                self.data.sendto(sent, self.peer)
                del self.line[: len(sent)]

    def _payloads(self) -> Iterator[bytes]:
        with contextlib.suppress(BlockingIOError):
            while True:
                payload, sender = self.data.recvfrom(2000, socket.MSG_DONTWAIT)
                if self.peer[1] == 0:
                    self.peer = sender
                yield payload

    def end(self) -> None:
        self._ends = True
        self.join(TIMEOUT_S)
        self.control.close()
        self.data.close()

    def notify(self, code: int, value: bytes) -> None:
        item = Item(code + protocol.ANSWER, value)
        self.control.sendto(protocol.encode(PORT, 0, [item]), self.client)

    def _answer(self, datagram: bytes, sender: tuple[str, int]) -> None:
        if self.lose:
            self.lose -= 1
            return
        port, sequence, items = protocol.decode(datagram)
        self.client = sender
        if self.tells_suspend:
            self.notify(Command.FLOWCONTROL_SUSPEND, b"")
        answers = [self._perform(item) for item in items]
        if self.away:
            self.away -= 1
            answers = [Item(protocol.ERROR, bytes([protocol.ERROR, Reason.BAD_PORT]))]
        if self.repeats and self._last:
            self.control.sendto(self._last, sender)
        self._last = protocol.encode(port, sequence, answers)
        self.control.sendto(self._last, sender)

    def _perform(self, item: Item) -> Item:
        code, value = item.code, item.value
        if code == Command.SET_BAUDRATE and item.number > MOST_BAUD:
            return Item(protocol.ERROR, bytes([code, Reason.IMPOSSIBLE]))
        if code in self.settings:
            # Of a mask 0 is a value, too.
            if item.number or (value and code == Command.SET_LINESTATE_MASK):
                self.settings[code] = item.number
            value = self.settings[code].to_bytes(4 if code == Command.SET_BAUDRATE else 1, "big")
        elif code == Command.PEER:
            if value:
                port = int.from_bytes(value[4:], "big")
                self.peer = ("127.0.0.1" if port else "0.0.0.0", port)
            value = socket.inet_aton(self.peer[0]) + self.peer[1].to_bytes(2, "big")
        elif code == Command.TRANSMIT_STATE:
            self.asked += 1
            room = (self.words - len(self.queue)) * WORD_BYTES
            value = struct.pack(">3I", room, sum(map(len, self.queue)), 0)
        elif code in (Command.FLOWCONTROL_SUSPEND, Command.FLOWCONTROL_RESUME):
            self.suspended = code == Command.FLOWCONTROL_SUSPEND
        elif code == Command.COUNTERS:
            value = struct.pack(f">{len(protocol.COUNTERS)}I", *range(len(protocol.COUNTERS)))
        return Item(code + protocol.ANSWER, value)


def client_of(board: StandIn, **arguments) -> SerialClient:
    return SerialClient(
        "127.0.0.1",
        PORT,
        control_port=board.control.getsockname()[1],
        data_port=board.data.getsockname()[1] - PORT,
        **arguments,
    )


@contextlib.contextmanager
def terminal(board: StandIn, **arguments) -> Iterator[tuple[int, pty_bridge.PtyBridge, list[str]]]:
    """The program's end of a pseudo terminal, and what the bridge has said."""
    said: list[str] = []
    with client_of(board, **arguments) as client:
        bridge = pty_bridge.PtyBridge(client, said.append)
        bridge.begin()
        thread = threading.Thread(target=bridge.run)
        thread.start()
        fd = os.open(bridge.path, os.O_RDWR | os.O_NOCTTY)
        try:
            yield fd, bridge, said
        finally:
            bridge.stop()
            thread.join(TIMEOUT_S)
            os.close(fd)
            bridge.close()


def set_speed(fd: int, baud: int) -> None:
    pty_bridge.write_settings(fd, replace(pty_bridge.read_settings(fd), baud=baud))


def wait_for(condition) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def read_all(fd: int, count: int) -> bytes:
    data = b""
    deadline = time.monotonic() + TIMEOUT_S
    while len(data) < count:
        assert time.monotonic() < deadline, f"{len(data)} of {count} bytes"
        if select.select([fd], [], [], 0.1)[0]:
            data += os.read(fd, 4096)
            deadline = time.monotonic() + TIMEOUT_S
    return data
