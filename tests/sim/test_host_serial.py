"""The host's side of the terminal server: a pseudo terminal, and a stand-in for the board."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import termios
import threading
import time
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from tierv.sim.host import protocol, pty_bridge, serial_commands
from tierv.sim.host.__main__ import main
from tierv.sim.host.client import NoAnswerError, SerialClient
from tierv.sim.host.protocol import Command, CommandRefusedError, Control, Item, Reason

TIMEOUT_S = 20
PORT = 3
MOST_BAUD = 1_000_000
#: Room of the transmit queue, in bytes.
QUEUE_BYTES = 3000


class StandIn(threading.Thread):
    """A board of one serial port, whose line is looped back, as far as the host sees it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.control, self.data = (self._socket() for _ in range(2))
        self.settings = {Command.SET_BAUDRATE: 115_200, Command.SET_STOPSIZE: 1}
        self.settings[Command.SET_CONTROL] = Control.FLOW_NONE
        self.peer = ("127.0.0.1", 0)
        self.client: tuple[str, int] | None = None
        self.queue = bytearray()
        #: Bytes that the line takes in a turn; those that did not fit into the queue.
        self.pace, self.refused = 400, 0
        self.suspended = False
        #: Tells of a full queue before each answer.
        self.tells_suspend = False
        #: Datagrams for the line without a byte.
        self.empty = 0
        self.lose = 0
        self._ends = False

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
                if len(self.queue) + len(payload) > QUEUE_BYTES:
                    self.refused += len(payload)
                else:
                    self.queue += payload
            if self.control in ready:
                self._answer(*self.control.recvfrom(2000))
            if self.queue and not self.suspended and self.peer[1]:
                # A test may put more into the queue meanwhile.
                sent = bytes(self.queue[: self.pace])
                self.data.sendto(sent, self.peer)
                del self.queue[: len(sent)]

    def _payloads(self) -> Iterator[bytes]:
        with contextlib.suppress(BlockingIOError):
            while True:
                yield self.data.recv(2000, socket.MSG_DONTWAIT)

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
        self.control.sendto(protocol.encode(port, sequence, answers), sender)

    def _perform(self, item: Item) -> Item:
        code, value = item.code, item.value
        if code == Command.SET_BAUDRATE and item.number > MOST_BAUD:
            return Item(protocol.ERROR, bytes([code, Reason.IMPOSSIBLE]))
        if code in self.settings:
            self.settings[code] = item.number or self.settings[code]
            value = self.settings[code].to_bytes(4 if code == Command.SET_BAUDRATE else 1, "big")
        elif code == Command.PEER and value:
            self.peer = ("127.0.0.1", int.from_bytes(value[4:], "big"))
        elif code == Command.TRANSMIT_STATE:
            value = struct.pack(">3I", QUEUE_BYTES - len(self.queue), len(self.queue), 0)
        elif code in (Command.FLOWCONTROL_SUSPEND, Command.FLOWCONTROL_RESUME):
            self.suspended = code == Command.FLOWCONTROL_SUSPEND
        elif code == Command.COUNTERS:
            value = struct.pack(f">{len(protocol.COUNTERS)}I", *range(len(protocol.COUNTERS)))
        return Item(code + protocol.ANSWER, value)


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    board = StandIn()
    board.start()
    yield board
    board.end()


def client_of(board: StandIn, **arguments) -> SerialClient:
    return SerialClient(
        "127.0.0.1",
        PORT,
        control_port=board.control.getsockname()[1],
        data_port=board.data.getsockname()[1] - PORT,
        **arguments,
    )


@contextlib.contextmanager
def terminal(board: StandIn) -> Iterator[tuple[int, pty_bridge.PtyBridge, list[str]]]:
    """The program's end of a pseudo terminal, and what the bridge has said."""
    said: list[str] = []
    with client_of(board) as client:
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


@pytest.mark.usefixtures("pseudo_terminals")
def test_more_bytes_than_any_queue_holds_come_back_exactly(stand_in):
    sent = bytes(index * 7 & 0xFF for index in range(20_000))
    with terminal(stand_in) as (fd, _, _):
        writer = threading.Thread(target=lambda: os.write(fd, sent))
        writer.start()
        assert read_all(fd, len(sent)) == sent
        writer.join(TIMEOUT_S)
    assert stand_in.refused == 0


@pytest.mark.usefixtures("pseudo_terminals")
def test_speed_stop_bits_and_flow_control_of_the_terminal_go_to_the_board(stand_in):
    with terminal(stand_in) as (fd, _, said):
        assert pty_bridge.read_settings(fd).baud == 115_200
        pty_bridge.write_speed(fd, 31_250)
        wait_for(lambda: stand_in.settings[Command.SET_BAUDRATE] == 31_250)
        attributes = termios.tcgetattr(fd)
        attributes[2] |= termios.CSTOPB | termios.CRTSCTS
        termios.tcsetattr(fd, termios.TCSANOW, attributes)
        wait_for(lambda: stand_in.settings[Command.SET_STOPSIZE] == 2)
        wait_for(lambda: stand_in.settings[Command.SET_CONTROL] == Control.FLOW_HARDWARE)
        wait_for(lambda: "set-baudrate is 31250" in said)


@pytest.mark.usefixtures("pseudo_terminals")
@pytest.mark.parametrize("settings_s", [0, 1], ids=["before-the-bytes", "behind-them"])
def test_bytes_that_a_full_queue_and_new_settings_meet_are_not_lost(
    stand_in, monkeypatch, settings_s
):
    monkeypatch.setattr(pty_bridge, "_SETTINGS_S", settings_s)
    stand_in.tells_suspend = True
    with terminal(stand_in) as (fd, _, _):
        for baud in range(31_250, 31_260):
            pty_bridge.write_speed(fd, baud)
            os.write(fd, b"with a new speed")
            assert read_all(fd, 16) == b"with a new speed"
    assert stand_in.empty == 0


@pytest.mark.usefixtures("pseudo_terminals")
def test_an_impossible_speed_is_said_and_the_rest_goes_on(stand_in):
    with terminal(stand_in) as (fd, _, said):
        pty_bridge.write_speed(fd, 3_000_000)
        wait_for(lambda: said)
        assert said == ["the board refuses set-baudrate: impossible: 3000000"]
        os.write(fd, b"still here")
        assert read_all(fd, 10) == b"still here"


@pytest.mark.usefixtures("pseudo_terminals")
def test_a_program_that_does_not_read_stops_the_board(stand_in, monkeypatch):
    monkeypatch.setattr(pty_bridge, "_STOP_BYTES", 6_000)
    monkeypatch.setattr(pty_bridge, "_GO_ON_BYTES", 1_000)
    with terminal(stand_in) as (fd, _, _):
        parts = [bytes([index]) * 1_000 for index in range(30)]

        def flood() -> None:
            for part in parts:
                wait_for(lambda: len(stand_in.queue) < 1_000)
                stand_in.queue += part

        thread = threading.Thread(target=flood)
        thread.start()
        wait_for(lambda: stand_in.suspended)
        assert read_all(fd, 30_000) == b"".join(parts)
        thread.join(TIMEOUT_S)
        wait_for(lambda: not stand_in.suspended)


@pytest.mark.usefixtures("pseudo_terminals")
def test_breaks_and_errors_are_said(stand_in):
    with terminal(stand_in) as (_, _, said):
        stand_in.notify(Command.NOTIFY_LINESTATE, bytes([0x10, 0, 0, 1, 2]))
        wait_for(lambda: said)
        assert said == ["break after 258 bytes"]


def test_requests_are_repeated_until_answered(stand_in):
    stand_in.lose = 2
    with client_of(stand_in, try_s=0.05) as client:
        (answer,) = client.ask(Command.SET_BAUDRATE)
        assert answer.number == 115_200


def test_a_board_that_is_not_there_is_an_error():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        with SerialClient("127.0.0.1", 0, control_port=port, try_s=0.01) as client:
            with pytest.raises(
                NoAnswerError, match=f"no terminal server answers .* UDP port {port}"
            ):
                client.ask(Command.SIGNATURE)


def test_a_refusal_names_command_and_reason(stand_in):
    with client_of(stand_in) as client:
        with pytest.raises(CommandRefusedError, match="refuses set-baudrate: impossible"):
            client.set_numbers([(Command.SET_BAUDRATE, 2_000_000)])


def test_all_refusals_of_a_request_are_named(stand_in):
    with client_of(stand_in) as client:
        settings = [(Command.SET_BAUDRATE, 2_000_000), (Command.SET_BAUDRATE, 3_000_000)]
        with pytest.raises(CommandRefusedError, match=r"(set-baudrate: impossible(, |$)){2}"):
            client.set_numbers(settings)


def test_what_is_no_control_datagram_is_refused():
    for data in (b"", b"\1\0", b"\2\0\0", b"\1\0\0\5", b"\1\0\0\5\2x"):
        with pytest.raises(protocol.ProtocolError):
            protocol.decode(data)
    with pytest.raises(ValueError, match="SET_DATASIZE must be from 0 to 255, not 256"):
        protocol.number(Command.SET_DATASIZE, 256)


def test_commands_show_counters_and_refusals(stand_in, monkeypatch):
    monkeypatch.setattr(serial_commands, "SerialClient", lambda *_: client_of(stand_in))
    shown = CliRunner().invoke(main, ["serial-counters", "--port", str(PORT)])
    assert shown.exit_code == 0, shown.output
    assert "received bytes" in shown.output
    refused = CliRunner().invoke(main, ["serial-config", "--baud", "2000000"])
    assert refused.exit_code == 1
    assert "refuses set-baudrate: impossible" in refused.output
    words = ["--baud", "2000000", "--stop-bits", "2", "--flow", "rts-cts"]
    partly = CliRunner().invoke(main, ["serial-config", *words])
    assert partly.exit_code == 1
    assert "set-baudrate: impossible; done: set-stopsize, set-control\n" in partly.output
    wrong = CliRunner().invoke(main, ["serial-config", "--pack-time", "2000000"])
    assert "2000000 is not in the range" in wrong.output
