"""From one tier to another and back: no slot is lost, and the urgent tier always comes at once."""

from __future__ import annotations

import itertools
from collections import Counter

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import CSR, MIE, finish, place, start, waiting_loop, write
from switching import begin, issue_patterns, lower_programs, raise_line

A, B, C, COUNT = 6, 7, 8, 9
LOCAL, DEVICE = 10, 11
#: From the cycle in which a line is seen to the one in which the handler's instruction issues.
LATENCY = 1


@cocotb.test()
async def the_handler_issues_in_the_cycle_after_its_line_rises_whatever_runs_below(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    histogram = Counter()
    for name, lower in lower_programs(bench).items():
        for wait_states in (0, 3):
            if wait_states and "bus" not in name:
                continue
            bench.bus.wait_states = lambda address, n=wait_states: n
            await begin(bench, lower, [rv.addi(A, A, 1)] * 4, tier)
            # One phase further each time, 40 phases.
            for _ in range(40):
                rise, issued = await raise_line(bench, 1, tier, 60)
                assert issued, f"{name}: the handler does not run"
                histogram[issued[0] - rise] += 1
                assert issued[0] - rise == LATENCY, f"{name} at {rise}"
                # And in every cycle from then on: the body and the jump back.
                assert issued[:5] == [*range(issued[0], issued[0] + 5)], f"{name}: {issued}"
    assert set(histogram) == {LATENCY}
    dut._log.info("latency: %s", dict(histogram))


@cocotb.test()
async def the_handler_issues_in_the_cycle_after_its_line_rises_if_all_lower_tiers_wait(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    await begin(bench, [rv.WFI], [rv.addi(A, A, 1)] * 4, tier)
    for wait in range(1, 30):
        rise, issued = await raise_line(bench, wait, tier)
        assert issued[0] - rise == LATENCY


@cocotb.test()
async def no_issue_slot_is_lost_in_or_out(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    # The handler has no bubble of its own but the jump back, which the lower tier fills.
    await begin(bench, [rv.addi(A, A, 1)] * 64, [rv.addi(A, A, 1)] * 6, tier)
    # So that the loop's end is not in the way: from its beginning.
    for wait in range(1, 20):
        rise, issued = await raise_line(bench, wait, tier, 30)
        window = range(rise - 1, rise + 12)
        everything = Counter(i.cycle for i in bench.seen.issues if i.cycle in window)
        assert all(everything[cycle] == 1 for cycle in window), f"{wait}: {everything}"
        lower = [cycle for cycle in bench.seen.issued(0) if cycle in window]
        assert len(lower) + len([c for c in issued if c in window]) == len(window)


@cocotb.test()
async def the_lower_tier_goes_on_in_the_slot_behind_the_handlers_wfi(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    # The wfi is the first and the second instruction of a pair.
    for ahead in (0, 1):
        lower, handler = [rv.addi(A, A, 1)] * 64, [rv.addi(A, A, 1)] * 8
        wfi = await begin(bench, lower, handler, tier, ahead) - 4
        for wait in range(1, 12):
            rise, _ = await raise_line(bench, wait, tier, 30)
            (again,) = [cycle for cycle in bench.seen.at(wfi, tier) if cycle > rise]
            assert again + 1 in bench.seen.issued(0), f"wfi at {wfi:#x}"


@cocotb.test()
async def most_slots_in_which_the_handler_has_no_instruction_go_to_the_tier_below(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    # A mispredicted branch, an indirect jump, a division, a bus access, a CSR that fetches again.
    handler = [
        rv.branch("bne", LOCAL, 0, 8), rv.NOP, rv.auipc(A, 0), rv.jalr(0, A, 8), rv.NOP,
        rv.r_type("divu", C, B, B), rv.load("lw", C, DEVICE, 0), *write("mceiling", 0), rv.NOP,
    ]  # fmt: skip
    await begin(bench, [rv.addi(A, A, 1)] * 120, handler, tier)
    for wait in range(1, 10):
        rise, issued = await raise_line(bench, wait, tier, 100)
        holes = set(range(issued[0], issued[-1])) - set(issued)
        lost = holes - set(bench.seen.issued(0))
        # Where the handler fetches much, the tier below may run out of instructions.
        assert len(holes) > 40
        assert len(lost) <= len(holes) // 5, f"{lost} of {holes} lost after the rise at {rise}"


async def shares_of_slots(
    bench: Bench, tier: int, program: list[int], cycles: int = 200
) -> tuple[float, float]:
    """What tier 0, which adds and adds, and a more urgent tier get of all slots."""
    begins = 100
    bench.load(place(bench, tier), program)
    below = [rv.addi(A, A, 1)] * 64
    code = start({tier: place(bench, tier)})
    bench.load(place(bench, 0), [*code, *below, rv.jal(0, -4 * len(below))])
    await bench.reset()
    await bench.step(begins + cycles)
    lower, own = (
        sum(cycle >= begins for cycle in bench.seen.issued(one)) / cycles for one in (0, tier)
    )
    return lower, own


@cocotb.test()
async def a_short_loop_leaves_the_slots_that_it_has_no_instruction_for(dut):
    bench = Bench(dut)
    for tier, length, padding in itertools.product(range(1, bench.params.tiers), (1, 2, 3), (0, 1)):
        loop = [*[rv.addi(A, A, 1)] * length, rv.branch("beq", 0, 0, -4 * length)]
        shares = await shares_of_slots(bench, tier, [*[rv.NOP] * padding, *loop])
        assert sum(shares) >= 0.98, f"{length} and a branch, {padding}: {shares}"
        # Three cycles from a jump to the next, four if the loop is two instructions in two pairs.
        assert shares[1] >= 0.495, f"{length} and a branch, {padding}: {shares}"


@cocotb.test()
async def a_loop_that_polls_a_device_leaves_what_the_manual_says(dut):
    bench = Bench(dut)
    load = rv.load("lw", A, DEVICE, 0)
    plain = [load, rv.branch("beq", A, 0, -4)]
    tested = [load, rv.i_type("andi", A, A, 1), rv.branch("beq", A, 0, -8)]
    for loop, mode, waits, least, most in (
        (plain, 0, (0, 2), 0.21, 0.34),
        (plain, 0, (8,), 0.46, 0.48),
        (tested, 0, (0, 2), 0.09, 0.11),
        (tested, 0, (8,), 0.43, 0.45),
        *((loop, 1, (0, 2, 8), 0.26, 0.36) for loop in (plain, tested)),
        *((loop, 2, (0, 2, 8), 0.29, 0.61) for loop in (plain, tested)),
    ):
        for wait_states, padding, tier in itertools.product(
            waits, (0, 1), range(1, bench.params.tiers)
        ):
            bench.bus.wait_states = lambda address, n=wait_states: n
            setup = [*[rv.NOP] * padding, *rv.li(DEVICE, RAM), *write("mbusmode", mode)]
            # Whole rounds of the loops, nearly.
            lower, _ = await shares_of_slots(bench, tier, [*setup, *loop], cycles=480)
            assert least <= lower <= most, f"{lower} of {loop}, {wait_states}, mode {mode}"


@cocotb.test()
async def rows_of_bus_accesses_leave_what_the_manual_says(dut):
    bench = Bench(dut)
    load, store = rv.load("lw", A, DEVICE, 0), rv.store("sw", A, DEVICE, 4)
    others = [rv.load("lw", register, DEVICE, 0) for register in (A, B, C)]
    copy = [rv.load("lw", A, LOCAL, 0), store]
    setup = [*rv.li(LOCAL, bench.params.dmem.base), *rv.li(DEVICE, RAM)]
    for row, wait_states, mode, least, most in (
        *(([load], wait, 0, 0.08, 0.26) for wait in (0, 2)),
        *(([store], wait, mode, 0.08, 0.26) for wait in (0, 2) for mode in (0, 1)),
        *((others, wait, 1, 0.08, 0.26) for wait in (0, 2)),
        ([load], 0, 1, 0, 0),
        *((copy, wait, 1, 0, 0) for wait in (0, 1)),
        # With SHARING.
        ([load], 0, 3, 0.3, 0.5),
        (copy, 0, 3, 0.3, 0.5),
    ):
        bench.bus.wait_states = lambda address, n=wait_states: n
        program = [*setup, *write("mbusmode", mode), *row * (300 // len(row))]
        for tier in range(1, bench.params.tiers):
            lower, _ = await shares_of_slots(bench, tier, program)
            assert least <= lower <= most, f"{lower} of {row}, {wait_states}, mode {mode}"


@cocotb.test()
async def a_loop_that_polls_by_a_division_leaves_slots_but_no_division(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    loop = [rv.load("lw", A, DEVICE, 0), rv.r_type("divu", 0, B, B), rv.branch("beq", A, 0, -8)]
    program = [*rv.li(DEVICE, RAM), *loop]
    lower, _ = await shares_of_slots(bench, tier, program)
    assert lower > 0.6
    code = start({tier: place(bench, tier)})
    divides = bench.load(place(bench, 0), [*code, rv.addi(C, 0, 1)])
    bench.load(divides, [rv.r_type("divu", B, C, C), rv.NOP, rv.jal(0, 0)])
    await bench.reset()
    await bench.step(2000)
    assert bench.seen.at(divides - 4, 0)
    assert not bench.seen.at(divides + 4, 0)


@cocotb.test()
async def a_tier_that_waits_for_a_buffered_load_leaves_its_slots(dut):
    bench = Bench(dut)
    bench.bus.wait_states = lambda address: 20
    handler = [rv.load("lw", A, DEVICE, 0), rv.addi(B, A, 1)]
    for tier in range(1, bench.params.tiers):
        await begin(bench, [rv.addi(A, A, 1)] * 120, [*write("mbusmode", 1), *handler], tier)
        for wait in range(1, 10):
            _, issued = await raise_line(bench, wait, tier, 60)
            waits, ends = max(itertools.pairwise(issued), key=lambda cycles: cycles[1] - cycles[0])
            lost = set(range(waits + 1, ends)) - set(bench.seen.issued(0))
            assert ends - waits > 20
            # A few are kept free for the load to write its register.
            assert len(lost) < len(range(waits, ends)) // 2, f"tier {tier}: {lost} of {waits, ends}"


@cocotb.test()
async def a_tier_that_waits_is_not_called_back_by_what_redirects_another(dut):
    bench = Bench(dut)
    bench.bus.wait_states = lambda address: 30
    jump = [rv.auipc(A, 0), rv.jalr(0, A, 8)]
    use = rv.addi(B, A, 1)
    waits = {
        "load": [*write("mbusmode", 1), rv.load("lw", A, DEVICE, 0), use],
        "division": [rv.r_type("divu", A, B, B), use],
    }
    for tier, (name, handler) in itertools.product(range(1, bench.params.tiers), waits.items()):
        # Who does not run is told where to begin.
        idle = 2 if tier == 1 else 1
        tells = rv.csr("csrrw", 0, CSR[f"mtierpc{idle}"], A)
        await begin(bench, [*jump, tells] * 40, handler, tier)
        gaps = set()
        for wait in range(1, 10):
            _, issued = await raise_line(bench, wait, tier, 80)
            gaps.add(max(b - a for a, b in itertools.pairwise(issued)))
        assert len(gaps) == 1, f"a {name} in tier {tier}: {gaps}"


@cocotb.test()
async def an_instruction_that_waits_for_an_operand_keeps_its_slots(dut):
    # The use of a word or a product waits for one slot, that of a byte with its sign for two.
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    handler = [
        rv.load("lw", A, LOCAL, 0), rv.addi(B, A, 1), rv.load("lb", A, LOCAL, 0),
        rv.addi(B, A, 1), rv.r_type("mul", A, A, A), rv.addi(B, A, 1), rv.NOP, rv.NOP,
    ]  # fmt: skip
    await begin(bench, [rv.addi(A, A, 1)] * 64, handler, tier)
    for wait in range(1, 10):
        _, issued = await raise_line(bench, wait, tier, 40)
        own = issued[: len(handler)]
        assert [b - a for a, b in itertools.pairwise(own)] == [2, 1, 3, 1, 2, 1, 1]


@cocotb.test()
async def no_lower_tier_issues_in_a_slot_that_the_handler_could_use(dut):
    # Alone or with a busy tier below, the handler issues in the same cycles after its line.
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    handler = [
        rv.load("lw", A, LOCAL, 0), rv.addi(A, A, 1), rv.branch("beq", 0, 0, 8), rv.NOP,
        rv.r_type("mul", A, A, A), rv.addi(A, A, 1), rv.r_type("div", A, A, B), rv.addi(A, A, 1),
        rv.csr("csrrw", A, CSR["mscratch"], A), rv.store("sw", A, LOCAL, 0),
    ]  # fmt: skip
    patterns = {}
    for name, lower in {"wait": [rv.WFI], **lower_programs(bench)}.items():
        await begin(bench, lower, handler, tier)
        # Once, so that the branch history is the same.
        await raise_line(bench, 1, tier, 120)
        await raise_line(bench, 1, tier, 120)
        await raise_line(bench, 1, tier, 120)
        patterns[name] = await issue_patterns(bench, [1] * 8, tier, 120)
    assert len(patterns["wait"]) == 1
    assert all(seen == patterns["wait"] for seen in patterns.values()), patterns


@cocotb.test()
async def returns_are_predicted_whatever_other_tiers_call(dut):
    bench = Bench(dut)
    # Functions right behind their calls; the lower tier is in a long one when the handler comes.
    long = [*[rv.NOP] * 80, rv.jalr(0, 1, 0)]
    lower = [rv.jal(1, 12), rv.jal(1, 8), rv.jal(0, 4 * (len(long) + 1)), *long]
    function = [rv.load("lw", A, DEVICE, 0), *[rv.NOP] * 10, rv.jalr(0, 1, 0)]
    # A return that is dropped behind a branch. Each calls from two places.
    calls = [rv.branch("beq", 0, 0, 8), rv.jalr(0, 1, 0), rv.NOP,
             rv.jal(1, 20), rv.NOP, rv.jal(1, 12), rv.NOP]  # fmt: skip
    handler = [*calls, rv.jal(0, 4 * (len(function) + 1)), *function]
    for tier in (1, bench.params.tiers - 1):
        body = await begin(bench, lower, handler, tier)
        for wait in range(20):
            await raise_line(bench, 7 * wait, tier, cycles=100)
        at = bench.seen.at
        returns = at(body + 4 * (len(handler) - 1), tier)
        behind = sorted(at(body + 16, tier) + at(body + 24, tier))
        gaps = [after - before for before, after in zip(returns, behind, strict=True)]
        # The first ones are learnt.
        assert len(gaps) == 40
        assert set(gaps[4:]) == {1}, f"tier {tier}: {gaps}"

        last = max(r.pc for r in bench.seen.of(0) if r.pc < place(bench, 1))
        start_of_loop = last - 4 * len(lower)
        behind = at(start_of_loop + 4, 0) + at(start_of_loop + 8, 0)
        urgent = bench.seen.issued(tier)
        alone = {
            min(after for after in behind if after > before) - before
            for before in at(last - 4, 0)[2:-2]
            if not any(before - 15 < cycle < before + 10 for cycle in urgent)
        }
        assert alone == {1}, f"below tier {tier}: {alone}"


@cocotb.test()
async def handlers_nest_as_deep_as_there_are_tiers(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    # Tier n waits for line n; each handler is long enough to be interrupted by all above.
    code = start({tier: place(bench, tier) for tier in range(1, tiers)})
    code += [rv.addi(A, A, 1)] * 32
    bench.load(place(bench, 0), [*code, rv.jal(0, -128)])
    for tier in range(1, tiers):
        body = [rv.addi(A, A, 1)] * 40
        bench.load(place(bench, tier), waiting_loop(body, lines=1 << tier))
    await bench.reset()
    await bench.step(60 * tiers)
    rises = {}
    for tier in range(1, tiers):
        bench.lines |= 1 << tier
        rises[tier] = bench.cycle
        await bench.step(3)
    bench.lines = 0
    await bench.step(50 * tiers)
    begin_cycle, end_cycle = rises[1], bench.cycle
    for tier, rise in rises.items():
        issued = [cycle for cycle in bench.seen.issued(tier) if cycle >= rise]
        assert issued[0] - rise == LATENCY, f"tier {tier}"
        # The body, the jump back and wfi, once.
        assert len(issued) == 42, f"tier {tier} issued {len(issued)} instructions"
    # They end in the opposite order.
    last = [bench.seen.issued(tier)[-1] for tier in range(1, tiers)]
    assert last == sorted(last, reverse=True)
    issues = [i.cycle for i in bench.seen.issues if begin_cycle <= i.cycle < end_cycle]
    assert len(issues) == end_cycle - begin_cycle, "a slot was lost"


@cocotb.test()
async def a_post_wakes_a_more_urgent_tier_in_the_cycle_after_it(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    handler = [rv.addi(A, A, 1), rv.csr("csrrc", 0, CSR["mpost"], B)]
    waiting = [*rv.li(B, 1 << tier), *write("mie", 8), rv.WFI, *handler, rv.jal(0, -12)]
    bench.load(place(bench, tier), waiting)
    code = [*start({tier: place(bench, tier)}), *rv.li(A, 1 << tier), *rv.li(COUNT, 20)]
    loop = [rv.csr("csrrs", 0, CSR["mpost"], A), *[rv.NOP] * 40, rv.addi(COUNT, COUNT, -1)]
    code += [*[rv.NOP] * 60, *loop, rv.branch("bne", COUNT, 0, -4 * len(loop)), *finish()]
    await bench.execute(code)
    post = place(bench, 0) + 4 * code.index(loop[0])
    posts = [r.cycle for r in bench.seen.of(0) if r.pc == post]
    body = bench.seen.at(place(bench, tier) + 4 * (waiting.index(rv.WFI) + 1))
    # Stage M writes at the end of its cycle; the bit is seen in the next one.
    assert [b - a for a, b in zip(posts, body, strict=True)] == [1 + LATENCY] * 20


@cocotb.test()
async def an_ordinary_trap_in_the_lower_tier_does_not_delay_the_handler(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    lower = [rv.csr("csrrsi", 0, CSR["mstatus"], MIE), rv.ECALL, rv.EBREAK]
    await begin(bench, lower, [rv.addi(A, A, 1)] * 4, tier)
    for _ in range(60):
        rise, issued = await raise_line(bench, 1, tier, 40)
        assert issued[0] - rise == LATENCY
