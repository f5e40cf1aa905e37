"""Which branches, jumps and returns are predicted, and what the others cost."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import Bench
from programs import finish, run_in
from switching import skipping_handler
from timing import LOCAL, A, B, C, Timing

#: Rounds in which a branch does the same, so that it is learnt.
LEARNT = 3
#: From a jump to the next where each is the first instruction behind the other.
JUMP_TO_JUMP_CYCLES = 3


@cocotb.test()
async def a_branch_costs_four_cycles_only_if_it_is_mispredicted(dut):
    timing = Timing(dut)
    # Backward taken: predicted. The last time it is not, and that is a misprediction.
    loop = [rv.addi(A, A, 1), rv.addi(A, A, -1), rv.addi(B, B, -1), rv.branch("bne", B, 0, -12)]
    issues = await timing.issues([*loop, rv.NOP, rv.NOP], [rv.addi(B, 0, 6)])
    assert issues[3] == [3 + 4 * n for n in range(6)]
    assert issues[4][0] - issues[3][-1] == 5
    # Forward not taken: predicted.
    assert (await timing.gaps([rv.branch("bne", 0, 0, 8), rv.NOP, rv.NOP])) == [1, 1]
    # Forward taken: not predicted. Behind the target, which is the first or second word of its
    # pair, nothing is lost.
    for target in (2, 3):
        code = [rv.branch("beq", 0, 0, 4 * target), *[rv.NOP] * 12]
        issues = await timing.issues(code)
        assert issues[target:] == [[5 + n] for n in range(len(code) - target)]


@cocotb.test()
async def a_branch_is_learnt_from_its_first_time(dut):
    timing = Timing(dut)
    # A forward branch that is always taken, in a loop.
    loop = [
        *[rv.NOP] * 8, rv.branch("beq", 0, 0, 8), rv.NOP, *[rv.NOP] * 4,
        rv.addi(B, B, -1), rv.branch("bne", B, 0, -60),
    ]  # fmt: skip
    issues = await timing.issues([*loop, rv.NOP], [rv.addi(B, 0, 6)])
    times = [after - before for before, after in zip(issues[8], issues[10], strict=True)]
    assert times == [5, 1, 1, 1, 1, 1]


@cocotb.test()
async def jumps_are_followed_without_a_bubble(dut):
    timing = Timing(dut)
    issues = await timing.issues([rv.NOP, rv.NOP, rv.jal(0, 16), *[rv.NOP] * 3, *[rv.NOP] * 3])
    assert issues[6][0] - issues[2][0] == 1


@cocotb.test()
async def a_jump_right_behind_another_one_costs_two_bubbles(dut):
    # A pair's jump is found in the cycle after its arrival; then its target is fetched.
    timing = Timing(dut)
    issues = await timing.issues([rv.jal(0, 8), rv.NOP] * 12 + [rv.NOP])
    gaps = [issues[n + 2][0] - issues[n][0] for n in range(0, 22, 2)]
    # The first ones have been fetched ahead.
    assert set(gaps[4:]) == {JUMP_TO_JUMP_CYCLES}, gaps


@cocotb.test()
async def calls_and_returns_are_followed_without_a_bubble(dut):
    timing = Timing(dut)
    for link in (1, 5):
        code = [
            rv.NOP, rv.jal(link, 20),
            rv.NOP, rv.NOP, rv.jal(0, 40),
            rv.NOP, rv.NOP, rv.NOP, rv.NOP, rv.NOP, rv.jalr(0, link, 0), *[rv.NOP] * 4,
        ]  # fmt: skip
        # As the first and as the second instruction of a pair, at the memory's begin and end.
        words = timing.bench.params.imem.size_bytes // 4
        far = [rv.jal(0, 4 * (words - 64)), *[0] * (words - 65)]
        for ahead, prologue in itertools.product((0, 1), ([], far)):
            issues = await timing.issues([rv.NOP] * ahead + code, prologue)
            what = f"{link}, {ahead}, {len(prologue)}"
            assert issues[ahead + 6][0] - issues[ahead + 1][0] == 1, f"call, {what}"
            assert issues[ahead + 2][0] - issues[ahead + 10][0] == 1, f"return, {what}"


@cocotb.test()
async def a_return_fetched_before_the_last_one_is_in_stage_m_is_not_predicted(dut):
    timing = Timing(dut)
    for ahead, between in itertools.product((0, 1), range(10)):
        # A function that returns so many instructions behind its call of another one.
        code = [
            rv.NOP, rv.jal(1, 16), rv.NOP, rv.NOP, rv.jal(0, 4 * (between + 13)),
            rv.NOP, rv.jal(5, 4 * (between + 6)), *[rv.NOP] * between, rv.jalr(0, 1, 0),
            *[rv.NOP] * 6, rv.jalr(0, 5, 0), rv.NOP, rv.NOP,
        ]  # fmt: skip
        issues = await timing.issues([rv.NOP] * ahead + code)
        inner, outer = (ahead + code.index(rv.jalr(0, link, 0)) for link in (5, 1))
        assert issues[ahead + 7][0] - issues[inner][0] == 1
        # So far ahead is fetched, from the second and from the first word of a pair on.
        gap = 5 if between < (5, 8)[ahead] else 1
        assert issues[ahead + 2][0] - issues[outer][0] == gap, f"{ahead}, {between} between"


@cocotb.test()
async def a_return_that_is_dropped_does_not_keep_others_from_being_predicted(dut):
    timing = Timing(dut)
    # The load traps, and the handler skips the return, too.
    dropped = [rv.load("lw", A, LOCAL, 1), rv.jalr(0, 1, 0), *[rv.NOP] * 8]
    code = [*dropped, rv.jal(1, 16), rv.NOP, rv.NOP, rv.jal(0, 24), *[rv.NOP] * 3]
    code += [rv.jalr(0, 1, 0), *[rv.NOP] * 3]
    issues = await timing.issues([rv.NOP, *code], skipping_handler(timing.bench, 2))
    call = 1 + len(dropped)
    assert issues[call + 1][0] - issues[len(code) - 3][0] == 1


@cocotb.test()
async def an_indirect_jump_and_a_wrong_return_cost_four_bubbles(dut):
    timing = Timing(dut)
    place = [rv.auipc(A, 0), rv.addi(A, A, 20)]
    for jump in (rv.jalr(0, A, 0), rv.jalr(1, A, 0)):
        issues = await timing.issues([*place, rv.NOP, jump, rv.NOP, rv.NOP, rv.NOP])
        assert issues[5][0] - issues[3][0] == 5
    # A call, then a return to somewhere else.
    code = [
        rv.NOP, rv.jal(1, 8), rv.jal(0, 0),
        rv.addi(1, 1, 24), *[rv.NOP] * 3, rv.jalr(0, 1, 0), rv.NOP, rv.NOP,
    ]  # fmt: skip
    issues = await timing.issues(code)
    assert issues[8][0] - issues[7][0] == 5


def edges(bench: Bench) -> dict[str, tuple[int, int]]:
    """Where a jump stands close to an end of local instruction memory, and the end of it that a
    jump from there crosses."""
    imem = bench.params.imem
    return {
        "forward": (imem.base + imem.size_bytes - 0x40, imem.base + imem.size_bytes),
        "backward": (imem.base + 0x40, imem.base - 0x40),
    }


@cocotb.test()
async def a_branch_out_of_local_memory_goes_where_it_should_whatever_was_learnt(dut):
    bench = Bench(dut)
    rounds = [1] * LEARNT + [0] * 2 + [1] * 2 + [0] * LEARNT + [1]
    for (name, (at, outside)), odd, target in itertools.product(
        edges(bench).items(), range(2), range(2)
    ):
        pc, there = at + 4 * odd, outside + 4 * target
        bench.load(pc, [rv.branch("bne", A, 0, there - pc), rv.NOP, rv.jalr(0, C, 0)])
        bench.load(there, [rv.NOP, rv.jalr(0, C, 0), *[rv.NOP] * 4])
        code = rv.li(B, pc)
        for taken in rounds:
            code += [rv.addi(A, 0, taken), rv.auipc(C, 0), rv.addi(C, C, 12), rv.jalr(0, B, 0)]
        base = await run_in(bench, 0, code)
        inside = range(base, base + 4 * len(code))
        found = [r.pc for r in bench.seen.of(0) if r.pc not in inside]
        expected = [
            place for taken in rounds
            for place in (pc, *((there, there + 4) if taken else (pc + 4, pc + 8)))
        ]  # fmt: skip
        start = found.index(pc)
        assert found[start : start + len(expected)] == expected, f"{name}, {odd}, {target}"


@cocotb.test()
async def nothing_issues_behind_a_jump_out_of_local_memory(dut):
    bench = Bench(dut)
    for (name, (at, outside)), odd in itertools.product(edges(bench).items(), range(2)):
        # The division leaves time to fetch ahead.
        ahead = [rv.r_type("div", B, A, A), *[rv.NOP] * (1 + odd)]
        pc = at + 4 * len(ahead)
        bench.load(at, [*ahead, rv.jal(0, outside - pc), *[rv.NOP] * 8])
        bench.load(outside, finish())
        await run_in(bench, 0, [*rv.li(A, at), rv.jalr(0, A, 0)])
        (jump,), (behind,) = bench.seen.at(pc), bench.seen.at(outside)
        between = [cycle for cycle in bench.seen.issued(0) if jump < cycle < behind]
        assert not between, f"{name}, {odd}: {between} between {jump} and {behind}"
