"""Lines that are kicked: who is served first, and how often the protocol service runs for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_build import FAKE, ROOT, TESTS, Program, build, write_headers

from tierv.rtl.document import c_header
from tierv.rtl.params import CoreParams

APPLICATION, PROTOCOL, INTERRUPT, MORE_URGENT = range(4)
#: Lines by their names in these tests, and their priorities.
MAC, CONSOLE, UART, LATE_UART = 1, 2, 4, 5
PRIORITIES = {MAC: 8, CONSOLE: 8, UART: 10, LATE_UART: 10}
RUN = "p"


class Lines:
    def __init__(self, context: str) -> None:
        soc = {"CONFIG_CLOCK_FREQUENCY": 100_000_000, "CONFIG_CPU_TIERS": 4, "UARTS": 0}
        folder = write_headers(f"kicks-{context}", soc=soc | {"CONFIG_CPU_TYPE_TIERV": 1})
        (folder / "generated/tierv.h").write_text(c_header(CoreParams(tiers=4, lines=8)))
        sources = [TESTS / "irq_kicks_driver.c", TESTS / "text.c", ROOT / "firmware/irq/table.c"]
        self._program = Program(
            build(
                f"irq_kicks_{context}",
                sources,
                include=[FAKE, folder, TESTS],
                defines=[f"CONTEXT_{context.upper()}"],
            ),
            end=".",
        )
        for line, priority in PRIORITIES.items():
            self.do("line", line, priority)
        self.do("start")

    def do(self, *words: object) -> list[str]:
        return self._program.command(" ".join(map(str, words)))

    def served(self, verb: str, *lines: int) -> list[int | str]:
        """Who is served when lines are kicked or raised."""
        (answer,) = self.do(verb, sum(1 << line for line in lines))
        return [word if word == RUN else int(word) for word in answer.split()]

    def assign(self, line: int, tier: int) -> None:
        assert self.do("assign", line, tier, PRIORITIES[line])[-1].split()[-1] == "0"

    def close(self) -> None:
        self._program.close()


@pytest.fixture(params=["tiers", "polled"])
def lines(request) -> Iterator[Lines]:
    lines = Lines(request.param)
    yield lines
    lines.close()


@pytest.fixture
def tiers() -> Iterator[Lines]:
    lines = Lines("tiers")
    yield lines
    lines.close()


def test_of_kicked_lines_the_most_urgent_goes_first_and_of_equals_the_lower_one(lines):
    assert lines.served("kick", *PRIORITIES) == [UART, LATE_UART, MAC, CONSOLE]
    assert lines.served("kick", LATE_UART) == [LATE_UART]


def test_a_line_that_kicks_itself_keeps_no_more_urgent_one_waiting(lines):
    lines.do("again", MAC, 3)
    assert lines.served("kick", MAC, UART) == [UART, MAC, MAC, MAC, MAC]


def test_a_pending_line_goes_before_less_urgent_ones_that_are_kicked(tiers):
    assert tiers.served("raise", UART, MAC) == [UART, MAC]
    assert tiers.served("kick", UART, MAC) == [UART, MAC]


@pytest.mark.parametrize("verb", ["raise", "kick"])
def test_what_a_line_of_the_protocol_tier_posts_to_that_is_done_behind_it_at_once(tiers, verb):
    tiers.assign(MAC, PROTOCOL)
    tiers.do("posts", MAC)
    assert tiers.served(verb, MAC) == [RUN, MAC]
    # From another tier it is another run.
    tiers.assign(MAC, INTERRUPT)
    assert tiers.served(verb, MAC) == [MAC, RUN]


def test_the_protocol_tier_serves_all_that_is_kicked(tiers):
    for line in PRIORITIES:
        tiers.assign(line, PROTOCOL)
        tiers.do("posts", line)
    assert tiers.served("kick", MAC, UART, LATE_UART) == [RUN, UART, RUN, LATE_UART, RUN, MAC]
    tiers.do("again", MAC, 2)
    assert tiers.served("raise", MAC) == [RUN, MAC, MAC, RUN, MAC]
    assert tiers.served("raise", UART, MAC) == [RUN, UART, RUN, MAC]
