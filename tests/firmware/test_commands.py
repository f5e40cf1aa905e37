"""Commands: words, numbers, steps, and what is no command."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from command_host import command_host
from host_build import ROOT, Program, examples
from hypothesis import given
from hypothesis import strategies as st

HEADER = (ROOT / "firmware" / "apps" / "command.h").read_text()


def size(name: str) -> int:
    """A number of ``command.h``."""
    return int(re.search(rf"COMMAND_{name} = (\d+)", HEADER)[1])


MOST_BYTES, MOST_WORDS, LINE_BYTES = size("INPUT_BYTES") - 1, size("WORDS"), size("LINE_BYTES")


@pytest.fixture(scope="module")
def commands() -> Iterator[Program]:
    with command_host() as program:
        yield program


def run(commands: Program, text: bytes | str) -> tuple[list[str], bool]:
    """The lines of the answer, and whether it failed; failures are counted."""
    data = text.encode() if isinstance(text, str) else text
    *lines, verdict = commands.command(f"run {data.hex()}")
    kind, count = verdict.split()
    before, run.errors = run.errors, int(count)
    assert run.errors == before + (kind == "failed")
    return lines, kind == "failed"


run.errors = 0


def test_words_are_cut_at_blanks(commands):
    assert run(commands, " say\t 2   a  ") == (["0: <say> <2> <a>", "1: <say> <2> <a>"], False)
    assert run(commands, "") == ([], False)
    assert run(commands, "   ") == ([], False)


def test_a_command_of_all_words_and_bytes_is_taken(commands):
    text = "say 1 " + "a " * (MOST_WORDS - 2)
    assert run(commands, text)[1] is False
    assert run(commands, text + "b") == ([f"error: a command has at most {MOST_WORDS} words"], True)
    assert run(commands, " " * (MOST_BYTES - 3) + "say")[1] is False
    (answer,), failed = run(commands, " " * (MOST_BYTES - 2) + "say")
    assert failed
    assert answer == f"error: a command has at most {MOST_BYTES} bytes, not {MOST_BYTES + 1}"


@pytest.mark.parametrize(
    ("text", "before", "word"), [("long way home", "long", "way"), ("help say it", "say", "it")]
)
def test_the_first_word_too_many_is_named_and_nothing_is_run(commands, text, before, word):
    assert run(commands, text) == ([f"error: a word too many behind {before}: '{word}'"], True)


def test_help_lists_every_command_and_explains_one(commands):
    lines, _ = run(commands, "help")
    assert lines == [
        "help [COMMAND]: this list",
        "say [COUNT]: says it",
        "long: a line that is too long",
    ]
    assert run(commands, "help say") == (["say [COUNT]: says it"], False)
    assert run(commands, "help me") == (["error: no command 'me'"], True)


@pytest.mark.parametrize(
    "word",
    ["0", "1001", "-1", "1x", "0x", "", "4294967297", "1e1", "99999999999999", str(2**64 + 1)],
)
def test_a_number_out_of_range_is_named(commands, word):
    text = f"say {word}" if word else "say 0X"
    (answer,), failed = run(commands, text)
    assert failed
    assert answer == f"error: COUNT must be from 1 to 1000, not '{word or '0X'}'"


@pytest.mark.parametrize(("word", "count"), [("3", 3), ("0x10", 16), ("0XA", 10), ("1000", 1000)])
def test_numbers_are_decimal_or_hexadecimal(commands, word, count):
    assert len(run(commands, f"say {word}")[0]) == count


def test_a_line_that_is_too_long_is_cut_and_ends(commands):
    (line,), _ = run(commands, "long")
    assert line == "0" * (LINE_BYTES - 2)


@pytest.mark.parametrize("byte", [0x00, 0x08, 0x1F, 0x7F, 0x80, 0xFF])
def test_a_byte_that_can_not_be_printed_is_named_and_nothing_is_run(commands, byte):
    text = b"say " + bytes([byte])
    assert run(commands, text) == ([f"error: byte 0x{byte:02x} in a command"], True)
    assert run(commands, b"say\t~") == (
        ["error: COUNT must be from 1 to 1000, not '~'"],
        True,
    )


@examples(300)
@given(st.binary(max_size=120))
def test_any_bytes_are_a_command_or_an_error(commands, data):
    lines, failed = run(commands, data)
    if any(byte not in range(32, 127) and byte != 9 for byte in data) or len(data) > MOST_BYTES:
        assert failed
    assert failed == any(line.startswith("error: ") for line in lines)
