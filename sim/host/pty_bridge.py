"""A pseudo terminal whose other end is a serial port of a board."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import termios
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import protocol
from .client import SerialClient
from .protocol import Command, CommandRefusedError, Control, Item, LineState

#: Linux, asm-generic/ioctls.h and termbits.h: the speed as a number, whatever it is.
_TCGETS2, _TCSETS2 = 0x802C542A, 0x402C542B
_TERMIOS2 = struct.Struct("4I20B2I")
_CONTROL_FLAGS = 2
_BOTHER = 0o010000
#: How often the terminal's settings are looked at, and the board's queue while it is full.
_SETTINGS_S = 0.05
_QUEUE_S = 0.005
#: Bytes for a program that does not read them: so many stop the board, so few let it go on.
_STOP_BYTES, _GO_ON_BYTES = 1 << 16, 1 << 14
_READ_BYTES = 4096

_TOLD = LineState.BREAK | LineState.FRAMING | LineState.PARITY | LineState.OVERRUN


@dataclass(frozen=True)
class Settings:
    """What a pseudo terminal passes on: Linux keeps it at 8 data bits without parity."""

    baud: int
    two_stop_bits: bool
    hardware_flow: bool
    software_flow: bool

    @property
    def flow(self) -> Control:
        """Flow control as the board knows it."""
        if self.hardware_flow:
            return Control.FLOW_HARDWARE
        return Control.FLOW_XON_XOFF if self.software_flow else Control.FLOW_NONE


def read_settings(fd: int) -> Settings:
    """Settings that a program has made on the terminal."""
    fields = _TERMIOS2.unpack(fcntl.ioctl(fd, _TCGETS2, bytes(_TERMIOS2.size)))
    flags = fields[_CONTROL_FLAGS]
    return Settings(
        baud=fields[-1],
        two_stop_bits=bool(flags & termios.CSTOPB),
        hardware_flow=bool(flags & termios.CRTSCTS),
        software_flow=bool(fields[0] & termios.IXON),
    )


def write_speed(fd: int, baud: int) -> None:
    """Make the terminal show a speed."""
    fields = list(_TERMIOS2.unpack(fcntl.ioctl(fd, _TCGETS2, bytes(_TERMIOS2.size))))
    fields[_CONTROL_FLAGS] = fields[_CONTROL_FLAGS] & ~termios.CBAUD | _BOTHER
    fields[-2:] = [baud, baud]
    fcntl.ioctl(fd, _TCSETS2, _TERMIOS2.pack(*fields))


class PtyBridge:
    """Moves bytes and settings between a pseudo terminal and a port until ``stop()``.

    What the board can't take waits in the pseudo terminal; what no program reads stops the board.
    """

    def __init__(self, client: SerialClient, say: Callable[[str], None]) -> None:
        self._client = client
        self._say = say
        self._backlog = bytearray()
        self._room = 0
        self._stops_board = False
        self._running = True
        self._next_look = 0.0
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        #: The terminal that programs open.
        self.path = Path(os.ttyname(self._slave))
        client.notified = self._tell

    def close(self) -> None:
        """Close the pseudo terminal."""
        os.close(self._master)
        os.close(self._slave)

    def stop(self) -> None:
        """Let ``run`` come to its end."""
        self._running = False

    def begin(self) -> None:
        """Make the terminal show the port's speed, and have its data come here.

        Raises what ``SerialClient.request`` does.
        """
        client = self._client
        baud, _ = client.ask(Command.SET_BAUDRATE, Command.TRANSMIT_STATE)
        write_speed(self._slave, baud.number)
        self._settings = read_settings(self._slave)
        client.set_numbers([(Command.SET_LINESTATE_MASK, _TOLD)])
        client.request(Item(Command.FLOWCONTROL_RESUME))
        client.take_data_here()

    def run(self) -> None:
        """Serve, behind ``begin``."""
        while self._running:
            self._turn()

    def _turn(self) -> None:
        client = self._client
        reads = [client.data, client.control]
        if self._has_room():
            reads.append(self._master)
        writes = [self._master] if self._backlog else []
        wait_s = _SETTINGS_S if len(reads) == 3 else _QUEUE_S
        ready, writable, _ = select.select(reads, writes, [], wait_s)
        self._forward_settings()
        if self._master in ready:
            self._send(_READ_BYTES)
        if client.data in ready:
            with contextlib.suppress(ConnectionRefusedError):
                self._backlog += client.data.recv(protocol.MAX_DATA_BYTES)
        if self._backlog and (writable or client.data in ready):
            self._give_program()
        if client.control in ready:
            client.take_notifications()
        self._pace_board()

    def _has_room(self) -> bool:
        if self._room == 0:
            self._room = self._client.transmit_state().room
        return self._room != 0

    def _send(self, most: int) -> None:
        if self._room == 0:
            return
        try:
            data = os.read(self._master, min(most, self._room, protocol.MAX_DATA_BYTES))
        except BlockingIOError:
            return
        # The program may have made settings before it wrote.
        self._forward_settings(at_once=True)
        with contextlib.suppress(ConnectionRefusedError):
            self._client.data.send(data)
        self._room = max(0, self._room - len(data))

    def _give_program(self) -> None:
        with contextlib.suppress(BlockingIOError):
            written = os.write(self._master, self._backlog)
            del self._backlog[:written]

    def _pace_board(self) -> None:
        if not self._stops_board and len(self._backlog) > _STOP_BYTES:
            self._stops_board = True
            self._client.request(Item(Command.FLOWCONTROL_SUSPEND))
        elif self._stops_board and len(self._backlog) < _GO_ON_BYTES:
            self._stops_board = False
            self._client.request(Item(Command.FLOWCONTROL_RESUME))

    def _forward_settings(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not at_once and now < self._next_look:
            return
        self._next_look = now + _SETTINGS_S
        wanted = read_settings(self._slave)
        if wanted == self._settings:
            return
        settings = []
        if wanted.baud != self._settings.baud:
            settings.append((Command.SET_BAUDRATE, wanted.baud))
        if wanted.two_stop_bits != self._settings.two_stop_bits:
            settings.append((Command.SET_STOPSIZE, 1 + wanted.two_stop_bits))
        if wanted.flow != self._settings.flow:
            settings.append((Command.SET_CONTROL, wanted.flow))
        self._settings = wanted
        for setting in settings:
            try:
                (holds,) = self._client.set_numbers([setting])
            except CommandRefusedError as error:
                self._say(f"{error}: {setting[1]}")
            else:
                self._say(f"{setting[0].name.lower().replace('_', '-')} is {holds}")

    def _tell(self, item: Item) -> None:
        if item.code == Command.NOTIFY_LINESTATE and len(item.value) == 5:
            state = LineState(item.value[0]) & _TOLD
            names = ", ".join(flag.name.lower() for flag in LineState if flag in state)
            self._say(f"{names} after {int.from_bytes(item.value[1:], 'big')} bytes")
        elif item.code == Command.FLOWCONTROL_SUSPEND:
            self._room = 0


@contextlib.contextmanager
def linked(path: Path, link: Path | None) -> Iterator[Path]:
    """A symbolic link to the terminal while it lasts; the terminal itself without one.

    Raises ``FileExistsError`` if something else is there.
    """
    if link is None:
        yield path
        return
    link.symlink_to(path)
    try:
        yield link
    finally:
        link.unlink(missing_ok=True)
