"""The simulated board as its user sees it: a console, and a network that the host can reach."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import termios
import time

import pytest
from board import END, TIMEOUT_S, board

from tierv.sim.bios import build_bios
from tierv.sim.interactive import Network, NetworkError, open_network, run_interactively
from tierv.sim.model import ModelParams, build_model, simulation_params

ABORT_HINT = b"ESC to abort boot"
NO_BOOT = b"\x1b"
PROMPT = b"litex\x1b[0m> "
BOARD_MAC = "10:e2:d5:00:00:01"
TFTP_PORT = 69


def test_frames_go_through_the_socket(firmware, tmp_path):
    path, own = tmp_path / "board.sock", tmp_path / "own.sock"
    program = firmware("echo").path
    with (
        board(
            "--cpu", "vexriscv", "--network", "socket", "--socket", path, "--firmware", program
        ) as running,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end,
    ):
        end.bind(str(own))
        end.settimeout(TIMEOUT_S)
        deadline = time.monotonic() + TIMEOUT_S
        while not path.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        # The last is longer than any of Ethernet, and not cut: refusing it is the board's affair.
        for length in (60, 1514, 1524):
            frame = bytes(range(12)) + bytes(length - 12)
            end.sendto(frame, str(path))
            assert end.recv(4000) == frame[6:12] + frame[:6] + frame[12:]
        assert running.end() == 0
    assert not path.exists()


def test_a_terminal_that_takes_nothing_for_a_while_misses_no_character(firmware):
    words = ["--cpu", "vexriscv", "--network", "none", "--firmware", firmware("uart_loop").path]
    own, terminal = socket.socketpair()
    # A few characters fill it.
    terminal.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    with (
        own,
        terminal,
        subprocess.Popen(
            [sys.executable, "-m", "tierv.sim", "interactive", *words],
            stdin=terminal,
            stdout=terminal,
        ) as process,
    ):
        own.settimeout(TIMEOUT_S)
        try:
            own.sendall(b"a")
            shown = own.recv(1)
            own.sendall(b"a" * 200)
            # The board has sent them all by then, if it does not wait.
            time.sleep(2)
            while len(shown) < 201:
                shown += own.recv(4000)
            own.sendall(END)
            assert process.wait(TIMEOUT_S) == 0
        finally:
            process.kill()
    assert shown == b"b" * 201


@pytest.mark.usefixtures("pseudo_terminals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_it_leaves_terminal_and_socket_as_they_were(firmware, tmp_path, number):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run where it is ignored")
    path = tmp_path / "board.sock"
    words = ["--cpu", "vexriscv", "--network", "socket", "--socket", path]
    words += ["--firmware", firmware("uart_loop").path]
    own, terminal = os.openpty()
    before = termios.tcgetattr(terminal)
    with subprocess.Popen(
        [sys.executable, "-m", "tierv.sim", "interactive", *map(str, words)],
        stdin=terminal,
        stdout=terminal,
    ) as process:
        try:
            deadline = time.monotonic() + TIMEOUT_S
            while termios.tcgetattr(terminal) == before:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            os.write(own, b"a")
            assert select.select([own], [], [], TIMEOUT_S)[0]
            assert os.read(own, 1) == b"b"
            process.send_signal(number)
            assert process.wait(TIMEOUT_S) == 128 + number
        finally:
            process.kill()
    assert termios.tcgetattr(terminal) == before
    assert os.get_blocking(terminal)
    assert not path.exists()
    for end in (own, terminal):
        os.close(end)


def test_a_console_without_standard_input_is_refused(model, firmware, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="the console must have a standard input"):
        run_interactively(model, firmware("report"), network=Network.NONE)


def test_a_file_in_the_socket_s_place_stays(tmp_path):
    path = tmp_path / "precious"
    path.write_text("kept")
    with (
        pytest.raises(NetworkError, match="is there already, and is no socket"),
        open_network(Network.SOCKET, "", path, ""),
    ):
        pass
    assert path.read_text() == "kept"


def test_a_path_that_is_too_long_for_a_socket_is_named(tmp_path):
    path = tmp_path / ("x" * (107 - len(str(tmp_path))))
    message = rf"{path} must have 107 bytes at the most, not 108"
    with (
        pytest.raises(NetworkError, match=message),
        open_network(Network.SOCKET, "", path, ""),
    ):
        pass
    with open_network(Network.SOCKET, "", path.with_name(path.name[1:]), ""):
        pass


def test_two_simulations_do_not_share_a_socket(tmp_path):
    path = tmp_path / "board.sock"
    with open_network(Network.SOCKET, "", path, ""):
        for _ in range(2):
            with (
                pytest.raises(NetworkError, match=rf"{path} is in use"),
                open_network(Network.SOCKET, "", path, ""),
            ):
                pass
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
            end.connect(str(path))
    assert not path.exists()


def test_a_socket_that_nobody_listens_to_is_replaced_and_another_s_stays(tmp_path):
    path = tmp_path / "board.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(str(path))
    with (
        open_network(Network.SOCKET, "", path, ""),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other,
    ):
        path.unlink()
        other.bind(str(path))
    assert path.is_socket()


def test_the_firmware_s_exit_ends_the_simulation_with_its_code(firmware):
    with board(
        "--cpu", "vexriscv", "--network", "none", "--firmware", firmware("report").path
    ) as running:
        assert running.process.wait(TIMEOUT_S) == 7
        assert b"hello" in running.process.stderr.read()
        assert b"ended by exit, exit code 7\n" in running.process.stdout.read()


def test_the_host_hears_the_board_through_a_tap_device(namespace):
    """The BIOS asks a TFTP server for its program: ARP both ways, then a UDP datagram."""
    # Built before the board is waited for.
    build_model(ModelParams(soc=simulation_params()))
    build_bios(simulation_params())
    server = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
        f"s.bind(('', {TFTP_PORT})); s.settimeout({TIMEOUT_S}); print(s.recv(2000))"
    )
    with (
        board("--bios", "--network", "tap", prefix=namespace) as running,
        subprocess.Popen(
            [*namespace, sys.executable, "-c", server], stdout=subprocess.PIPE, text=True
        ) as listener,
    ):
        running.wait_for(ABORT_HINT)
        running.type(NO_BOOT)
        running.wait_for(PROMPT)
        running.type(b"netboot\n")
        request, _ = listener.communicate(timeout=TIMEOUT_S)
        neighbours = subprocess.run(
            [*namespace, "ip", "neigh"], capture_output=True, text=True, check=True
        ).stdout
        assert running.end() == 0
    assert "boot.json" in request
    assert f"192.168.1.50 dev tierv0 lladdr {BOARD_MAC}" in neighbours
