"""The table of lines: what is registered, assigned, refused and restored."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_build import ROOT, TESTS, Program, build, write_headers

LINES, PRIORITIES, NAME_BYTES = 32, 16, 12
APPLICATION, PROTOCOL, INTERRUPT = range(3)
#: irq_result_t
OK, NO_LINE, BAD_TIER, BAD_PRIORITY, BUSY = range(5)


class Table:
    def __init__(self, program: Program) -> None:
        self._program = program

    def do(self, *words: object) -> list[str]:
        return self._program.command(" ".join(map(str, words)))

    def number(self, *words: object) -> int:
        return int(self.do(*words)[0])

    def line(self, line: int) -> list[int | str]:
        """Name, tier, priority, room, units, apart, brief, count, worst latency, what holds."""
        name, *numbers = self.do("line", line)[0].split()
        return [name, *map(int, numbers)]


@pytest.fixture
def table() -> Iterator[Table]:
    """With lines 0, 5 and 31."""
    soc = {"CONFIG_CLOCK_FREQUENCY": 100_000_000, "CONFIG_CPU_TIERS": 1, "UARTS": 0}
    sources = [TESTS / "irq_table_driver.c", TESTS / "text.c", ROOT / "firmware/irq/table.c"]
    include = [write_headers("irq", soc=soc), TESTS]
    program = Program(
        build("irq_table_driver", sources, include=include, defines=["CONTEXT_POLLED"]), end="."
    )
    table = Table(program)
    for line, name, priority in [(0, "timer0", 3), (5, "ethmac", 15), (31, "uart1", 0)]:
        assert table.number("register", line, name, priority)
    yield table
    program.close()


def test_lines_are_found_by_number_and_name(table):
    assert table.line(5)[:7] == ["ethmac", INTERRUPT, 15, 1, 0, 0, 0]
    assert [table.line(line) for line in (1, LINES)] == [["-"], ["-"]]
    names = ["timer0", "ethmac", "uart1", "uart"]
    assert [table.number("find", name) for name in names] == [0, 5, 31, LINES]


def test_a_line_is_registered_once_and_its_name_is_cut(table):
    assert not table.number("register", 5, "again", 1)
    assert not table.number("register", LINES, "beyond", 1)
    assert not table.number("register", 1, "urgent", PRIORITIES)
    assert table.number("register", 1, "abcdefghijklmnop", 1)
    assert table.line(1)[0] == "abcdefghijklmnop"[: NAME_BYTES - 1]
    assert table.line(5)[:3] == ["ethmac", INTERRUPT, 15]


def test_what_devices_can_wait_and_how_they_are_served_is_kept(table):
    table.do("describe", 5, 24)
    table.do("describe", 0, 0)
    table.do("apart", 0)
    table.do("brief", 31)
    for command in ("describe 1 2", "apart 1", "brief 1"):
        table.do(command)
    assert [table.line(line)[3:7] for line in (0, 5, 31)] == [
        [1, 1, 1, 0],
        [24, 1, 0, 0],
        [1, 0, 0, 1],
    ]
    assert table.line(1) == ["-"]


def test_a_line_is_given_a_tier_and_a_priority_which_hold_at_once(table):
    assert table.number("assign", 5, PROTOCOL, 7) == OK
    name, tier, priority, *_, holds = table.line(5)
    assert (name, tier, priority, holds) == ("ethmac", PROTOCOL, 7, 7)
    assert table.number("lines", PROTOCOL) == 1 << 5
    assert table.number("lines", INTERRUPT) == 1 << 31 | 1
    assert table.number("lines", APPLICATION) == 0


@pytest.mark.parametrize(
    ("line", "tier", "priority", "result"),
    [
        (1, INTERRUPT, 1, NO_LINE),
        (LINES, INTERRUPT, 1, NO_LINE),
        (5, APPLICATION, 1, BAD_TIER),
        (5, INTERRUPT, PRIORITIES, BAD_PRIORITY),
        (5, PROTOCOL, 1, BUSY),
    ],
)
def test_what_can_not_be_assigned_changes_nothing(table, line, tier, priority, result):
    before = [table.line(each) for each in range(LINES)]
    table.do("busy 1")
    assert table.number("assign", line, tier, priority) == result
    assert [table.line(each) for each in range(LINES)] == before
    # A line that stays in its tier need not be let go.
    assert table.number("assign", 5, INTERRUPT, 2) == OK


def test_all_lines_are_as_they_were_registered_or_the_first_fault_is_told(table):
    for line in (0, 5, 31):
        table.number("assign", line, PROTOCOL, 9)
    table.number("assign", 31, INTERRUPT, 9)
    table.do("busy 1")
    assert table.number("usual") == BUSY
    assert [table.line(line)[1:3] for line in (0, 31)] == [[PROTOCOL, 9], [INTERRUPT, 0]]
    table.do("busy 0")
    assert table.number("usual") == OK
    assert [table.line(line)[1:3] for line in (0, 5, 31)] == [
        [INTERRUPT, 3],
        [INTERRUPT, 15],
        [INTERRUPT, 0],
    ]


def test_counts_are_forgotten(table):
    for line in (0, 31):
        table.do("serve", line)
    assert [table.line(line)[7:9] for line in (0, 31)] == [[1, 7], [1, 7]]
    table.do("clear")
    assert [table.line(line)[7:9] for line in (0, 31)] == [[0, 0], [0, 0]]
