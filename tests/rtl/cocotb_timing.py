"""How many cycles instructions take: the figures of the manual, exactly."""

from __future__ import annotations

import itertools
import random
import re

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import CSR, MEI, finish, read, start, write

from tierv.rtl.document import MANUAL

# Not x1 or x5: a jump through those is a return.
A, B, C = 6, 7, 8
LOCAL, DEVICE = 10, 11
#: Behind what tier 0 begins with.
PROGRAM_OFFSET = 0x40

#: Cycles from an instruction to the next one where stage M finds only late that it must be fetched.
LATE_REDIRECT = 7
#: From the issue of the instruction before a division to that of the one behind it.
DIVISION_CYCLES = 39
#: From the issue of a buffered load without wait states to that of its first use right behind it.
BUFFERED_USE_CYCLES = 7
#: Rounds in which a counter of two bits comes to its end from anywhere.
KNOWN = 3
#: From a jump to the next where each is the first instruction behind the other.
JUMP_TO_JUMP_CYCLES = 3


def manual_rows() -> tuple[list[int], dict[tuple[str, str], list[float]]]:
    """The manual's table of rows of accesses: wait states, and cycles by what and mode."""
    lines = iter(MANUAL.read_text().splitlines())
    head = next(line for line in lines if line.startswith("| in a row |"))
    next(lines)
    rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in itertools.takewhile(lambda line: line.startswith("|"), lines)
    )
    cycles = {(what, mode): [float(cell) for cell in cells] for what, mode, *cells in rows}
    return [int(word) for word in re.findall(r"\d+", head)], cycles


class Timing:
    """Runs code and tells when each of its instructions issued."""

    def __init__(self, dut) -> None:
        self.bench = Bench(dut)
        self.base = self.bench.params.reset_address
        #: The cycle of the first instruction's issue when the code ran last, in tier 0.
        self.first = 0

    async def issues(self, code: list[int], prologue: list[int] = ()) -> list[list[int]]:
        """Cycles, relative to the first instruction's issue, in which each word issued.

        They are the same in a tier above tier 0, which waits, as in tier 0, which runs last.
        """
        setup = [*rv.li(LOCAL, self.bench.params.dmem.base), *rv.li(DEVICE, RAM), *prologue]
        # An even number of words, so that the code begins with a pair, and time to fetch it.
        setup += [rv.r_type("div", 1, LOCAL, LOCAL)] + [rv.NOP] * (1 + len(setup) % 2)
        program = self.base + PROGRAM_OFFSET
        begin = self.bench.load(program, setup)
        self.bench.load(begin, [*code, *finish()])
        found = []
        for tier in reversed(range(self.bench.params.tiers)):
            entry = [*start({tier: program}), rv.jal(0, 0)] if tier else [rv.jal(0, PROGRAM_OFFSET)]
            await self.bench.execute(entry)
            cycles = [self.bench.seen.at(begin + 4 * n, tier) for n in range(len(code))]
            self.first = cycles[0][0]
            found.append([[cycle - self.first for cycle in some] for some in cycles])
        assert all(times == found[-1] for times in found), f"from the top tier down: {found}"
        return found[-1]

    async def gaps(self, code: list[int], prologue: list[int] = ()) -> list[int]:
        """Cycles from each instruction to the next, of code that runs through once."""
        issues = [cycles[0] for cycles in await self.issues(code, prologue)]
        return [b - a for a, b in itertools.pairwise(issues)]


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
        "alu": (rv.addi(A, LOCAL, 1), 0),
        "link": (rv.auipc(A, 0), 0),
        "word": (rv.load("lw", A, LOCAL, 0), 1),
        "half": (rv.load("lhu", A, LOCAL, 0), 2),
        "byte": (rv.load("lb", A, LOCAL, 0), 2),
        "multiply": (rv.r_type("mul", A, LOCAL, LOCAL), 2),
        "csr": (read("mscratch", A), 2),
    }
    consumers = [
        rv.r_type("add", B, A, 0),
        rv.r_type("add", B, 0, A),
        rv.store("sw", A, LOCAL, 0),
        rv.branch("bne", A, A, 8),
        rv.r_type("mul", B, A, A),
    ]
    for name, (producer, bubbles) in producers.items():
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
    consumers = (rv.addi(A, A, 1), rv.addi(A, 0, 1))
    for name, consumer in itertools.product(("lw", "lb"), consumers):
        for distance, ahead in itertools.product(range(1, 5), range(2)):
            behind = [rv.load(name, A, LOCAL, 0), *[rv.NOP] * (distance - 1), consumer]
            issues = (await timing.issues([rv.NOP] * ahead + behind))[ahead:]
            cycles = issues[distance][0] - issues[0][0]
            assert cycles == max(3, distance), f"{name}, {distance} behind, {ahead}"


@cocotb.test()
async def a_csr_behind_a_csr_waits_a_cycle_and_a_claim_two(dut):
    # The second one reads in X what the first one writes in M.
    timing = Timing(dut)
    assert (await timing.gaps([read("mcycle", A), read("mcycle", B), rv.NOP])) == [2, 1]
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
    for name, cycles in (
        ("mscratch", 1), ("mepc", 1), ("mie", 1), ("mpost", 1),
        ("mtvec", LATE_REDIRECT), ("mlinemask", LATE_REDIRECT), ("mceiling", LATE_REDIRECT),
    ):  # fmt: skip
        gaps = await timing.gaps([rv.csr("csrrw", 0, CSR[name], 0), rv.NOP, rv.NOP])
        assert gaps[0] == cycles, f"{name}: {gaps}"


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
async def a_branch_is_learnt_after_two_times(dut):
    timing = Timing(dut)
    # A forward branch that is always taken, in a loop.
    loop = [
        *[rv.NOP] * 8, rv.branch("beq", 0, 0, 8), rv.NOP, *[rv.NOP] * 4,
        rv.addi(B, B, -1), rv.branch("bne", B, 0, -60),
    ]  # fmt: skip
    issues = await timing.issues([*loop, rv.NOP], [rv.addi(B, 0, 6)])
    times = [after - before for before, after in zip(issues[8], issues[10], strict=True)]
    assert times == [5, 5, 1, 1, 1, 1]


@cocotb.test()
async def branches_are_predicted_by_a_counter_of_two_bits_each(dut):
    timing = Timing(dut)
    rng = random.Random(8)
    for odd, backward, _ in itertools.product(range(2), range(2), range(3)):
        # After so many as a branch of this direction is thought to go the counter is 0.
        directions = [backward] * KNOWN + [rng.getrandbits(1) for _ in range(32 - KNOWN)]
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
        word = sum(bit << place for place, bit in enumerate(directions))
        issues = await timing.issues(code, [*rv.li(B, word), *rv.li(C, 32)])
        branch = 2 + odd + 3
        behind = {1: branch - 2 if backward else branch + 2, 0: branch + 1}
        counter = 0
        for number, (taken, at) in enumerate(zip(directions, issues[branch], strict=True)):
            predicted = backward ^ (counter >> 1)
            gap = min(cycle for cycle in issues[behind[taken]] if cycle > at) - at
            if number >= KNOWN:
                assert (gap == 5) == (taken != predicted), f"{odd}, {directions}, {number}"
            counter = min(counter + 1, 3) if taken != backward else max(counter - 1, 0)


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
    handler = timing.base + 0x400
    skip = [read("mepc", A), rv.addi(A, A, 8), rv.csr("csrrw", 0, CSR["mepc"], A), rv.MRET]
    timing.bench.load(handler, skip)
    dropped = [rv.load("lw", A, LOCAL, 1), rv.jalr(0, 1, 0), *[rv.NOP] * 8]
    code = [*dropped, rv.jal(1, 16), rv.NOP, rv.NOP, rv.jal(0, 24), *[rv.NOP] * 3]
    code += [rv.jalr(0, 1, 0), *[rv.NOP] * 3]
    issues = await timing.issues([rv.NOP, *code], write("mtvec", handler))
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


@cocotb.test()
async def a_division_takes_the_same_time_for_all_operands(dut):
    timing = Timing(dut)
    times = set()
    slots = set()
    for first, second in ((0, 0), (1, 1), (0x8000_0000, 0xFFFF_FFFF), (0xFFFF_FFFF, 3)):
        for name in ("div", "divu", "rem", "remu"):
            code = [rv.NOP, rv.NOP, rv.r_type(name, C, A, B), rv.NOP, rv.NOP]
            # All that counts is when the next instruction issues.
            issues = await timing.issues(code, [*rv.li(A, first), *rv.li(B, second)])
            times.add(issues[3][0] - issues[1][0])
            (again,) = issues[2]
            issued = [cycle - timing.first for cycle in timing.bench.seen.issued(0)]
            slots.add(len([cycle for cycle in issued if again - 37 <= cycle <= again]))
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


def precise_access_cycles(last: int, wait_states: int) -> int:
    """What a precise access costs behind one of so many wait states, as the manual says it."""
    behind_its_end = wait_states + 7
    expected = min(max(last, 2), 15)
    if wait_states <= expected:
        return min(behind_its_end, expected + 4)
    return max(behind_its_end, expected + 9)


@cocotb.test()
async def bus_accesses_take_their_wait_states(dut):
    timing = Timing(dut)
    for name, instruction in (("load", rv.load("lw", A, DEVICE, 0)),
                              ("store", rv.store("sw", A, DEVICE, 0))):  # fmt: skip
        for wait_states in range(6):
            timing.bench.bus.wait_states = lambda address, n=wait_states: n
            issues = await timing.issues([rv.NOP, rv.NOP, instruction, rv.NOP, rv.NOP])
            cycles = issues[3][0] - issues[1][0] - 1
            # As if the one before it, which is none, had been short.
            assert cycles == precise_access_cycles(0, wait_states), f"{name}, {wait_states}"


@cocotb.test()
async def a_bus_access_is_expected_to_take_what_the_last_one_took(dut):
    timing = Timing(dut)
    code = [rv.load("lw", A, DEVICE, 0), rv.NOP, rv.NOP, rv.load("lw", B, DEVICE, 4), rv.NOP]
    some = (0, 2, 3, 4, 5, 8, 14, 15, 16, 20)
    for last, this in itertools.product(some, repeat=2):
        timing.bench.bus.wait_states = lambda address, n=(last, this): n[address == RAM + 4]
        issues = await timing.issues(code)
        cycles = issues[4][0] - issues[2][0] - 1
        expected = precise_access_cycles(last, this)
        assert cycles == expected, f"{this} wait states behind {last}: {cycles}, not {expected}"


@cocotb.test()
async def rows_of_bus_accesses_take_what_the_manual_says(dut):
    timing = Timing(dut)
    head, told = manual_rows()
    registers = range(12, 24)
    load = {n: rv.load("lw", n, DEVICE, 4 * n) for n in registers}
    bodies = {
        "loads": lambda n: [load[n]],
        "stores": lambda n: [rv.store("sw", n, DEVICE, 4 * n)],
        "loads, each used at once": lambda n: [load[n], rv.addi(A, n, 1)],
        "copies from the bus": lambda n: [load[n], rv.store("sw", n, LOCAL, 4 * n)],
        "copies to the bus": lambda n: [
            rv.load("lw", n, LOCAL, 4 * n),
            rv.store("sw", n, DEVICE, 4 * n),
        ],
        "copies on the bus": lambda n: [load[n], rv.store("sw", n, DEVICE, 0x80)],
    }
    found = {}
    for mode, name in enumerate(("precise", "buffered")):
        prologue = [rv.csr("csrrwi", 0, CSR["mbusmode"], mode)]
        for what, body in bodies.items():
            code = [word for n in registers for word in body(n)]
            found[what, name] = []
            for wait_states in head:
                timing.bench.bus.wait_states = lambda address, n=wait_states: n
                issues = await timing.issues([*code, rv.FENCE, rv.NOP], prologue)
                starts = [cycles[0] for cycles in issues[: len(code) : len(code) // 12]]
                # Without the first ones, which nothing precedes.
                found[what, name].append((starts[11] - starts[3]) / 8)
    assert found == told, "\n".join(str(row) for row in found.items() if told[row[0]] != row[1])


@cocotb.test()
async def a_buffered_store_costs_one_cycle(dut):
    timing = Timing(dut)
    code = [rv.NOP, rv.store("sw", A, DEVICE, 0), rv.NOP, rv.NOP, rv.NOP]
    assert set(await timing.gaps(code, [rv.csr("csrrwi", 0, CSR["mbusmode"], 1)])) == {1}


@cocotb.test()
async def a_buffered_load_costs_one_cycle_until_its_result_is_used(dut):
    timing = Timing(dut)
    code = [rv.NOP, rv.load("lw", A, DEVICE, 0), *[rv.NOP] * 8, rv.addi(B, A, 1)]
    mode = [rv.csr("csrrwi", 0, CSR["mbusmode"], 1)]
    assert set(await timing.gaps(code, mode)) == {1}
    code = [rv.NOP, rv.load("lw", A, DEVICE, 0), rv.addi(B, A, 1), rv.NOP]
    gaps = await timing.gaps(code, mode)
    dut._log.info("buffered load-use: %s", gaps)
    assert gaps[1] == BUFFERED_USE_CYCLES
