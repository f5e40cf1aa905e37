"""The console: what is typed, echoed, run and answered, as far as its UART has room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_build import hex_bytes
from net_host import config
from services_host import CPU_NAME, Services
from test_commands import LINE_BYTES, MOST_BYTES

RING = config("UART_RING_BYTES")
PROMPT = b"tierv> "


class Console(Services):
    """A console whose UART sends what it is told to."""

    def type(self, text: bytes) -> int:
        return self.number("type", text.hex())

    def serve(self) -> bool:
        return bool(self.number("serve"))

    def take(self, count: int = RING) -> bytes:
        return hex_bytes(self.do("take", count)[0])

    def answer(self, text: bytes, *, at_once: int = RING) -> bytes:
        """All that comes if so many bytes are sent between services."""
        assert self.type(text) == len(text)
        return self.drain(at_once=at_once)

    def drain(self, *, at_once: int = RING) -> bytes:
        """All that comes of what has been typed."""
        sent = b""
        while True:
            queued = self.serve()
            part = self.take(at_once)
            sent += part
            if not queued and not part:
                return sent


@pytest.fixture
def fresh() -> Iterator[Console]:
    console = Console()
    console.do("console")
    yield console
    console.close()


@pytest.fixture
def console(fresh: Console) -> Console:
    fresh.take()
    return fresh


def test_it_begins_with_a_banner_and_a_prompt(fresh):
    assert fresh.take() == f"\r\nTierV on {CPU_NAME}, 1 context\r\n".encode() + PROMPT
    assert not fresh.serve()


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
def test_a_line_is_echoed_run_and_answered(console, end):
    assert console.answer(b"say 2 4" + end) == b"say 2 4\r\n000\r\n001\r\n" + PROMPT


def test_nothing_is_an_empty_line_and_an_error_a_line_of_its_own(console):
    assert console.answer(b"\r") == b"\r\n" + PROMPT
    expected = b"no\r\nerror: no command 'no'; try help\r\n" + PROMPT
    assert console.answer(b"no\r") == expected


def test_characters_are_taken_back_up_to_the_beginning_of_the_line(console):
    erased = b"\b \b"
    assert console.answer(b"\x7fsax\b\x08y 1 2\r") == (
        b"sax" + 2 * erased + b"y 1 2\r\nerror: no command 'sy'; try help\r\n" + PROMPT
    )
    assert console.answer(b"xx\x7f\x7f\x7fsay 1 2\r") == (
        b"xx" + 2 * erased + b"say 1 2\r\n0\r\n" + PROMPT
    )


def test_other_characters_are_neither_echoed_nor_taken(console):
    unprintable = bytes([*range(1, 8), 9, 11, 12, *range(14, 32), *range(0x80, 0x100)])
    assert console.answer(unprintable) == b""
    # Both ends of what can be printed.
    assert console.answer(b" ~\r") == b" ~\r\nerror: no command '~'; try help\r\n" + PROMPT


def test_a_line_that_is_too_long_is_refused_whole_and_can_be_shortened(console):
    text = b"say 1 2".ljust(MOST_BYTES + 5)
    error = f"error: a command has at most {MOST_BYTES} bytes, not {len(text)}".encode()
    assert console.answer(text + b"\r") == text + b"\r\n" + error + b"\r\n" + PROMPT
    assert console.answer(text + b"\b" * 4 + b"\r").endswith(b"bytes, not 96\r\n" + PROMPT)
    assert console.answer(text + b"\b" * 5 + b"\r").endswith(b"\r\n0\r\n" + PROMPT)


NOT_RUN = b"\r\nerror: not run: characters were lost\r\n" + PROMPT


@pytest.mark.parametrize("phase", range(8))
def test_no_line_of_which_a_part_was_lost_is_run(console, phase):
    # Wherever the ring's end is, what is behind it has no beginning.
    text = (b"say 1 2\r" * RING)[phase : phase + RING]
    assert console.type(text + b"say 1 9") == RING
    shown = console.drain()
    # It is not known that they were whole.
    assert shown.count(NOT_RUN) == text.count(b"\r")
    shown += console.answer(b"\rsay 1 2\r"[text.endswith(b"\r") :])
    assert shown.count(NOT_RUN) == text.count(b"\r") + 1
    assert b"\r\n0" not in shown.removesuffix(b"\r\n0\r\n" + PROMPT)
    assert console.answer(b"say 1 3\r") == b"say 1 3\r\n00\r\n" + PROMPT


def test_what_was_lost_within_a_line_that_is_being_typed_keeps_that_from_being_run(console):
    assert console.answer(b"say 1 2") == b"say 1 2"
    console.do("lose")
    assert not console.serve()
    assert console.answer(b"4\r") == b"4" + NOT_RUN
    assert console.answer(b"say 1 3\r") == b"say 1 3\r\n00\r\n" + PROMPT


@pytest.mark.parametrize("at_once", [7, 50, RING])
def test_the_next_line_waits_for_the_answer_to_the_one_before(console, at_once):
    lines = [f"{number:059}".encode() for number in range(9)]
    expected = [b"say 9 60", *lines, PROMPT + b"say 1 3", b"00", PROMPT]
    assert console.answer(b"say 9 60\rsay 1 3\r", at_once=at_once) == b"\r\n".join(expected)


def test_a_line_is_printed_only_if_it_and_a_prompt_have_room(console):
    room = 2 * (LINE_BYTES + 1)
    command = f"say 9 {LINE_BYTES - 1}\r".encode()
    console.type(command)
    assert console.serve()
    assert len(console.take()) == len(command) + 1
    # A line as long as any leaves no room for the next.
    assert console.serve()
    assert not console.serve()
    assert RING - room < LINE_BYTES
    console.take(LINE_BYTES - (RING - room) - 1)
    assert not console.serve()
    console.take(1)
    assert console.serve()
    assert len(console.take()) == RING - room + LINE_BYTES


def test_what_is_typed_waits_while_the_answer_has_no_room(console):
    # As much as keeps a line from having room, then another character.
    room = 2 * (LINE_BYTES + 1)
    text = b"x" * (RING - room + 1)
    assert console.type(text + b"yz") == len(text) + 2
    assert console.serve()
    assert not console.serve()
    assert console.take(1) == b"x"
    assert console.serve()
    assert not console.serve()
    console.take()
    assert console.serve()
    assert console.take() == b"z"
