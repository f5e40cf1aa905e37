"""The host's side of LIN nodes: which datagram answers a request, and for how long it waits."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tierv.sim.host import lin
from tierv.sim.host.errors import HostError
from tierv.sim.host.lin import Failure, LinClient, LinError, Record, Request, decode, encode

ANSWER, FAILED, REPORT = 0x80, 0xC0, 0x40
TIMEOUT_S = 20
STATUS = Record(REPORT, 0, 0x21, b"\x01", 1234)


class StandIn(threading.Thread):
    """A board that answers each datagram with those that ``answer`` makes of its records."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.answer: Callable[[list[Record]], list[list[Record]]] = lambda asked: [answers(asked)]
        self.asked: list[list[Record]] = []
        self.peer = ("", 0)

    def run(self) -> None:
        while True:
            datagram, self.peer = self.socket.recvfrom(2048)
            if not datagram:
                return
            self.asked.append(decode(datagram))
            for each in self.answer(self.asked[-1]):
                self.tell(each)

    def tell(self, records: list[Record]) -> None:
        self.socket.sendto(encode(records), self.peer)

    def end(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", self.socket.getsockname())
        self.join(TIMEOUT_S)
        self.socket.close()


def answers(asked: list[Record], number: int = 0) -> list[Record]:
    """The board's answers: all but that to the mark at the end bring a number of their own."""
    *requests, mark = (replace(each, what=each.what | ANSWER) for each in asked)
    return [*(replace(each, number=number) for each in requests), mark]


@pytest.fixture
def board() -> Iterator[StandIn]:
    stand_in = StandIn()
    stand_in.start()
    yield stand_in
    stand_in.end()


@pytest.fixture
def client(board) -> Iterator[LinClient]:
    with LinClient("127.0.0.1", board.socket.getsockname()[1]) as one:
        yield one


READ = Record(Request.READ, 0, 0x10)


@pytest.mark.parametrize(
    ("name", "most"), [("what", 255), ("port", 255), ("identifier", 255), ("number", (1 << 32) - 1)]
)
def test_a_value_without_room_in_a_record_is_named(name, most):
    assert decode(encode([replace(READ, **{name: most})])) == [replace(READ, **{name: most})]
    for wrong in (-1, most + 1):
        with pytest.raises(ValueError, match=f"^{name} must be from 0 to {most}, not {wrong}$"):
            encode([replace(READ, **{name: wrong})])


@pytest.mark.parametrize("earlier", [READ, Record(Request.WAKE, 0), Record(Request.READ, 0, 0x11)])
def test_a_late_answer_to_an_earlier_request_is_not_taken(board, client, earlier):
    client.ask(earlier)
    (before,) = board.asked
    board.answer = lambda asked: [answers(before, number=1), answers(asked, number=2)]
    assert [answer.number for answer in client.ask(READ)] == [2]
    assert [answer.number for answer in client.ask(READ, READ)] == [2, 2]


def test_a_request_that_is_repeated_takes_whichever_answer_comes_first(board, client, monkeypatch):
    monkeypatch.setattr(lin, "_TRY_S", 0.05)
    first: list[Record] = []

    def answer(asked: list[Record]) -> list[list[Record]]:
        if not first:
            first.extend(asked)
            return []
        return [answers(first, number=1)]

    board.answer = answer
    assert client.ask(READ)[0].number == 1


def test_an_answer_that_was_there_before_the_request_is_not_taken(board, client):
    client.ask(READ)
    board.tell(answers(board.asked[0], number=1))
    board.tell([STATUS])
    board.answer = lambda asked: [answers(asked, number=2)]
    assert client.ask(READ)[0].number == 2
    assert client.reports == [STATUS]


def test_more_requests_than_a_datagram_has_room_for_are_refused(board, client):
    assert len(client.ask(*[READ] * 63)) == 63
    with pytest.raises(ValueError, match="requests must be fewer than 64, not 64"):
        client.ask(*[READ] * 64)
    assert len(board.asked) == 1


def test_refusals_are_answers(board, client):
    failed = replace(READ, what=READ.what | FAILED, number=Failure.NO_SUCH_FRAME)
    board.answer = lambda asked: [[failed, *answers(asked[1:])]]
    with pytest.raises(LinError, match="failed: NO_SUCH_FRAME"):
        client.ask(READ)
    board.answer = lambda _: [[Record(FAILED, 0, number=Failure.MALFORMED)]]
    with pytest.raises(LinError, match="failed: MALFORMED"):
        client.ask(READ, READ)


def test_reports_do_not_put_off_that_a_board_is_asked_again(board, client, monkeypatch):
    monkeypatch.setattr(lin, "_TRY_S", 0.1)
    board.answer = lambda _: []
    wake = Record(Request.WAKE, 0)
    ends = threading.Event()

    def report() -> None:
        while not ends.wait(0.02):
            if board.asked:
                board.tell([STATUS])

    reporter = threading.Thread(target=report)
    reporter.start()
    stop = threading.Timer(5, ends.set)
    stop.start()
    start = time.monotonic()
    with pytest.raises(HostError, match="no board answers"):
        client.ask(wake)
    assert time.monotonic() - start < 5
    stop.cancel()
    ends.set()
    reporter.join(TIMEOUT_S)
    assert len(board.asked) == 6
    assert STATUS in client.reports


@pytest.mark.parametrize("request_", [Record(Request.WATCH, 3), Record(Request.WATCH, 0xFF)])
def test_who_has_watched_gives_the_place_back_at_the_end(board, request_):
    with LinClient("127.0.0.1", board.socket.getsockname()[1]) as one:
        one.ask(READ)
        one.ask(request_)
    with LinClient("127.0.0.1", board.socket.getsockname()[1]) as other:
        other.ask(READ)
    with LinClient("127.0.0.1", board.socket.getsockname()[1]) as last:
        last.ask(READ)
    requests = [
        [record.what for record in asked if record.port != lin.NO_PORT] for asked in board.asked
    ]
    assert requests == [
        [Request.READ],
        [Request.WATCH],
        [Request.UNWATCH],
        [Request.READ],
        [Request.READ],
    ]
    assert board.asked[2] == [Record(Request.UNWATCH, lin.ALL_PORTS)]


@pytest.mark.parametrize(
    ("what", "is_done"), [(Request.HEADER, True), (Request.SLEEP, True), (Request.SET, False)]
)
def test_what_waits_is_done_if_only_its_answer_was_lost(board, client, monkeypatch, what, is_done):
    monkeypatch.setattr(lin, "_TRY_S", 0.05)
    request = Record(what, 0, 0x10)
    full = replace(request, what=what | FAILED, number=Failure.FULL)
    board.answer = lambda asked: [[full, *answers(asked[1:])]]
    with pytest.raises(LinError, match="failed: FULL"):
        client.ask(request)
    before = len(board.asked)
    board.answer = lambda asked: (
        [[full, *answers(asked[1:])]] if len(board.asked) > before + 1 else []
    )
    if is_done:
        client.ask(request)
    else:
        with pytest.raises(LinError, match="failed: FULL"):
            client.ask(request)
