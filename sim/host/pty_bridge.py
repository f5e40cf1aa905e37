"""A pseudo terminal whose other end is a serial port of a board."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import struct
import termios
import time
import tty
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import protocol
from .client import SerialClient
from .errors import HostError
from .protocol import Command, CommandRefusedError, Control, Item, LineState

#: Linux, asm-generic/ioctls.h and termbits.h: the speed as a number, whatever it is.
_TCGETS2, _TCSETS2 = 0x802C542A, 0x402C542B
_TERMIOS2 = struct.Struct("4I20B2I")
_CONTROL_FLAGS = 2
_BOTHER = 0o010000
#: How often the terminal's settings are looked at, and the board's queue while it is full.
_SETTINGS_S = 0.05
_QUEUE_S = 0.005
#: A queue that was full is fed again once a quarter of it is free, not a few bytes at a time, each
#: with a datagram and a question.
_WAITING_TO_ROOM = 3
#: How often a board is looked at that may have restarted.
_CHECK_S = 1.0
#: What is asked at the end waits no longer than so many tries.
_LAST_TRIES = 2
#: Bytes for a program that does not read them: so many stop the board, so few let it go on.
_STOP_BYTES, _GO_ON_BYTES = 1 << 16, 1 << 14
_READ_BYTES = 4096

_RESTARTED = "the board has restarted: speed, stop bits, flow control and peer are made again"
_TOLD = LineState.BREAK | LineState.FRAMING | LineState.PARITY | LineState.OVERRUN


class PortTakenError(HostError):
    """What programs write to the terminal would be dropped, and nothing comes any more."""


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


def write_settings(fd: int, settings: Settings) -> None:
    """Make the terminal show settings."""
    fields = list(_TERMIOS2.unpack(fcntl.ioctl(fd, _TCGETS2, bytes(_TERMIOS2.size))))
    for at, flag, on in (
        (0, termios.IXON, settings.software_flow),
        (_CONTROL_FLAGS, termios.CSTOPB, settings.two_stop_bits),
        (_CONTROL_FLAGS, termios.CRTSCTS, settings.hardware_flow),
    ):
        fields[at] = fields[at] | flag if on else fields[at] & ~flag
    fields[_CONTROL_FLAGS] = fields[_CONTROL_FLAGS] & ~termios.CBAUD | _BOTHER
    fields[-2:] = [settings.baud, settings.baud]
    fcntl.ioctl(fd, _TCSETS2, _TERMIOS2.pack(*fields))


def _commands(settings: Settings) -> set[tuple[Command, int]]:
    return {
        (Command.SET_BAUDRATE, settings.baud),
        (Command.SET_STOPSIZE, 1 + settings.two_stop_bits),
        (Command.SET_CONTROL, settings.flow),
    }


class PtyBridge:
    """Moves bytes and settings between a pseudo terminal and a port until ``stop()``.

    What the board can't take waits in the pseudo terminal; what no program reads stops the board.
    """

    def __init__(self, client: SerialClient, say: Callable[[str], None]) -> None:
        self._client = client
        self._say = say
        self._backlog = bytearray()
        self._room = 0
        #: What the board says while the port's data come here.
        self._peer = b""
        self._stops_board = False
        self._running = True
        self._next_look = 0.0
        self._next_check = time.monotonic() + _CHECK_S
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        #: The terminal that programs open.
        self.path = Path(os.ttyname(self._slave))
        client.notified = self._tell

    def close(self) -> None:
        """Close the pseudo terminal. Without ``run`` this gives back what ``begin`` has taken."""
        if self._peer:
            self._leave_board()
        os.close(self._master)
        os.close(self._slave)

    def stop(self) -> None:
        """Let ``run`` come to its end."""
        self._running = False

    def begin(self) -> None:
        """Make the terminal show the port's settings, and have its data come here.

        Raises what ``SerialClient.request`` does.
        """
        asked = (Command.SET_BAUDRATE, Command.SET_STOPSIZE, Command.SET_CONTROL)
        baud, stop_bits, flow = (answer.number for answer in self._client.ask(*asked))
        shown = Settings(
            baud=baud,
            two_stop_bits=stop_bits == 2,
            hardware_flow=flow == Control.FLOW_HARDWARE,
            software_flow=flow == Control.FLOW_XON_XOFF,
        )
        write_settings(self._slave, shown)
        self._settings = read_settings(self._slave)
        self._take_port()

    def _take_port(self) -> None:
        client = self._client
        flow = Command.FLOWCONTROL_SUSPEND if self._stops_board else Command.FLOWCONTROL_RESUME
        client.request(Item(flow))
        self._peer = client.take_data_here()
        # The last one: by this a board is known that has restarted.
        client.set_numbers([(Command.SET_LINESTATE_MASK, _TOLD)])

    def run(self) -> None:
        """Serve, behind ``begin``. At the end the board may go on, and the port is free for others.

        Raises ``PortTakenError`` if another client has the port's data now.
        """
        try:
            while self._running:
                self._turn()
        finally:
            self._leave_board()

    def _leave_board(self) -> None:
        client = self._client
        try:
            if client.ask(Command.PEER, tries=_LAST_TRIES)[0].value != self._peer:
                return
            if self._stops_board:
                client.request(Item(Command.FLOWCONTROL_RESUME))
            nobody = protocol.peer(bytes(4), 0)
            client.request(protocol.number(Command.SET_LINESTATE_MASK, 0), nobody)
        except (HostError, OSError) as error:
            state = "sends nothing" if self._stops_board else "has this host as its peer"
            self._say(f"the board still {state}: {error}")
        finally:
            self._peer = b""

    def _turn(self) -> None:
        client = self._client
        reads = [client.control]
        # What comes while the backlog is too long waits in the socket.
        if len(self._backlog) <= _STOP_BYTES:
            reads.append(client.data)
        if self._has_room():
            reads.append(self._master)
        writes = [self._master] if self._backlog else []
        wait_s = _SETTINGS_S if self._master in reads else _QUEUE_S
        ready, writable, _ = select.select(reads, writes, [], wait_s)
        self._forward_settings()
        if self._master in ready:
            self._send(_READ_BYTES)
        if client.data in ready:
            self._take_data()
        if self._backlog and (writable or client.data in ready):
            self._give_program()
        if client.control in ready:
            client.take_notifications()
        self._pace_board()
        self._look_for_restart()

    def _look_for_restart(self) -> None:
        if time.monotonic() < self._next_check:
            return
        try:
            mask, peer = self._client.ask(Command.SET_LINESTATE_MASK, Command.PEER, tries=1)
        except (HostError, OSError):
            # Who needs the board will tell.
            return
        finally:
            self._next_check = time.monotonic() + _CHECK_S
        # Data may have come before this: then the peer is ours, but nothing else is.
        if mask.number != _TOLD or not any(peer.value):
            self._say(_RESTARTED)
            self._room = 0
            self._make(_commands(self._settings))
            self._take_port()
        elif peer.value != self._peer:
            port, other = self._client.port, protocol.peer_text(peer.value)
            raise PortTakenError(f"{other} has taken serial port {port}")

    def _has_room(self) -> bool:
        if self._room == 0:
            state = self._client.transmit_state()
            if state.room * _WAITING_TO_ROOM >= state.waiting:
                self._room = state.room
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
        self._client.data.send(data)
        self._room = max(0, self._room - protocol.room_taken(len(data)))

    def _take_data(self) -> None:
        """All that has come: the next turn may wait for an answer, and the socket holds little."""
        data = self._client.data
        while len(self._backlog) <= _STOP_BYTES and select.select([data], [], [], 0)[0]:
            self._backlog += data.receive() or b""

    def _give_program(self) -> None:
        with contextlib.suppress(BlockingIOError):
            written = os.write(self._master, self._backlog)
            del self._backlog[:written]

    def _pace_board(self) -> None:
        if not self._stops_board and len(self._backlog) > _STOP_BYTES:
            self._stops_board = True
            self._client.request(Item(Command.FLOWCONTROL_SUSPEND))
        elif self._stops_board and len(self._backlog) < _GO_ON_BYTES:
            self._client.request(Item(Command.FLOWCONTROL_RESUME))
            self._stops_board = False

    def _forward_settings(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not at_once and now < self._next_look:
            return
        self._next_look = now + _SETTINGS_S
        wanted = read_settings(self._slave)
        known = _commands(self._settings)
        self._settings = wanted
        for command, holds in self._make(_commands(wanted) - known):
            self._say(f"{command.name.lower().replace('_', '-')} is {holds}")

    def _make(self, settings: Iterable[tuple[Command, int]]) -> list[tuple[Command, int]]:
        """Settings that hold now; those that the board refuses are said."""
        made = []
        for setting in sorted(settings):
            try:
                (holds,) = self._client.set_numbers([setting])
            except CommandRefusedError as error:
                self._say(str(error))
            else:
                made.append((setting[0], holds))
        return made

    def _tell(self, item: Item) -> None:
        if item.code == Command.NOTIFY_LINESTATE and len(item.value) == 5:
            state = LineState(item.value[0]) & _TOLD
            names = ", ".join(flag.name.lower() for flag in LineState if flag in state)
            self._say(f"{names} after {int.from_bytes(item.value[1:], 'big')} bytes")
        elif item.code == Command.FLOWCONTROL_SUSPEND:
            self._room = 0


def check_link(link: Path | None) -> None:
    """Raises ``OSError`` naming a link that can't be made; None is no link."""
    if link is None:
        return
    if link.exists() or link.is_symlink():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(link))
    if not link.parent.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(link.parent))
    if not os.access(link.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(link.parent))


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
        # Another's, if somebody has removed this one.
        if link.is_symlink() and link.readlink() == path:
            link.unlink()
