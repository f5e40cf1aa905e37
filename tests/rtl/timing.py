"""When the instructions of a piece of code issue."""

from __future__ import annotations

import itertools

import encoding as rv
from bench import RAM, Bench
from programs import finish, start

# Not x1 or x5: a jump through those is a return.
A, B, C = 6, 7, 8
LOCAL, DEVICE = 10, 11
#: Behind what tier 0 begins with.
PROGRAM_OFFSET = 0x40


class Timing:
    """Runs code and tells when each of its instructions issued."""

    def __init__(self, dut) -> None:
        self.bench = Bench(dut)
        self.base = self.bench.params.reset_address
        #: Where the code stood when it ran last.
        self.begin = 0
        #: The cycle of the first instruction's issue when the code ran last, in tier 0.
        self.first = 0

    async def issues(self, code: list[int], prologue: list[int] = ()) -> list[list[int]]:
        """Cycles, relative to the first instruction's issue, in which each word issued.

        They are the same in every tier: in those above tier 0, which loops, and in that, the last.
        """
        setup = [*rv.li(LOCAL, self.bench.params.dmem.base), *rv.li(DEVICE, RAM), *prologue]
        # An even number of words, so that the code begins with a pair, and time to fetch it.
        setup += [rv.r_type("div", 1, LOCAL, LOCAL)] + [rv.NOP] * (1 + len(setup) % 2)
        program = self.base + PROGRAM_OFFSET
        self.begin = self.bench.load(program, setup)
        self.bench.load(self.begin, [*code, *finish()])
        found = []
        for tier in reversed(range(self.bench.params.tiers)):
            entry = [*start({tier: program}), rv.jal(0, 0)] if tier else [rv.jal(0, PROGRAM_OFFSET)]
            await self.bench.execute(entry)
            cycles = [self.bench.seen.at(self.begin + 4 * n, tier) for n in range(len(code))]
            self.first = cycles[0][0]
            found.append([[cycle - self.first for cycle in some] for some in cycles])
        assert all(times == found[-1] for times in found), f"from the top tier down: {found}"
        return found[-1]

    async def gaps(self, code: list[int], prologue: list[int] = ()) -> list[int]:
        """Cycles from each instruction to the next, of code that runs through once."""
        issues = [cycles[0] for cycles in await self.issues(code, prologue)]
        return [b - a for a, b in itertools.pairwise(issues)]
