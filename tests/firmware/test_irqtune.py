"""irqtune: the original's tables, what its words mean, and the order that it suggests."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from command_host import command_host
from host_build import Program, examples
from hypothesis import given
from hypothesis import strategies as st

LIST, ROTATE, ASSIGN, RESTORE, SUGGEST, CLEAR = range(6)
KEEP = -1
MOST_ASSIGNMENTS = 10

#: Priority of IRQ 0, 1, 2 ... 15 by (master, slave), 0 the most urgent. The FAQ says of an
#: unchanged PC that its timer has priority 0, and its serial ports, IRQ 3 and 4, 11 and 12.
TABLES = {
    (0, 8): [0, 1, 2, 11, 12, 13, 14, 15, 3, 4, 5, 6, 7, 8, 9, 10],
    (3, 14): [5, 6, 7, 0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 8, 9],
    (3, 12): [5, 6, 7, 0, 1, 2, 3, 4, 12, 13, 14, 15, 8, 9, 10, 11],
    (2, 11): [14, 15, 0, 9, 10, 11, 12, 13, 6, 7, 8, 1, 2, 3, 4, 5],
}


@pytest.fixture(scope="module")
def commands() -> Iterator[Program]:
    with command_host() as program:
        yield program


def rotate(commands: Program, master: int, slave: int) -> list[int] | None:
    (answer,) = commands.command(f"rotate {master} {slave}")
    return None if answer == "no" else [int(word) for word in answer.split()]


def parse(commands: Program, text: str) -> tuple[list[int], list[tuple[str, int, int]]]:
    first, *rest = commands.command(f"parse {text}")
    assert not first.startswith("error"), first
    assignments = [line.split() for line in rest]
    return [int(word) for word in first.split()], [(n, int(t), int(p)) for n, t, p in assignments]


def error(commands: Program, text: str) -> str:
    (answer,) = commands.command(f"parse {text}")
    kind, _, message = answer.partition(" ")
    assert kind == "error", answer
    return message


@pytest.mark.parametrize(("setting", "table"), TABLES.items())
def test_the_faq_s_forms_give_the_tables_worked_out_by_hand(commands, setting, table):
    assert rotate(commands, *setting) == table


def test_every_setting_turns_both_circles_and_puts_the_slave_behind_its_input(commands):
    for master in range(8):
        for slave in range(8, 16):
            by_place = {(irq - master) % 8: [irq] for irq in range(8)}
            by_place[(2 - master) % 8] += sorted(range(8, 16), key=lambda irq: (irq - slave) % 8)
            order = [irq for place in range(8) for irq in by_place[place]]
            assert rotate(commands, master, slave) == [order.index(irq) for irq in range(16)]


@pytest.mark.parametrize("setting", [(8, 8), (0, 7), (0, 16), (2**32 - 1, 8)])
def test_a_controller_has_only_its_own_inputs(commands, setting):
    assert rotate(commands, *setting) is None


@pytest.mark.parametrize(
    ("text", "meaning"),
    {
        "": [LIST, 1, 3, 14],
        "3": [ROTATE, 1, 3, 14],
        "3 12": [ROTATE, 1, 3, 12],
        "2 11": [ROTATE, 1, 2, 11],
        "-n": [ROTATE, 0, 3, 14],
        "-n 2 11": [ROTATE, 0, 2, 11],
        "-o": [RESTORE, 1, 3, 14],
        "-c": [CLEAR, 1, 3, 14],
        "--suggest": [SUGGEST, 0, 3, 14],
        "--suggest --apply": [SUGGEST, 1, 3, 14],
    }.items(),
)
def test_the_forms_of_the_command(commands, text, meaning):
    assert parse(commands, text) == (meaning, [])


def test_assignments_name_a_line_and_a_tier_a_priority_or_both(commands):
    text = "uart0=tier2:7 uart1=tier3 console=:15 5=0 12=tier1:00"
    (action, *_), assignments = parse(commands, text)
    assert action == ASSIGN
    assert assignments == [
        ("uart0", 2, 7),
        ("uart1", 3, KEEP),
        ("console", KEEP, 15),
        ("5", KEEP, 0),
        ("12", 1, 0),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "8": "MASTER must be from 0 to 7, not '8'",
        "3x": "MASTER must be from 0 to 7, not '3x'",
        "3 7": "SLAVE must be from 8 to 15, not '7'",
        "3 0000014": "SLAVE must be from 8 to 15, not '0000014'",
        "3 14 1": "'1' behind MASTER SLAVE",
        "-n 8": "MASTER must be from 0 to 7, not '8'",
        "-x": "no option '-x'; try help irqtune",
        "-o 1": "'1' behind -o",
        "--suggest now": "'now' behind --suggest",
        "--suggest --apply x": "'x' behind --suggest",
        "uart0": "neither a number, an option nor LINE=tierN:P: 'uart0'",
        "=tier2:7": "neither a number, an option nor LINE=tierN:P: '=tier2:7'",
        "uart0=": "priority must be from 0 to 15, not ''",
        "uart0=16": "priority must be from 0 to 15, not '16'",
        "uart0=tier2:16": "priority must be from 0 to 15, not '16'",
        "uart0=tier2:": "priority must be from 0 to 15, not ''",
        "uart0=tier2:-1": "priority must be from 0 to 15, not '-1'",
        "uart0=tier8:7": "tier must be from tier0 to tier7 in 'uart0=tier8:7'",
        "uart0=tier:7": "tier must be from tier0 to tier7 in 'uart0=tier:7'",
        "uart0=tier2x": "tier must be from tier0 to tier7 in 'uart0=tier2x'",
        "a_line_with_no_end=1": "no line has so long a name: 'a_line_with_no_end=1'",
    }.items(),
)
def test_what_is_wrong_is_named(commands, text, message):
    assert error(commands, text) == message


def test_a_command_has_room_for_so_many_assignments(commands):
    assert len(parse(commands, "1=1 " * MOST_ASSIGNMENTS)[1]) == MOST_ASSIGNMENTS
    assert error(commands, "1=1 " * (MOST_ASSIGNMENTS + 1)) == "more than 10 assignments: '1=1'"


_WORD = st.text(st.sampled_from("0123456789=:tier-noapply suggest"), min_size=1, max_size=40)


@examples(400)
@given(st.lists(_WORD, max_size=13))
def test_any_words_are_read_or_refused(commands, words):
    answer = commands.command("parse " + " ".join(words))
    if not answer[0].startswith("error"):
        action, apply, master, slave = map(int, answer[0].split())
        assert action in range(6)
        assert apply in (0, 1)
        assert master in range(8)
        assert slave in range(8, 16)
        for line in answer[1:]:
            name, tier, priority = line.split()
            assert 0 < len(name) < 16
            assert int(tier) in range(-1, 8)
            assert int(priority) in range(-1, 16)


_LINES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(1, 5))
    | st.tuples(st.integers(0, 2**32 - 1), st.just(16)),
    max_size=20,
)


@examples(300)
@given(_LINES)
def test_what_can_wait_least_comes_first(commands, lines):
    words = [f"{number}:{units}:{room}" for number, (units, room) in enumerate(lines)]
    answer = [
        tuple(map(int, line.split())) for line in commands.command("suggest " + " ".join(words))
    ]

    def key(item):
        number, (units, room) = item
        return (units == 0, Fraction(room, units) if units else 0, number)

    ordered = sorted(enumerate(lines), key=key)
    assert [number for number, _ in answer] == [number for number, _ in ordered]
    classes = sorted({key(item)[:2] for item in ordered})
    for (number, priority), item in zip(answer, ordered, strict=True):
        units = item[1][0]
        assert priority == (max(0, 15 - classes.index(key(item)[:2])) if units else 0), number


@examples(200)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4096), st.integers(0, 2**48))
def test_slack_is_room_divided_by_the_rate(commands, units, room, cycles):
    (answer,) = commands.command(f"slack {units} {room} {cycles}")
    exact = room * cycles // units if units else 2**32 - 1
    assert int(answer) == min(exact, 2**32 - 1)
