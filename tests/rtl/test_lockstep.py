"""Random programs in every tier, with interrupts at random cycles, in lock step with Spike."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from lockstep import CORES, Case, case_of_seed, describe, run_cases
from slow_turns import turns

pytestmark = pytest.mark.usefixtures("spike")

PIECES = 240
#: What these have, others have, too.
SLOW = ("2", "3", "small", "wide")
#: Instructions of the long run.
MANY = 10_000_000


def check(cases: Iterable[Case]) -> int:
    """Run all; returns the number of instructions compared."""
    instructions = 0
    for outcome in run_cases(cases):
        if outcome.problem:
            pytest.fail(describe(outcome), pytrace=False)
        instructions += outcome.instructions
    return instructions


@pytest.mark.parametrize("core", turns(CORES, SLOW))
def test_random_programs_do_what_spike_does(core: str) -> None:
    # A seed for each number of wait states.
    instructions = check(case_of_seed(core, seed, PIECES) for seed in range(6))
    assert instructions > 10_000


def test_a_fresh_random_program_does_what_spike_does() -> None:
    seed = random.SystemRandom().randrange(1 << 31)
    quick = [core for core in CORES if core not in SLOW]
    case = case_of_seed(random.Random(seed).choice(quick), seed, PIECES)
    print(case.command)
    assert check([case]) > 0


@pytest.mark.slow
def test_ten_million_instructions_do_what_spike_does() -> None:
    instructions = 0
    first = 1000
    while instructions < MANY:
        batch = [case_of_seed(core, first + n, 600) for core in CORES for n in range(20)]
        instructions += check(batch)
        first += 20
