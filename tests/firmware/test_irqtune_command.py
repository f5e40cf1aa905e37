"""The command irqtune: what it lists, what it assigns, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_host import CLOCK_HZ, build_commands, command_host
from host_build import Program

PROTOCOL, INTERRUPT = 1, 2
#: Line: name, usual priority, room; without room it counts interrupts.
LINES = {
    0: ("timer0", 8, 0),
    5: ("ethmac", 8, 16),
    9: ("console", 9, 0),
    15: ("uart0", 10, 24),
    20: ("uart1", 10, 24),
}
HEADING = "line name      owner  priority      count   worst (us)"
ORDER = "line name      priority      units   room   slack (us)"


class Board:
    """Lines, and the command."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def do(self, *words: object) -> list[str]:
        return self._program.command(" ".join(map(str, words)))

    def bring(self, line: int, *, count: int = 0, units: int = 0, worst: int = 0) -> None:
        """What a line has had since the start."""
        self.do("bring", line, count, units, worst)

    def ask(self, text: str) -> tuple[list[str], bool]:
        """The lines of the answer, and whether it failed."""
        *lines, verdict = self.do("run", f"irqtune {text}".encode().hex())
        return lines, verdict.split()[0] == "failed"

    def tell(self, text: str) -> list[str]:
        lines, failed = self.ask(text)
        assert not failed, lines
        return lines

    def error(self, text: str) -> str:
        lines, failed = self.ask(text)
        assert failed
        return lines[-1].removeprefix("error: ")

    def places(self) -> dict[int, tuple[int, int]]:
        """Tier and priority of each line."""
        found = {line: self.do("line", line)[0].split() for line in LINES}
        return {line: (int(tier), int(priority)) for line, (tier, priority) in found.items()}


def begin(program: Program) -> Board:
    board = Board(program)
    for line, (name, priority, room) in LINES.items():
        board.do("register", line, name, priority, room)
    board.do("begin")
    return board


@pytest.fixture(scope="module")
def path() -> Path:
    return build_commands()


@pytest.fixture
def board(path: Path) -> Iterator[Board]:
    with command_host(path) as program:
        yield begin(program)


@pytest.fixture
def polled() -> Iterator[Board]:
    """With one context, on a CPU that neither tells lines nor counts cycles."""
    with command_host(build_commands(tiers=False)) as program:
        yield begin(program)


USUAL = {line: (INTERRUPT, priority) for line, (_, priority, _) in LINES.items()}


def test_lines_are_listed_with_owner_priority_count_and_worst_latency(board):
    board.bring(5, count=1234567890, worst=12345)
    board.bring(20, worst=(1 << 32) - 1)
    assert board.tell("") == [
        HEADING,
        "   0 timer0    tier2         8          0         0.00",
        "   5 ethmac    tier2         8 1234567890       123.45",
        "   9 console   tier2         9          0         0.00",
        "  15 uart0     tier2        10          0         0.00",
        "  20 uart1     tier2        10          0  42949672.95",
    ]


def test_one_context_has_no_tiers_and_a_cpu_that_sees_no_lines_neither_counts_nor_latencies(polled):
    polled.bring(5, count=3, worst=7)
    heading, *rows = polled.tell("")
    assert heading == HEADING
    assert rows[1] == "   5 ethmac    poll          8          -            -"
    polled.bring(5, units=3)
    assert polled.tell("--suggest")[1] == "   5 ethmac          15          3     16            -"


def test_looking_at_a_line_that_nobody_sees_does_not_make_it_urgent(polled):
    polled.bring(9, count=50000)
    polled.bring(15, units=1000)
    rows = polled.tell("--suggest")[1:]
    assert rows[0] == "  15 uart0           15       1000     24            -"
    assert [units for _, _, units, *_ in order(rows[1:])] == [0] * (len(LINES) - 1)


def test_assignments_are_carried_out_in_their_order_and_shown(board):
    assert board.tell("ethmac=tier1:15 15=3 uart1=tier1 5=:2 0=4 9=5") == [
        "   5 ethmac    tier1        15          0         0.00",
        "  15 uart0     tier2         3          0         0.00",
        "  20 uart1     tier1        10          0         0.00",
        "   5 ethmac    tier1         2          0         0.00",
        "   0 timer0    tier2         4          0         0.00",
        "   9 console   tier2         5          0         0.00",
    ]
    assert board.places() == {
        5: (PROTOCOL, 2),
        15: (INTERRUPT, 3),
        20: (PROTOCOL, 10),
        0: (INTERRUPT, 4),
        9: (INTERRUPT, 5),
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    {
        "nobody=1": "no line 'nobody'; try irqtune",
        "6=1": "no line '6'; try irqtune",
        "32=1": "no line '32'; try irqtune",
        "42949672960=1": "no line '42949672960'; try irqtune",
        "15x=1": "no line '15x'; try irqtune",
        "uart0=tier0:1": "no line can be served in tier0 here",
        "uart0=tier3": "no line can be served in tier3 here",
        "uart0=16": "priority must be from 0 to 15, not '16'",
    }.items(),
)
def test_a_wrong_assignment_is_named_before_any_is_carried_out(board, wrong, message):
    for words in (f"ethmac=tier1:15 {wrong}", f"{wrong} ethmac=tier1:15"):
        assert board.error(words) == message
        assert board.places() == USUAL


def test_a_tier_that_does_not_let_go_ends_the_command_where_it_is(board):
    board.do("busy 1")
    lines, failed = board.ask("ethmac=3 uart0=tier1:4 console=5")
    assert failed
    refusal = "the tier that serves 'uart0' did not let go; nothing has changed"
    assert lines == [
        "   5 ethmac    tier2         3          0         0.00",
        f"error: {refusal}",
    ]
    assert board.places() == USUAL | {5: (INTERRUPT, 3)}


def test_everything_becomes_as_it_was_registered_and_is_listed(board):
    board.tell("ethmac=tier1:15 uart1=0")
    heading, *rows = board.tell("-o")
    assert heading == HEADING
    assert len(rows) == len(LINES)
    assert board.places() == USUAL


def test_what_could_not_be_restored_is_told_and_not_listed(board):
    board.tell("ethmac=tier1:15 uart1=0")
    board.do("busy 1")
    assert board.ask("-o") == (
        ["error: the tier that serves 'every line' did not let go; nothing has changed"],
        True,
    )
    assert board.places() == USUAL | {5: (PROTOCOL, 15)}


#: Place of each IRQ in the original's order for 3 12: 0 is the most urgent.
FORM_3_12 = [5, 6, 7, 0, 1, 2, 3, 4, 12, 13, 14, 15, 8, 9, 10, 11]


def test_the_original_s_form_sets_every_line_and_shows_every_irq(board):
    board.tell("uart0=tier1")
    names = {line: name for line, (name, *_) in LINES.items()}
    rows = board.tell("3 12")
    assert rows == [
        f"I{irq:02}/P{place:02} {names.get(irq, '')}" for irq, place in enumerate(FORM_3_12)
    ]
    # Tiers stay; beyond a PC's lines nothing is urgent.
    assert board.places() == {
        line: (PROTOCOL if line == 15 else INTERRUPT, 15 - FORM_3_12[line] if line < 16 else 0)
        for line in LINES
    }


def test_the_original_s_option_n_only_shows(board):
    assert board.tell("-n 3 12")[3] == "I03/P00 "
    assert board.places() == USUAL


def order(rows: list[str]) -> list[tuple[str, int, int, int, str]]:
    """Name, priority, units, room and slack of each row."""
    found = [row.split() for row in rows]
    return [(name, int(p), int(u), int(r), slack) for _, name, p, u, r, slack in found]


def test_the_order_suggested_counts_from_the_beginning_and_is_applied_when_asked(board):
    for line, units in {0: 0, 5: 1000, 15: 4000, 20: 0}.items():
        board.bring(line, units=units)
    board.bring(9, count=2)
    board.do("clock", CLOCK_HZ, 0)
    heading, *rows = board.tell("--suggest")
    assert heading == ORDER
    # A second has passed.
    assert order(rows) == [
        ("uart0", 15, 4000, 24, "6000.00"),
        ("ethmac", 14, 1000, 16, "16000.00"),
        ("console", 13, 2, 1, "500000.00"),
        ("timer0", 0, 0, 1, "-"),
        ("uart1", 0, 0, 24, "-"),
    ]
    assert rows[0] == "  15 uart0           15       4000     24      6000.00"
    assert board.places() == USUAL
    assert board.tell("--suggest --apply") == [heading, *rows]
    priorities = {15: 15, 5: 14, 9: 13, 0: 0, 20: 0}
    assert board.places() == {line: (INTERRUPT, each) for line, each in priorities.items()}


def test_an_order_that_another_caller_finds_meanwhile_is_not_mixed_with_ones_own(board):
    board.bring(5, units=1000)
    board.do("clock", CLOCK_HZ, 0)
    heading, *rows = board.tell("--suggest")
    assert board.do("meet irqtune --suggest") == [
        heading,
        *(heading, *rows, "done"),
        *("error: another order has been found meanwhile", "failed"),
    ]


def test_rates_and_counts_begin_anew_when_they_are_forgotten(board):
    board.bring(5, count=9, units=1000, worst=50)
    board.bring(9, count=4)
    board.do("clock", 3 * CLOCK_HZ, 0)
    assert board.tell("-c") == []
    assert board.tell("")[2] == "   5 ethmac    tier2         8          0         0.00"
    assert all(units == 0 for _, _, units, *_ in order(board.tell("--suggest")[1:]))
    board.bring(5, units=1100)
    board.bring(9, count=1)
    board.do("clock", 4 * CLOCK_HZ, 0)
    rows = order(board.tell("--suggest")[1:])
    assert rows[:2] == [
        ("ethmac", 15, 100, 16, "160000.00"),
        ("console", 14, 1, 1, "1000000.00"),
    ]


def test_what_was_before_the_beginning_does_not_count(path):
    with command_host(path) as program:
        board = Board(program)
        board.do("register 5 ethmac 8 16")
        board.bring(5, units=1000)
        board.do("clock", CLOCK_HZ, 0)
        board.do("begin")
        board.bring(5, units=1016)
        board.do("clock", 2 * CLOCK_HZ, 0)
        assert order(board.tell("--suggest")[1:]) == [("ethmac", 15, 16, 16, "1000000.00")]


def test_units_are_counted_modulo_their_range(board):
    board.bring(5, units=(1 << 32) - 10)
    board.tell("-c")
    board.bring(5, units=20)
    assert order(board.tell("--suggest")[1:])[0][:3] == ("ethmac", 15, 30)


def test_without_lines_there_is_no_order(path):
    with command_host(path) as program:
        board = Board(program)
        board.do("begin")
        assert board.tell("--suggest") == [ORDER]
        assert board.tell("") == [HEADING]


def test_the_clock_s_halves_belong_together(board):
    # The lower half comes round between the two.
    board.bring(5, units=16)
    board.do("clock", (1 << 32) - 1, 1)
    (row, *_) = order(board.tell("--suggest")[1:])
    assert float(row[4]) == pytest.approx((1 << 32) * 10**6 / CLOCK_HZ, abs=1)


def test_a_word_that_is_none_is_named(board):
    assert board.error("-x") == "no option '-x'; try help irqtune"
    assert board.places() == USUAL
