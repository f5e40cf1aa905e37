"""Branches are expected to do what they did when their past was the same."""

from __future__ import annotations

import itertools
import random

import cocotb
import encoding as rv
from branch_model import BranchModel
from timing import A, B, C, Timing

ROUNDS = 32
#: The round behind which the loop ends.
LAST = ROUNDS - 1


def patterns(rng: random.Random):
    """Ways in which a branch breaks the rule or does not: repeated, and at random."""
    for length in (1, 2, 3, 7):
        period = [rng.getrandbits(1) for _ in range(length)]
        yield [period[n % length] for n in range(ROUNDS)]
    yield [rng.getrandbits(1) for _ in range(ROUNDS)]


@cocotb.test()
async def branches_are_expected_to_do_what_they_did(dut):
    timing = Timing(dut)
    rng = random.Random(8)
    # The history is empty at first, and no branch retires but these and the loop's.
    model = BranchModel(timing.bench.params.branch_history_log2 - 1)
    hits = 0
    for odd, backward in itertools.product(range(2), range(2)):
        for broken in patterns(rng):
            if backward:
                jump = [rv.jal(0, 12), rv.jal(0, 16), rv.NOP, rv.branch("bne", A, 0, -8)]
            else:
                jump = [*[rv.NOP] * 3, rv.branch("bne", A, 0, 8)]
            # The fence lets the branch be fetched when the last round's is decided.
            code = [
                rv.FENCE_I, rv.i_type("andi", A, B, 1), *[rv.NOP] * odd, *jump, rv.NOP, rv.NOP,
                rv.shift("srli", B, B, 1), rv.addi(C, C, -1),
            ]  # fmt: skip
            code += [rv.NOP] * (len(code) % 2) + [rv.branch("bne", C, 0, -4 * len(code))]
            word = sum((bit ^ backward) << place for place, bit in enumerate(broken))
            issues = await timing.issues(code, [*rv.li(B, word), *rv.li(C, ROUNDS)])
            branch, loop = 2 + odd + 3, len(code) - 1
            behind = {1: branch - 2 if backward else branch + 2, 0: branch + 1}
            for number, (breaks, at) in enumerate(zip(broken, issues[branch], strict=True)):
                gap = min(cycle for cycle in issues[behind[breaks ^ backward]] if cycle > at) - at
                first = timing.begin // 4
                right = model.expected(first + branch) == breaks
                assert (gap == 5) == (not right), f"{odd}, {backward}, {broken}, {number}"
                hits += right
                for pc, breaks_now in ((first + branch, breaks), (first + loop, number == LAST)):
                    model.keep(pc, model.learn(pc, bool(breaks_now), model.find(pc)))
    assert hits > 0.7 * 4 * 5 * ROUNDS
