"""Lines that are kicked: who is served first, and how often the protocol service runs for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from host_build import FAKE, ROOT, TESTS, Program, build, write_headers

from tierv.rtl.document import c_header
from tierv.rtl.params import CoreParams

APPLICATION, PROTOCOL, INTERRUPT, MORE_URGENT = range(4)
#: Lines by their names in these tests, and their priorities.
MAC, CONSOLE, UART, LATE_UART = 1, 2, 4, 5
PRIORITIES = {MAC: 8, CONSOLE: 8, UART: 10, LATE_UART: 10}
RUN = "p"
#: IRQ_BUSY of ``irq.h``.
BUSY = "4"


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

    def served(self, verb: str, *lines: int, kicked: Sequence[int] = ()) -> list[int | str]:
        """Who is served when lines are kicked or raised, or some raised and others kicked."""
        masks = [sum(1 << line for line in some) for some in (lines, kicked) if some]
        (answer,) = self.do(verb, *masks)
        return [word if word == RUN else int(word) for word in answer.split()]

    def assign(self, line: int, tier: int) -> None:
        assert self.do("assign", line, tier, PRIORITIES[line])[-1].split()[-1] == "0"

    def ceiling(self) -> int:
        return int(self.do("ceiling")[0])

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


def test_a_line_that_is_asked_for_twice_before_it_is_served_is_served_once(lines):
    lines.do("wait", 1 << MAC)
    assert lines.served("kick", MAC) == [MAC]
    assert lines.served("kick", CONSOLE) == [CONSOLE]


def test_a_line_that_kicks_itself_keeps_no_more_urgent_one_waiting(lines):
    lines.do("again", MAC, 3)
    assert lines.served("kick", MAC, UART) == [UART, MAC, MAC, MAC, MAC]


def test_a_line_that_pends_meanwhile_goes_before_less_urgent_ones_that_are_kicked(lines):
    lines.do("raises", MAC, 1 << UART)
    assert lines.served("kick", MAC, CONSOLE) == [MAC, UART, CONSOLE]


def test_a_tier_that_is_woken_for_what_it_has_done_already_waits_again(tiers):
    tiers.do("early", 1 << UART)
    assert tiers.do("call", MAC) == [f" {UART} {MAC}"]
    tiers.assign(MAC, PROTOCOL)
    tiers.do("early", 1 << MAC)
    assert tiers.do("call", MAC) == [f" {RUN} {MAC} {MAC} {RUN}"]


def test_a_line_that_may_not_interrupt_another_is_served_when_it_may():
    lines = Lines("polled")
    lines.do("mask", 1 << UART)
    assert lines.served("kick", MAC, UART) == [UART]
    lines.do("mask", sum(1 << line for line in PRIORITIES))
    assert lines.served("kick", CONSOLE) == [MAC, CONSOLE]
    lines.close()


def test_a_pending_line_goes_before_less_urgent_ones_that_are_kicked(tiers):
    assert tiers.served("mix", UART, LATE_UART, kicked=[MAC]) == [UART, LATE_UART, MAC]
    # One that pends is served before a tier looks for what it has been asked.
    assert tiers.served("mix", MAC, CONSOLE, kicked=[LATE_UART]) == [MAC, LATE_UART, CONSOLE]


@pytest.mark.parametrize(("tier", "served"), [(PROTOCOL, [RUN, RUN, MAC]), (MORE_URGENT, [MAC])])
def test_what_was_asked_of_a_line_goes_with_it_to_another_tier(tiers, tier, served):
    tiers.do("wait", 1 << MAC)
    (answer,) = tiers.do("assign", MAC, tier, PRIORITIES[MAC])
    assert answer.split() == [*map(str, served), "0"]
    assert tiers.served("kick", CONSOLE) == [CONSOLE]


def test_a_line_that_its_tier_does_not_let_go_stays_there_with_what_was_asked_of_it(tiers):
    tiers.do("busy", INTERRUPT)
    tiers.do("meanwhile", MAC)
    (answer,) = tiers.do("assign", MAC, MORE_URGENT, PRIORITIES[MAC])
    assert answer.split() == [BUSY]
    assert tiers.served("free") == [MAC]
    assert tiers.served("raise", MAC) == [MAC]
    assert tiers.served("mix", UART, LATE_UART, kicked=[MAC]) == [UART, LATE_UART, MAC]


def test_the_ceiling_is_the_most_urgent_tier_that_shares_something(tiers):
    assert tiers.ceiling() == INTERRUPT
    tiers.assign(UART, MORE_URGENT)
    assert tiers.ceiling() == MORE_URGENT
    for line in PRIORITIES:
        assert tiers.ceiling() > PROTOCOL
        tiers.assign(line, PROTOCOL)
    assert tiers.ceiling() == PROTOCOL
    tiers.do("apart", UART)
    tiers.assign(UART, MORE_URGENT)
    assert tiers.ceiling() == PROTOCOL
    tiers.do("wait", 1 << MAC)
    # Whoever is served while its line moves is below the ceiling already.
    tiers.assign(MAC, INTERRUPT)
    assert tiers.ceiling() == INTERRUPT
    tiers.do("busy", INTERRUPT)
    assert tiers.do("assign", MAC, MORE_URGENT, PRIORITIES[MAC])[-1].split()[-1] == BUSY
    assert tiers.ceiling() == INTERRUPT


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
