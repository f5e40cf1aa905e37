"""How many cycles instructions take: the figures of the manual, exactly."""

from __future__ import annotations

import itertools
import random
from typing import NamedTuple

import cocotb
import encoding as rv
from programs import CSR, MEI, read, write
from timing import LOCAL, A, B, C, Timing

#: Bubbles ahead of the use of a result; none for others.
BUBBLES = {
    "lb": 2, "lh": 1, "lw": 1, "lbu": 1, "lhu": 1, "mul": 1, "mulh": 2, "mulhsu": 2, "mulhu": 2,
    "csrrs": 2,
}  # fmt: skip
#: Branches that are never taken when they compare a register with itself.
NEVER_TAKEN = ("bne", "blt", "bltu")
UPPERS = {"lui": rv.lui, "auipc": rv.auipc}
CSRS = ("csrrs",)
#: More of those behind which others wait.
KINDS = [
    tuple(kind)
    for kind in (
        UPPERS, rv.SHIFTS, rv.I_TYPE, rv.INTEGER_R_TYPE, rv.STORES, NEVER_TAKEN,
        CSRS, rv.MULTIPLICATIONS, rv.MULTIPLICATIONS, rv.LOADS, rv.LOADS,
    )
]  # fmt: skip
#: Cycles from a load to an instruction that overwrites its result and does not read it.
OVERWRITE_CYCLES = 3
#: From a CSR instruction to the next one, which reads in X what the first one writes in M.
CSR_CYCLES = 2
#: Cycles from an instruction to the next one where stage M finds only late that it must be fetched.
LATE_REDIRECT = 7
#: From the issue of the instruction before a division to that of the one behind it.
DIVISION_CYCLES = 39


@cocotb.test()
async def an_instruction_issues_in_every_cycle(dut):
    timing = Timing(dut)
    code = [rv.addi(A, A, 1), rv.r_type("add", B, A, A), rv.r_type("xor", A, B, A)] * 20
    assert set(await timing.gaps(code)) == {1}


@cocotb.test()
async def independent_loads_stores_and_multiplications_issue_in_every_cycle(dut):
    timing = Timing(dut)
    code = [
        rv.load("lw", A, LOCAL, 0),
        rv.store("sw", 0, LOCAL, 4),
        rv.r_type("mul", B, LOCAL, LOCAL),
        rv.load("lb", C, LOCAL, 8),
    ] * 5
    assert set(await timing.gaps(code)) == {1}


@cocotb.test()
async def a_result_costs_bubbles_by_its_producer(dut):
    timing = Timing(dut)
    producers = {
        "addi": rv.addi(A, LOCAL, 1),
        "auipc": rv.auipc(A, 0),
        **{name: rv.load(name, A, LOCAL, 0) for name in rv.LOADS},
        **{name: rv.r_type(name, A, LOCAL, LOCAL) for name in rv.MULTIPLICATIONS},
        "csrrs": read("mscratch", A),
    }
    consumers = [
        rv.r_type("add", B, A, 0),
        rv.r_type("add", B, 0, A),
        rv.store("sw", A, LOCAL, 0),
        rv.branch("bne", A, A, 8),
        rv.r_type("mul", B, A, A),
    ]
    for name, producer in producers.items():
        bubbles = BUBBLES.get(name, 0)
        for consumer, distance, ahead in itertools.product(consumers, range(1, 5), range(2)):
            behind = [producer, *[rv.NOP] * (distance - 1), consumer, rv.NOP]
            issues = (await timing.issues([rv.NOP] * ahead + behind))[ahead:]
            expected = distance + max(0, bubbles - (distance - 1))
            assert issues[distance][0] - issues[0][0] == expected, (
                f"{name}, {consumer:#x} {distance} behind, {ahead}"
            )


@cocotb.test()
async def overwriting_a_loaded_register_waits_until_the_load_is_known_to_be_local(dut):
    timing = Timing(dut)
    # What also reads it waits for no more than the result: it comes again if the load is late.
    overwriting, using = rv.addi(A, 0, 1), rv.addi(A, A, 1)
    for name in ("lw", "lbu", "lb"):
        for (consumer, soonest), distance, ahead in itertools.product(
            ((overwriting, OVERWRITE_CYCLES), (using, 1 + BUBBLES[name])), range(1, 5), range(2)
        ):
            behind = [rv.load(name, A, LOCAL, 0), *[rv.NOP] * (distance - 1), consumer]
            issues = (await timing.issues([rv.NOP] * ahead + behind))[ahead:]
            cycles = issues[distance][0] - issues[0][0]
            assert cycles == max(soonest, distance), f"{name}, {distance} behind, {ahead}"


class Instruction(NamedTuple):
    """One that goes on to the next word."""

    word: int
    name: str
    #: Written, if it is not 0.
    rd: int
    reads: set[int]


def any_instruction(rng: random.Random) -> Instruction:
    name = rng.choice(rng.choice(KINDS))
    rd, rs1, rs2 = (rng.choice((0, A, B, C, 28, 31)) for _ in range(3))
    offset = rng.randrange(0, 1024, 4)
    if name in UPPERS:
        return Instruction(UPPERS[name](rd, rng.randrange(1 << 20)), name, rd, set())
    if name in rv.SHIFTS:
        return Instruction(rv.shift(name, rd, rs1, rng.randrange(32)), name, rd, {rs1})
    if name in rv.I_TYPE:
        return Instruction(rv.i_type(name, rd, rs1, rng.randrange(-2048, 2048)), name, rd, {rs1})
    if name in NEVER_TAKEN:
        return Instruction(rv.branch(name, rs1, rs1, 4 + offset), name, 0, {rs1})
    if name in rv.STORES:
        return Instruction(rv.store(name, rs2, LOCAL, offset), name, 0, {LOCAL, rs2})
    if name in rv.LOADS:
        return Instruction(rv.load(name, rd, LOCAL, offset), name, rd, {LOCAL})
    if name in CSRS:
        return Instruction(read("mscratch", rd), name, rd, set())
    return Instruction(rv.r_type(name, rd, rs1, rs2), name, rd, {rs1, rs2})


def cycles_between(earlier: Instruction, later: Instruction) -> int:
    """Cycles from the issue of one instruction to the soonest one of another behind it."""
    cycles = 1
    if earlier.rd and earlier.rd in later.reads:
        cycles = 1 + BUBBLES.get(earlier.name, 0)
    elif earlier.rd and earlier.rd == later.rd and earlier.name in rv.LOADS:
        cycles = OVERWRITE_CYCLES
    if earlier.name in CSRS and later.name in CSRS:
        cycles = max(cycles, CSR_CYCLES)
    return cycles


@cocotb.test()
async def no_instruction_waits_for_more_than_the_manual_says(dut):
    timing = Timing(dut)
    rng = random.Random(1)
    for _ in range(12):
        code = [any_instruction(rng) for _ in range(200)]
        expected = [0]
        for number, instruction in enumerate(code[1:], 1):
            # Nothing waits for one that issued four cycles ago.
            near = range(max(0, number - 3), number)
            expected.append(max(expected[n] + cycles_between(code[n], instruction) for n in near))
        issues = [cycles[0] for cycles in await timing.issues([each.word for each in code])]
        for number, (found, cycle) in enumerate(zip(issues, expected, strict=True)):
            assert found == cycle, f"{number}: {code[max(0, number - 3) : number + 1]}"


@cocotb.test()
async def a_csr_behind_a_csr_waits_a_cycle_and_a_claim_two(dut):
    timing = Timing(dut)
    assert (await timing.gaps([read("mcycle", A), read("mcycle", B), rv.NOP])) == [CSR_CYCLES, 1]
    # The line that is claimed is found two stages before M.
    claim = read("mlineclaim", B)
    assert (await timing.gaps([read("mcycle", A), claim, rv.NOP])) == [3, 1]
    assert (await timing.gaps([read("mcycle", A), rv.NOP, claim, rv.NOP])) == [1, 2, 1]


@cocotb.test()
async def a_wfi_behind_a_csr_does_not_wait(dut):
    timing = Timing(dut)
    bench = timing.bench
    bench.each_cycle.append(lambda: setattr(bench, "lines", 1))
    prologue = [*write("mlinemask", 1), *write("mie", MEI)]
    for ahead in range(2):
        code = [*[rv.NOP] * (1 + ahead), read("mcycle", A), rv.WFI, rv.NOP]
        assert (await timing.gaps(code, prologue))[-3:-1] == [1, 1]


@cocotb.test()
async def writing_some_csrs_fetches_again(dut):
    timing = Timing(dut)
    others = ("mscratch", "mepc", "mie", "mpost")
    again = ("mtvec", "mceiling", "mbusmode", "mlinemask", "mlineedge", "mlineprio0")
    for name in (*others, *again):
        cycles = 1 if name in others else LATE_REDIRECT
        gaps = await timing.gaps([rv.csr("csrrw", 0, CSR[name], 0), rv.NOP, rv.NOP])
        assert gaps[0] == cycles, f"{name}: {gaps}"


@cocotb.test()
async def a_division_takes_the_same_time_for_all_operands(dut):
    timing = Timing(dut)
    times = set()
    slots = set()
    for first, second in ((0, 0), (1, 1), (0x8000_0000, 0xFFFF_FFFF), (0xFFFF_FFFF, 3)):
        for name in rv.DIVISIONS:
            code = [rv.NOP, rv.NOP, rv.r_type(name, C, A, B), rv.NOP, rv.NOP]
            # All that counts is when the next instruction issues.
            issues = await timing.issues(code, [*rv.li(A, first), *rv.li(B, second)])
            times.add(issues[3][0] - issues[1][0])
            (again,) = issues[2]
            issued = [cycle - timing.first for cycle in timing.bench.seen.issued(0)]
            slots.add(len([cycle for cycle in issued if again - 37 <= cycle <= again]))
    assert len(times) == 1, times
    dut._log.info("division: %d cycles from the instruction before to the one behind", *times)
    assert times == {DIVISION_CYCLES}
    assert slots == {4}, slots


@cocotb.test()
async def a_trap_and_a_return_cost_four_cycles_each(dut):
    timing = Timing(dut)
    bench = timing.bench
    handler = timing.base + 0x400
    bench.load(handler, [read("mepc", A), rv.addi(A, A, 4), rv.csr("csrrw", 0, CSR["mepc"], A),
                         rv.NOP, rv.NOP, rv.NOP, rv.MRET])  # fmt: skip
    prologue = [*rv.li(A, handler), rv.csr("csrrw", 0, CSR["mtvec"], A)]
    await timing.issues([rv.NOP, rv.NOP, rv.ECALL, rv.NOP, rv.NOP], prologue)
    entered = bench.seen.at(handler)[0]
    left = bench.seen.at(handler + 24)[0]
    before = [r for r in bench.seen.of(0) if r.issued < entered][-1]
    # The ecall issued a cycle after the instruction before it.
    assert entered - (before.issued + 1) == 5
    after = next(r for r in bench.seen.of(0) if r.issued > left)
    assert after.issued - left == 5
