"""The host's side of the terminal server, with a stand-in for the board."""

from __future__ import annotations

import errno
import os
import signal
import socket
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from serial_stand_in import PORT, client_of, wait_for

from tierv.sim.host import protocol, pty_bridge, serial_commands
from tierv.sim.host.__main__ import main
from tierv.sim.host.client import SerialClient
from tierv.sim.host.errors import NoAnswerError
from tierv.sim.host.protocol import Command, CommandRefusedError, Control, Item


def test_requests_are_repeated_until_answered(stand_in):
    stand_in.lose = 2
    with client_of(stand_in, try_s=0.05) as client:
        (answer,) = client.ask(Command.SET_BAUDRATE)
        assert answer.number == 115_200


def test_an_answer_that_comes_late_is_not_taken_for_that_of_the_next_request(stand_in):
    stand_in.repeats = True
    with client_of(stand_in) as client:
        for baud in (9_600, 19_200, 57_600):
            assert client.set_numbers([(Command.SET_BAUDRATE, baud)]) == [baud]


def test_what_is_said_of_another_port_is_not_taken(stand_in):
    told: list[Item] = []
    with client_of(stand_in) as client:
        client.notified = told.append
        client.ask(Command.SET_BAUDRATE)
        for sequence in (0, 2):
            item = Item(Command.SET_BAUDRATE + protocol.ANSWER, bytes(4))
            datagram = protocol.encode(PORT + 1, sequence, [item])
            stand_in.control.sendto(datagram, stand_in.client)
        (answer,) = client.ask(Command.SET_BAUDRATE)
    assert answer.number == 115_200
    assert not told


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
        with pytest.raises(CommandRefusedError, match="refuses set-baudrate 2000000: impossible"):
            client.set_numbers([(Command.SET_BAUDRATE, 2_000_000)])


def test_all_refusals_of_a_request_are_named(stand_in):
    with client_of(stand_in) as client:
        settings = [(Command.SET_BAUDRATE, 2_000_000), (Command.SET_BAUDRATE, 3_000_000)]
        with pytest.raises(
            CommandRefusedError,
            match="baudrate 2000000: impossible, set-baudrate 3000000: impossible$",
        ):
            client.set_numbers(settings)


def test_what_is_no_control_datagram_is_refused():
    for data in (b"", b"\1\0", b"\2\0\0", b"\1\0\0\5", b"\1\0\0\5\2x"):
        with pytest.raises(protocol.ProtocolError):
            protocol.decode(data)
    with pytest.raises(ValueError, match="SET_DATASIZE must be from 0 to 255, not 256"):
        protocol.number(Command.SET_DATASIZE, 256)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 1), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_break_ends_when_its_command_is_interrupted(stand_in, monkeypatch, number, status):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run where it is ignored")

    def interrupt(_) -> None:
        assert stand_in.settings[Command.SET_CONTROL] == Control.BREAK_ON
        signal.raise_signal(number)

    monkeypatch.setattr(serial_commands, "SerialClient", lambda *_: client_of(stand_in))
    monkeypatch.setattr(serial_commands.time, "sleep", interrupt)
    result = CliRunner().invoke(main, ["serial-config", "--break-ms", "1000"])
    assert result.exit_code == status
    assert stand_in.settings[Command.SET_CONTROL] == Control.BREAK_OFF


@pytest.mark.usefixtures("pseudo_terminals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_bridge_which_takes_its_link_away(stand_in, monkeypatch, tmp_path, number):
    handlers, usual = {}, {signal.SIGHUP: signal.SIG_DFL}
    monkeypatch.setattr(serial_commands.signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(serial_commands.signal, "getsignal", usual.get)
    monkeypatch.setattr(serial_commands, "SerialClient", lambda *_: client_of(stand_in))
    link = tmp_path / "port"

    def send() -> None:
        wait_for(link.is_symlink)
        handlers.get(number, handlers[signal.SIGTERM])(number, None)

    for expected in ({signal.SIGHUP}, set()):
        handlers.clear()
        sender = threading.Thread(target=send)
        sender.start()
        done = CliRunner().invoke(main, ["serial", "--port", str(PORT), "--link", str(link)])
        sender.join()
        assert done.exit_code == 0, done.output
        assert not link.is_symlink()
        assert set(handlers) == {signal.SIGINT, signal.SIGTERM} | expected
        # Then as under nohup.
        usual[signal.SIGHUP] = signal.SIG_IGN


def _refused_link(*words: str) -> str:
    done = CliRunner().invoke(main, ["serial", "--port", str(PORT), *words])
    assert done.exit_code == 1
    return done.output


@pytest.mark.usefixtures("pseudo_terminals")
def test_a_link_that_can_t_be_made_is_named_and_leaves_the_port_to_who_has_it(
    stand_in, monkeypatch, tmp_path
):
    monkeypatch.setattr(serial_commands, "SerialClient", lambda *_: client_of(stand_in))
    stand_in.peer = ("127.0.0.1", 9)
    link = tmp_path / "of another"
    link.symlink_to("/dev/pts/of-another")
    assert f"File exists: '{link}'" in _refused_link("--link", str(link))
    assert f"Not a directory: '{link}'" in _refused_link("--link", str(link / "port"))
    assert stand_in.peer == ("127.0.0.1", 9)
    assert link.readlink() == Path("/dev/pts/of-another")


@pytest.mark.usefixtures("pseudo_terminals")
def test_a_bridge_that_can_t_tell_its_terminal_leaves_the_port_to_others(stand_in, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        assert stand_in.peer[1]
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(serial_commands, "SerialClient", lambda *_: client_of(stand_in))
    monkeypatch.setattr(serial_commands.click, "echo", fail)
    done = CliRunner().invoke(main, ["serial", "--port", str(PORT)])
    assert done.exit_code == 1
    assert stand_in.peer == ("0.0.0.0", 0)
    assert stand_in.settings[Command.SET_LINESTATE_MASK] == 0


def test_a_link_that_is_another_s_by_now_stays(tmp_path):
    link, other = tmp_path / "port", Path("/dev/pts/of-another")
    with pty_bridge.linked(Path("/dev/pts/own"), link):
        link.unlink()
        link.symlink_to(other)
    assert link.readlink() == other


def test_a_port_that_the_board_has_not_is_named(stand_in):
    stand_in.away = 1
    text = f"the board refuses serial port {PORT}: there is none, or it is a LIN node$"
    with client_of(stand_in) as client, pytest.raises(CommandRefusedError, match=text):
        client.counters()


def test_commands_show_counters_and_refusals(stand_in, monkeypatch):
    monkeypatch.setattr(serial_commands, "SerialClient", lambda *_: client_of(stand_in))
    shown = CliRunner().invoke(main, ["serial-counters", "--port", str(PORT)])
    assert shown.exit_code == 0, shown.output
    assert "received bytes" in shown.output
    refused = CliRunner().invoke(main, ["serial-config", "--baud", "2000000"])
    assert refused.exit_code == 1
    assert "refuses set-baudrate 2000000: impossible" in refused.output
    words = ["--baud", "2000000", "--stop-bits", "2", "--flow", "rts-cts"]
    partly = CliRunner().invoke(main, ["serial-config", *words])
    assert partly.exit_code == 1
    assert "set-baudrate 2000000: impossible; done: set-stopsize, set-control\n" in partly.output
    wrong = CliRunner().invoke(main, ["serial-config", "--pack-time", "2000000"])
    assert "2000000 is not in the range" in wrong.output
