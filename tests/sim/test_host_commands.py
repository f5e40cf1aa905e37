"""The host's side of commands over UDP, against a board that loses and mixes up datagrams."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from tierv.sim.host.__main__ import main
from tierv.sim.host.board_socket import BoardSocket
from tierv.sim.host.client import SerialClient
from tierv.sim.host.commands import COMMAND_BYTES, COMMAND_PORT, Answer, CommandClient
from tierv.sim.host.errors import HostError, NoAnswerError
from tierv.sim.host.lin import LinClient, Record, Request
from tierv.sim.host.protocol import Command

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"
#: A request's number and command, and which one it is; the answer's datagrams.
Replies = Callable[[bytes, bytes, int], list[bytes]]


@contextmanager
def board(replies: Replies) -> Iterator[int]:
    """A board on the UDP port given."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))

    def serve() -> None:
        count = 0
        while True:
            request, sender = server.recvfrom(2048)
            if request == b"end":
                return
            number, _, command = request.partition(b" ")
            for datagram in replies(number, command, count):
                server.sendto(datagram, sender)
            count += 1

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"end", server.getsockname())
        thread.join()
        server.close()


def run(replies: Replies, command: str = "irqtune") -> Answer:
    with board(replies) as port, CommandClient("127.0.0.1", port, try_s=0.05) as client:
        return client.run(command)


def test_numbers_are_those_of_the_firmware():
    remote = (FIRMWARE / "apps" / "remote.h").read_text()
    command = (FIRMWARE / "apps" / "command.h").read_text()
    assert int(re.search(r"REMOTE_PORT = (\d+)", remote)[1]) == COMMAND_PORT
    assert int(re.search(r"COMMAND_INPUT_BYTES = (\d+)", command)[1]) == COMMAND_BYTES + 1
    assert int(re.search(r"REMOTE_NUMBER_DIGITS = (\d+)", remote)[1]) == 9


def test_an_answer_is_put_together_of_its_parts_in_any_order():
    def replies(number: bytes, command: bytes, _: int) -> list[bytes]:
        parts = [b"%s 0 more  \n%s\n" % (number, command), b"%s 1 more\nb\n" % number]
        return [b"%s 2 ok   \nc\n" % number, *reversed(parts)]

    assert run(replies, "say it") == Answer("say it\nb\nc\n", failed=False)


def test_a_failure_is_told():
    assert run(lambda number, *_: [number + b" 0 error\nerror: no\n"]) == Answer(
        "error: no\n", True
    )


def test_what_is_lost_is_asked_for_again():
    def replies(number: bytes, _: bytes, count: int) -> list[bytes]:
        first, last = b"%s 0 more\na\n" % number, b"%s 1 ok\nb\n" % number
        return [[], [first], [last], [first, last]][count]

    assert run(replies) == Answer("a\nb\n", failed=False)


@pytest.mark.parametrize("late", [1, 3])
def test_an_answer_that_comes_behind_the_next_try_is_taken(late):
    numbers: list[bytes] = []

    def replies(number: bytes, _: bytes, count: int) -> list[bytes]:
        numbers.append(number)
        if count < late:
            return []
        first = numbers[count - late]
        return [first + b" 0 more\na\n", first + b" 1 ok\nb\n"]

    assert run(replies) == Answer("a\nb\n", failed=False)
    assert len(numbers) == late + 1


def test_a_board_that_takes_its_time_is_waited_for():
    def replies(number: bytes, _: bytes, count: int) -> list[bytes]:
        if count == 0:
            time.sleep(0.55)
        return [number + b" 0 ok\nslow\n"] if count == 0 else []

    assert run(replies).text == "slow\n"


def test_answers_to_others_and_nonsense_are_left_aside():
    def replies(number: bytes, *_) -> list[bytes]:
        other = str((int(number) + 1) % 10**9).encode()
        return [b"", b"nonsense", other + b" 0 ok\nno\n", b"- 0 error\n", number + b" 0 ok\nyes\n"]

    assert run(replies).text == "yes\n"


def test_a_board_that_is_not_there_is_an_error():
    with pytest.raises(HostError, match=r"no board answers at 127\.0\.0\.1, UDP port"):
        run(lambda *_: [])


@pytest.mark.parametrize("command", ["a\nb", "grün", "x" * (COMMAND_BYTES + 1)])
def test_a_command_that_can_not_be_read_is_not_sent(command):
    with pytest.raises(ValueError, match="command must"):
        run(lambda number, *_: [number + b" 0 ok\n"], command)


def test_the_command_line_passes_words_on_and_fails_with_the_board():
    def replies(number: bytes, command: bytes, _: int) -> list[bytes]:
        status = b"error" if b"9" in command else b"ok"
        return [b"%s 0 %s\n%s\n" % (number, status, command)]

    with board(replies) as port:
        where = ["--ip", "127.0.0.1", "--udp-port", str(port)]
        good = CliRunner().invoke(main, ["irqtune", *where, "-n", "3", "12"])
        assert (good.exit_code, good.output) == (0, "irqtune -n 3 12\n")
        good = CliRunner().invoke(main, ["ask", *where, "help"])
        assert (good.exit_code, good.output) == (0, "help\n")
        bad = CliRunner().invoke(main, ["irqtune", *where, "9"])
        assert (bad.exit_code, bad.output) == (1, "Error: irqtune 9\n")


@pytest.mark.parametrize("command", [["ask", "help"], ["irqtune"], ["latency"]])
def test_a_udp_port_that_cannot_be_is_refused(command):
    done = CliRunner().invoke(main, [command[0], "--udp-port", "65536", *command[1:]])
    assert done.exit_code == 2
    assert "65536 is not in the range" in done.output


@pytest.mark.parametrize(
    ("client", "udp_port"),
    [(CommandClient, 7100), (LinClient, 7200), (partial(SerialClient, port=0), 7000)],
)
def test_an_address_to_which_no_way_leads_is_named(client, udp_port):
    # Nobody may broadcast unasked, nor without a route.
    why = "(Permission denied|Network is unreachable)"
    message = rf"^no way to 255\.255\.255\.255, UDP port {udp_port}: {why}$"
    with pytest.raises(NoAnswerError, match=message):
        client("255.255.255.255")


@pytest.mark.parametrize("command", [["ask", "help"], ["serial", "--port", "0"]])
def test_no_address_is_not_this_host_s(command):
    done = CliRunner().invoke(main, [command[0], "--ip", "", *command[1:]])
    assert done.exit_code == 1
    assert "no way to '', UDP port" in done.output


def _run_command(port: int) -> None:
    with CommandClient("127.0.0.1", port, try_s=0.01) as client:
        client.run("help")


def _ask_lin(port: int) -> None:
    with LinClient("127.0.0.1", port) as client:
        client.ask(Record(Request.READ, 0))


def _ask_serial(port: int) -> None:
    with SerialClient("127.0.0.1", 0, control_port=port, try_s=0.01) as client:
        client.ask(Command.SIGNATURE)


@pytest.mark.parametrize("ask", [_run_command, _ask_lin, _ask_serial])
def test_a_host_that_refuses_the_port_is_told_from_one_that_is_silent(ask, monkeypatch):
    monkeypatch.setattr("tierv.sim.host.lin._TRY_S", 0.01)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        where = rf"answers at 127\.0\.0\.1, UDP port {port}"
        with pytest.raises(NoAnswerError, match=f"{where}$"):
            ask(port)
    with pytest.raises(NoAnswerError, match=f"{where}: the host there refuses the port$"):
        ask(port)


def test_a_refusal_of_an_earlier_datagram_costs_nothing():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as board:
        board.bind(("127.0.0.1", 0))
        port = board.getsockname()[1]
    end = BoardSocket("127.0.0.1", port)
    end.send(b"refused")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as board:
        board.bind(("127.0.0.1", port))
        board.settimeout(20)
        end.send(b"taken")
        datagram, sender = board.recvfrom(100)
        board.sendto(b"answer", sender)
        assert (datagram, end.receive()) == (b"taken", b"answer")
    end.send(b"refused again")
    assert end.receive() is None
    end.close()
