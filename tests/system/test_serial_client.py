"""The host's client and a whole simulated board: a pseudo terminal in, a serial line out."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace

import pytest
from board import TIMEOUT_S, board
from board_gateway import Gateway

from tierv.sim.host import protocol, pty_bridge
from tierv.sim.host.client import SerialClient
from tierv.sim.host.protocol import Command

PROMPT = b"tierv> "
PORT = 2
#: A board that is simulated answers later than a real one.
TRY_S = 5.0


def wait_for(condition) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.usefixtures("pseudo_terminals")
def test_what_a_program_writes_and_sets_on_the_terminal_reaches_the_serial_port(tmp_path):
    path = tmp_path / "board.sock"
    said: list[str] = []
    with board("--network", "socket", "--socket", path) as running:
        running.wait_for(PROMPT)
        data_port = protocol.DATA_PORT + PORT
        gateway = Gateway(path, tmp_path / "own.sock", [protocol.CONTROL_PORT, data_port])
        gateway.start()
        ports = {
            "control_port": gateway.local[protocol.CONTROL_PORT],
            "data_port": gateway.local[data_port] - PORT,
        }
        with (
            SerialClient("127.0.0.1", PORT, try_s=TRY_S, **ports) as client,
            SerialClient("127.0.0.1", PORT, try_s=TRY_S, **ports) as observer,
        ):
            bridge = pty_bridge.PtyBridge(client, said.append)
            bridge.begin()
            thread = threading.Thread(target=bridge.run)
            thread.start()
            terminal = os.open(bridge.path, os.O_RDWR | os.O_NOCTTY)
            shown = pty_bridge.read_settings(terminal)
            pty_bridge.write_settings(terminal, replace(shown, baud=460_800))
            wait_for(lambda: said)
            os.write(terminal, b"through the terminal, the network and the board" * 50)
            wait_for(lambda: observer.counters()["TRANSMIT_BYTES"] == 47 * 50)
            (baud,) = observer.ask(Command.SET_BAUDRATE)
            bridge.stop()
            thread.join(TIMEOUT_S)
            os.close(terminal)
            bridge.close()
        running.type(b"serial\n")
        running.wait_for(b"received 0  sent")
        gateway.end()
        assert running.end() == 0
    assert abs(baud.number - 460_800) <= 5
    assert said == [f"set-baudrate is {baud.number}"]
