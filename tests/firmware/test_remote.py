"""Commands over UDP: numbered requests, answers in parts, and what comes while packets lack."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from host_build import ROOT, hex_bytes
from services_host import Services
from test_commands import LINE_BYTES, MOST_BYTES

PORT = 7100
PEER = (0x0A00_0002, 4711)
PAYLOAD_BYTES = 1472
HEADER = (ROOT / "firmware" / "apps" / "remote.h").read_text()


class Remote(Services):
    """The command port, with packets for as many parts as there may be."""

    def __init__(self) -> None:
        super().__init__()
        self.do("supply", 4)

    def send(self, request: bytes, peer: tuple[int, int] = PEER) -> None:
        self.do("datagram", PORT, *peer, request.hex() or "-")

    def serve(self) -> bool:
        """One service; whether it has done something."""
        return bool(self.number("remote"))

    def parts(self) -> list[tuple[tuple[int, int], bytes]]:
        """To whom the last service sent what."""
        return [((int(a), int(p)), hex_bytes(payload)) for a, p, payload in self.told("answer")]

    def answer(self, request: bytes) -> list[bytes]:
        """All parts of the answer to a request; packets are there again between services."""
        self.send(request)
        parts = []
        while self.serve():
            assert all(peer == PEER for peer, _ in self.parts())
            parts += [payload for _, payload in self.parts()]
            self.do("supply", 4)
        return parts


@pytest.fixture
def remote() -> Iterator[Remote]:
    remote = Remote()
    yield remote
    # Every packet has been given back.
    assert remote.number("packets") == 0
    remote.close()


def first_line(number: str, part: int, status: str) -> bytes:
    """Blanks fill it up to as long as it may be: nine digits, four, and five letters."""
    return f"{number} {part} {status}".ljust(20).encode() + b"\n"


def test_the_port_and_the_digits_are_those_of_the_header():
    assert re.search(rf"REMOTE_PORT = {PORT}, REMOTE_NUMBER_DIGITS = 9\b", HEADER)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\r\n\n"])
@pytest.mark.parametrize("number", [b"0", b"7", b"123456789"])
def test_a_request_is_answered_with_its_number(remote, number, end):
    (answer,) = remote.answer(number + b" say 2 4" + end)
    assert answer == first_line(number.decode(), 0, "ok") + b"000\n001\n"


def test_an_error_is_told_in_the_status(remote):
    (answer,) = remote.answer(b"12 no")
    assert answer == first_line("12", 0, "error") + b"error: no command 'no'; try help\n"
    (answer,) = remote.answer(b"13 say 3 4 x")
    assert answer == first_line("13", 0, "error") + b"000\n001\nerror: no more\n"
    (answer,) = remote.answer(b"14 say 1 2")
    assert answer == first_line("14", 0, "ok") + b"0\n"


def test_an_empty_command_does_nothing(remote):
    assert remote.answer(b"5 ") == [first_line("5", 0, "ok")]


@pytest.mark.parametrize(
    "request_",
    [b"", b"\n", b"say 1 2", b" say 1 2", b"7", b"7\n", b"7x say 1 2", b"1234567890 say 1 2",
     b"/ say 1 2", b": say 1 2", b"-1 say 1 2"],
)  # fmt: skip
def test_a_request_without_a_number_is_refused(remote, request_):
    assert remote.answer(b"9 no") == [
        first_line("9", 0, "error") + b"error: no command 'no'; try help\n"
    ]
    (answer,) = remote.answer(request_)
    assert answer == (
        first_line("-", 0, "error") + b"error: a request is a number, a blank and a command\n"
    )
    assert remote.number("errors") == 2
    assert remote.answer(b"10 say 1 2") == [first_line("10", 0, "ok") + b"0\n"]


@pytest.mark.parametrize("bytes_", [MOST_BYTES, MOST_BYTES + 1, PAYLOAD_BYTES - 2])
def test_a_command_may_be_as_long_as_any(remote, bytes_):
    (answer,) = remote.answer(b"1 " + b"say 1 2".ljust(bytes_))
    refusal = f"error: a command has at most {MOST_BYTES} bytes, not {bytes_}\n".encode()
    long = bytes_ > MOST_BYTES
    assert answer == first_line("1", 0, "error" if long else "ok") + (refusal if long else b"0\n")


@pytest.mark.parametrize("length", [2, LINE_BYTES // 2, LINE_BYTES - 2, LINE_BYTES - 1])
def test_a_long_answer_comes_in_parts_of_whole_lines(remote, length):
    count = 5 * PAYLOAD_BYTES // length
    parts = remote.answer(f"77 say {count} {length}".encode())
    assert len(parts) > 4
    text = b""
    for index, part in enumerate(parts):
        last = index + 1 == len(parts)
        assert part[:21] == first_line("77", index, "ok" if last else "more")
        # Another line as long as any might not have had room.
        assert len(part) <= PAYLOAD_BYTES
        assert last or len(part) + LINE_BYTES > PAYLOAD_BYTES
        text += part[21:]
    assert text == b"".join(f"{number % 10:0{length - 1}}\n".encode() for number in range(count))


def test_a_part_is_full_when_another_line_might_not_fit_and_not_before(remote):
    full = PAYLOAD_BYTES - LINE_BYTES - 21
    # Lines of which some end with room for just another.
    exact = next(length for length in range(4, LINE_BYTES) if full % length == 0)
    for length in (exact - 1, exact, exact + 1):
        (first, *_) = remote.answer(f"1 say 400 {length}".encode())
        assert len(first) == 21 + (full // length + 1) * length


def test_an_answer_goes_on_when_there_is_a_packet_again(remote):
    remote.send(b"3 say 50 95")
    remote.send(b"4 say 1 2")
    # The request's own packet and four more; there are 50 * 95 bytes in four.
    assert remote.serve()
    first = remote.parts()
    assert [payload[:6] for _, payload in first] == [
        b"3 0 mo", b"3 1 mo", b"3 2 mo", b"3 3 ok", b"4 0 ok"
    ]  # fmt: skip
    # Only one is left.
    remote.send(b"5 say 50 95")
    remote.send(b"6 say 1 2", (0x0A00_0003, 99))
    assert remote.serve()
    assert [payload[:6] for _, payload in remote.parts()] == [b"5 0 mo", b"5 1 mo"]
    # Without a packet it can do nothing: whoever waits may wait.
    assert not remote.serve()
    assert remote.parts() == []
    remote.do("supply", 1)
    assert remote.serve()
    assert [payload[:6] for _, payload in remote.parts()] == [b"5 2 mo"]
    remote.do("supply", 2)
    assert remote.serve()
    assert [(peer, payload[:6]) for peer, payload in remote.parts()] == [
        (PEER, b"5 3 ok"),
        ((0x0A00_0003, 99), b"6 0 ok"),
    ]
    assert not remote.serve()


def test_each_is_answered_where_it_comes_from(remote):
    remote.send(b"1 say 1 2", (1, 1))
    remote.send(b"2 say 1 3", (0xFFFF_FFFE, 65535))
    assert remote.serve()
    assert remote.parts() == [
        ((1, 1), first_line("1", 0, "ok") + b"0\n"),
        ((0xFFFF_FFFE, 65535), first_line("2", 0, "ok") + b"00\n"),
    ]


def test_nothing_is_done_without_a_request(remote):
    assert not remote.serve()
    assert remote.events == []


def test_an_answer_that_can_not_be_sent_is_given_up_and_the_next_is_sent(remote):
    # Nobody can have sent from port 0.
    remote.send(b"1 say 50 95", (1, 0))
    remote.send(b"2 say 1 2")
    assert remote.serve()
    assert remote.told("returned") == [[]] * 4
    assert remote.parts() == [(PEER, first_line("2", 0, "ok") + b"0\n")]


def test_parts_are_counted_up_to_as_many_as_their_digits_tell(remote):
    # 15 lines a part.
    parts = remote.answer(b"987654321 say 150030 95")
    numbers = [int(part[:21].split()[1]) for part in parts]
    assert numbers == [*range(10000), 9999, 9999]
    assert parts[-1][:21] == b"987654321 9999 ok   \n"
    assert parts[-2][:21] == b"987654321 9999 more \n"
