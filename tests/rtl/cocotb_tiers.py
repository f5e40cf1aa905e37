"""Tiers start, stop, hold each other back and post to each other."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import RAM, Bench
from cocotb_switches import begin, place, raise_line
from programs import CSR, MSI, finish, read, start, waiting_loop, write

A, B, C, COUNT = 6, 7, 8, 9
LOCAL = 10


def bits(*tiers: int) -> int:
    return sum(1 << tier for tier in tiers)


@cocotb.test()
async def only_tier_0_runs_after_reset(dut):
    bench = Bench(dut)
    bench.load(place(bench, 0), [read("mtierrun", A), *[rv.NOP] * 20, *finish(A)])
    await bench.reset()
    assert await bench.run() == 1
    assert {issue.tier for issue in bench.seen.issues} == {0}
    assert bench.seen.retirements[0].pc == bench.params.reset_address


@cocotb.test()
async def a_tier_starts_at_its_address_with_its_argument(dut):
    bench = Bench(dut)
    for tier in range(1, bench.params.tiers):
        code = [*write(f"mtierarg{tier}", 0xCAFE_0000 + tier), *start({tier: place(bench, tier)})]
        bench.load(place(bench, 0), [*code, rv.jal(0, 0)])
        bench.load(place(bench, tier), [read("mscratch", A), *finish(A)])
        await bench.reset()
        assert await bench.run() == 0xCAFE_0000 + tier
        assert bench.seen.of(tier)[0].pc == place(bench, tier)
        identity = [read("mhartid", A), *finish(A)]
        bench.load(place(bench, tier), identity)
        await bench.reset()
        assert await bench.run() == tier


@cocotb.test()
async def mtierpc_reads_0_so_that_clearing_bits_leaves_0(dut):
    bench = Bench(dut)
    if bench.params.tiers == 1:
        return
    code = [*rv.li(A, place(bench, 1)), rv.csr("csrrw", 0, CSR["mtierpc1"], A)]
    code += [rv.csr("csrrc", 0, CSR["mtierpc1"], A), *write("mtierrun", 0b11)]
    bench.load(place(bench, 0), [*code, rv.jal(0, 0)])
    bench.load(0, [rv.NOP, *finish(A)])
    await bench.reset()
    await bench.run()
    assert bench.seen.of(1)[0].pc == 0


@cocotb.test()
async def several_tiers_start_at_once_and_the_most_urgent_runs_first(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    for tier in range(1, tiers):
        bench.load(place(bench, tier), [*[rv.addi(A, A, 1)] * 30, rv.WFI, rv.jal(0, -4)])
    code = start({tier: place(bench, tier) for tier in range(1, tiers)})
    bench.load(place(bench, 0), [*code, rv.jal(0, 0)])
    await bench.reset()
    await bench.step(200)
    ends = [bench.seen.of(tier)[-1].cycle for tier in range(1, tiers)]
    assert ends == sorted(ends, reverse=True)
    assert all(len(bench.seen.of(tier)) == 31 for tier in range(1, tiers))


@cocotb.test()
async def a_started_tier_ignores_pc_and_argument(dut):
    bench = Bench(dut)
    away = bench.params.reset_address + 0x7000
    bench.load(away, finish(0))
    code = [
        *write("mscratch", 5), *write("mtierpc0", away), *write("mtierarg0", 6),
        read("mscratch", A), *[rv.NOP] * 10,
    ]  # fmt: skip
    await bench.execute([*code, *finish(A)])
    assert bench.result == 5
    assert not bench.seen.at(away)


@cocotb.test()
async def mtierrun_starts_and_stops_those_that_it_names_in_every_form_of_access(dut):
    bench = Bench(dut)
    all_tiers = (1 << bench.params.tiers) - 1
    for tier in range(1, bench.params.tiers):
        bench.load(place(bench, tier), [rv.WFI, rv.jal(0, -4)])
    for before, source in itertools.product(range(0, all_tiers, 2), repeat=2):
        for form, after in (
            ("csrrw", source),
            ("csrrs", before | source),
            ("csrrc", before & ~source),
        ):
            # Tier 0, which asks, runs on.
            operand = source if form == "csrrc" else source | 1
            begun = start({t: place(bench, t) for t in range(1, 8) if before >> t & 1})
            code = [*begun, *[rv.NOP] * 20, *rv.li(A, operand)]
            code += [rv.csr(form, B, CSR["mtierrun"], A), *[rv.NOP] * 20, read("mtierrun", C)]
            code += [*rv.li(LOCAL, bench.params.dmem.base), rv.store("sw", B, LOCAL, 0)]
            await bench.execute([*code, *finish(C)])
            text = f"{form} {operand:#x} of {before | 1:#x}"
            assert bench.peek(bench.params.dmem.base) == before | 1, text
            assert bench.result == after | 1, f"{text} leaves {bench.result:#x}"


async def stopped_tier(bench: Bench, body: list[int], stop_after: int) -> None:
    """The top tier runs the body in a loop; tier 0, from a wfi on line 1, stops it.

    Ends long after that.
    """
    top = bench.params.tiers - 1
    bench.load(place(bench, top), [*rv.li(LOCAL, RAM), *rv.li(B, 7), *body,
                                   rv.jal(0, -4 * len(body))])  # fmt: skip
    code = [*start({top: place(bench, top)}), *rv.li(A, bits(top))]
    # Tier 0 has the slots that the top tier leaves, which are many as it divides or waits.
    code += [rv.csr("csrrc", 0, CSR["mtierrun"], A), *[rv.NOP] * 100, read("mtierrun", C)]
    code += [rv.csr("csrrs", 0, CSR["mtierrun"], A), *[rv.NOP] * 100]
    bench.load(place(bench, 0), [*code, *finish(C)])
    await bench.reset()
    await bench.run(20_000)


@cocotb.test()
async def a_stopped_tier_goes_on_where_it_was(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    bodies = {
        "divide": [rv.addi(COUNT, COUNT, 1), rv.r_type("div", C, COUNT, B)],
        "branch": [rv.branch("beq", 0, 0, 8), rv.NOP, rv.r_type("div", C, B, B)],
        "bus": [rv.load("lw", C, LOCAL, 0), rv.addi(C, C, 1), rv.store("sw", C, LOCAL, 0)],
        "jump": [rv.auipc(C, 0), rv.jalr(0, C, 8), rv.r_type("div", C, B, B)],
    }
    for name, body in bodies.items():
        for wait_states in (0, 3):
            bench.bus.wait_states = lambda address, n=wait_states: n
            await stopped_tier(bench, body, 0)
            assert bench.result == 1, f"{name}: mtierrun is {bench.result:#x} while it is stopped"
            retired = bench.seen.of(top)
            gaps = [(b.cycle - a.cycle, a, b) for a, b in itertools.pairwise(retired)]
            pause, last, following = max(gaps, key=lambda gap: gap[0])
            assert pause > 90, name
            # It goes on with what comes next in its program.
            nexts = {a.pc: b.pc for _, a, b in gaps if b is not following}
            expected = nexts.get(last.pc, last.pc + 4)
            assert following.pc == expected, f"{name}: {last} then {following}"
            bench.poke(RAM, 0)


@cocotb.test()
async def a_tier_that_stops_itself_executes_nothing_more(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    own = [*rv.li(A, bits(top)), rv.csr("csrrc", 0, CSR["mtierrun"], A), rv.addi(B, B, 1)]
    bench.load(place(bench, top), [*own, rv.store("sw", 0, LOCAL, 0), *finish(B)])
    code = [*start({top: place(bench, top)}), *[rv.NOP] * 60, read("mtierrun", C)]
    bench.load(place(bench, 0), [*code, *finish(C)])
    await bench.reset()
    assert await bench.run() == 1
    assert bench.seen.of(top)[-1].pc == place(bench, top) + 8


@cocotb.test()
async def a_stopped_tier_keeps_its_interrupt_enable(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    for tier in range(bench.params.tiers):
        other = 0 if tier else top
        own = [*write("mstatus", 8), *rv.li(A, bits(tier)), rv.csr("csrrc", 0, CSR["mtierrun"], A)]
        code = start({other: place(bench, other)}) if other else []
        bench.load(place(bench, tier), [*code, *own, *[rv.NOP] * 8, read("mstatus", B), *finish(B)])
        # Divided, so that a less urgent tier has slots, until the tier is no more started.
        code = [] if other else start({tier: place(bench, tier)})
        code += [*rv.li(A, bits(tier)), *rv.li(C, 1)]
        loop = [rv.r_type("div", C, C, C), read("mtierrun", B), rv.r_type("and", B, B, A)]
        code += [*loop, rv.branch("bne", B, 0, -4 * len(loop)), *[rv.NOP] * 40]
        code += [rv.csr("csrrs", 0, CSR["mtierrun"], A), rv.WFI, rv.jal(0, -4)]
        bench.load(place(bench, other), code)
        await bench.reset()
        assert await bench.run() == 0x1808, f"tier {tier}"


@cocotb.test()
async def a_stopped_tier_can_be_started_elsewhere(dut):
    bench = Bench(dut)
    elsewhere = bench.params.reset_address + 0x6000
    bench.load(elsewhere, [read("mscratch", A), *finish(A)])
    # Stopped while it divides, and while it waits for nothing.
    for tier in range(1, bench.params.tiers):
        for instruction in (rv.r_type("div", A, A, A), rv.WFI):
            bench.load(place(bench, tier), [instruction, rv.jal(0, -4)])
            code = [*start({tier: place(bench, tier)}), *[rv.NOP] * 30, *rv.li(A, bits(tier))]
            code += [rv.csr("csrrc", 0, CSR["mtierrun"], A)]
            # Until it is no more started.
            code += [read("mtierrun", B), rv.r_type("and", B, B, A), rv.branch("bne", B, 0, -8)]
            code += [*write(f"mtierarg{tier}", 77), *start({tier: elsewhere}), rv.jal(0, 0)]
            bench.load(place(bench, 0), code)
            await bench.reset()
            assert await bench.run() == 77, f"tier {tier}, {instruction:#x}"


@cocotb.test()
async def a_tier_that_is_stopped_while_it_waits_does_not_wake(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    bench.load(place(bench, top), waiting_loop([rv.addi(A, A, 1)], lines=1))
    code = [*start({top: place(bench, top)}), *[rv.NOP] * 60, *rv.li(A, bits(top))]
    code += [rv.csr("csrrc", 0, CSR["mtierrun"], A), *[rv.NOP] * 100]
    code += [rv.csr("csrrs", 0, CSR["mtierrun"], A), *[rv.NOP] * 60]
    bench.load(place(bench, 0), [*code, *finish()])
    await bench.reset()

    def lines() -> None:
        bench.lines = int(bench.cycle > 110)

    bench.each_cycle.append(lines)
    await bench.run()
    stop = bench.seen.at(place(bench, 0) + 4 * (code.index(rv.csr("csrrc", 0, CSR["mtierrun"], A))))
    go = bench.seen.at(place(bench, 0) + 4 * (len(code) - 61))
    issued = bench.seen.issued(top)
    assert not [cycle for cycle in issued if stop[0] + 4 < cycle <= go[0]]
    assert [cycle for cycle in issued if cycle > go[0]]


@cocotb.test()
async def a_ceiling_holds_back_tiers_up_to_it_until_it_is_lowered(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    for ceiling in range(1, tiers):
        section = [*write("mceiling", ceiling), *[rv.addi(A, A, 1)] * 40, *write("mceiling", 0)]
        code = start({tier: place(bench, tier) for tier in range(1, tiers)})
        code += [rv.NOP] * 100
        enter = place(bench, 0) + 4 * len(code)
        code += [*section, *[rv.addi(A, A, 1)] * 60]
        bench.load(place(bench, 0), [*code, *finish()])
        for tier in range(1, tiers):
            bench.load(place(bench, tier), waiting_loop([rv.NOP] * 4, lines=1 << tier))
        await bench.reset()
        while not bench.seen.at(enter):
            await bench.step()
        await bench.step(10)
        rise = bench.cycle
        bench.lines = bits(*range(1, tiers))
        await bench.step(4)
        bench.lines = 0
        await bench.run()
        (leave,) = bench.seen.at(enter + 4 * (len(section) - 1))
        for tier in range(1, tiers):
            first = min(cycle for cycle in bench.seen.issued(tier) if cycle > rise)
            if tier > ceiling:
                assert first <= rise + 1 + 10 * (tiers - 1 - tier), f"tier {tier} is held back"
            else:
                assert leave < first, f"tier {tier} is not held back by {ceiling}"
        held = [
            min(c for c in bench.seen.issued(tier) if c > rise) for tier in range(1, ceiling + 1)
        ]
        # The write takes effect behind stage M; the slot in the cycle after that is the first.
        assert min(held) - leave == 5


@cocotb.test()
async def a_ceiling_of_a_tier_that_waits_holds_none(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    # Tier 0 waits with the ceiling up.
    lower = [*write("mceiling", top), rv.WFI]
    await begin(bench, lower, [rv.addi(A, A, 1)] * 4, top)
    for _ in range(5):
        rise, issued = await raise_line(bench, 1, top)
        assert issued[0] == rise + 1


@cocotb.test()
async def the_ceiling_is_each_tiers_own(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    bench.load(place(bench, top), [*write("mceiling", 1), rv.WFI, rv.jal(0, -4)])
    code = [*start({top: place(bench, top)}), *[rv.NOP] * 40, read("mceiling", A)]
    await bench.execute([*code, *finish(A)])
    assert bench.result == 0


@cocotb.test()
async def the_divider_is_given_up_by_a_tier_that_is_held_back(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    # The top tier divides when tier 0, which holds it back, begins to divide too.
    for phase in range(0, 50, 3):
        body = [rv.r_type("div", A, B, C), rv.addi(COUNT, COUNT, 1)]
        prologue = [*rv.li(B, 1000), rv.addi(C, 0, 7)]
        bench.load(place(bench, top), waiting_loop(body * 3, lines=1, prologue=prologue))
        code = [*rv.li(B, 1001), rv.addi(C, 0, 7), *start({top: place(bench, top)})]
        code += [*[rv.NOP] * 100, *write("mceiling", top), rv.r_type("div", A, B, C)]
        code += [*write("mceiling", 0), *[rv.NOP] * 20]
        bench.load(place(bench, 0), [*code, *finish(A)])
        await bench.reset()
        await bench.step(90 + phase)
        bench.lines = 1
        await bench.step(3)
        bench.lines = 0
        assert await bench.run() == 143, f"phase {phase}"
        await bench.step(200)
        # Every division of the handler ended.
        assert bench.seen.of(top)[-1].pc == place(bench, top) + 4 * (len(prologue) + 4)


@cocotb.test()
async def divisions_of_several_tiers_give_each_its_own_result(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    log = bench.params.dmem.base
    for tier in range(tiers):
        head = start({n: place(bench, n) for n in range(1, tiers)}) if tier == 0 else []
        code = [
            *head,
            *rv.li(B, 100_000 * (tier + 1)),
            *rv.li(C, 3),
            *rv.li(LOCAL, log + 64 * tier),
        ]
        for number in range(12):
            code += [rv.r_type(("div", "remu")[number % 2], A, B, C), rv.addi(C, C, 5)]
            code += [rv.store("sw", A, LOCAL, 4 * number), *[rv.NOP] * (number % 3)]
        end = finish() if tier == 0 else [rv.WFI, rv.jal(0, -4)]
        bench.load(place(bench, tier), [*code, *end])
    await bench.reset()
    await bench.run(20_000)
    for tier in range(tiers):
        for number in range(12):
            first, second = 100_000 * (tier + 1), 3 + 5 * number
            expected = first % second if number % 2 else first // second
            assert bench.peek(log + 64 * tier + 4 * number) == expected


@cocotb.test()
async def a_post_reaches_its_tier_and_stays_until_it_is_cleared(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    for tier in range(tiers):
        # Every tier posts to the one under test; that one sees it in mip, clears it, ends.
        own = [*rv.li(A, bits(tier)), *write("mie", MSI)]
        wait = [rv.WFI, read("mip", B), rv.csr("csrrc", C, CSR["mpost"], A), read("mip", COUNT)]
        report = [rv.shift("slli", COUNT, COUNT, 8), rv.r_type("or", B, B, COUNT), *finish(B)]
        poster = [*rv.li(A, bits(tier)), *[rv.NOP] * 60, rv.csr("csrrs", 0, CSR["mpost"], A)]
        for other in range(1, tiers):
            mine = [*own, *wait, *report] if other == tier else [*poster, rv.WFI]
            bench.load(place(bench, other), [*mine, rv.jal(0, -4)])
        head = start({other: place(bench, other) for other in range(1, tiers)})
        mine = [*own, *wait, *report] if tier == 0 else [*poster, rv.jal(0, 0)]
        bench.load(place(bench, 0), [*head, *mine])
        await bench.reset()
        assert await bench.run() == MSI, f"tier {tier}"


@cocotb.test()
async def posting_with_csrrs_keeps_the_posts_of_others(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    code = []
    for tier in range(tiers):
        code += [*rv.li(A, bits(tier)), rv.csr("csrrs", 0, CSR["mpost"], A)]
    code += [*rv.li(A, 1), rv.csr("csrrc", B, CSR["mpost"], A), read("mpost", C)]
    code += [rv.shift("slli", C, C, 16), rv.r_type("or", B, B, C)]
    await bench.execute([*code, *finish(B)])
    everyone = (1 << tiers) - 1
    assert bench.result == everyone | (everyone & ~1) << 16


@cocotb.test()
async def mpost_posts_and_takes_back_what_it_names_in_every_form_of_access(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    forms = {
        "csrrw": lambda before, source: source,
        "csrrs": lambda before, source: before | source,
        "csrrc": lambda before, source: before & ~source,
    }
    for before, source in itertools.product(range(1 << bench.params.tiers), repeat=2):
        code = [*rv.li(LOCAL, base), rv.addi(A, 0, source)]
        for number, form in enumerate(forms):
            code += [*write("mpost", before), rv.csr(form, B, CSR["mpost"], A), read("mpost", C)]
            code += [rv.store("sw", B, LOCAL, 8 * number), rv.store("sw", C, LOCAL, 8 * number + 4)]
        await bench.execute([*code, *finish()])
        for number, (form, after) in enumerate(forms.items()):
            shown = [bench.peek(base + 8 * number + place) for place in (0, 4)]
            assert shown == [before, after(before, source)], f"{form} {source:#x} of {before:#x}"


@cocotb.test()
async def the_slot_behind_each_load_and_store_goes_to_a_lower_tier_if_the_tier_shares(dut):
    bench = Bench(dut)
    accesses = [rv.load("lw", A, LOCAL, 0), rv.store("sw", B, LOCAL, 4)]
    body = [*accesses, rv.addi(C, C, 1), rv.addi(C, C, 1)] * 4
    memory = bench.params.dmem.base
    for tier, mode in itertools.product(range(1, bench.params.tiers), (0, 2)):
        code = [*rv.li(LOCAL, memory), *write("mbusmode", mode), *[rv.NOP] * 8]
        first = place(bench, tier) + 4 * len(code)
        bench.load(place(bench, tier), [*code, *body, rv.WFI, rv.jal(0, 0)])
        # The mode of another tier does not matter.
        code = [*write("mbusmode", mode ^ 2), *start({tier: place(bench, tier)})]
        bench.load(place(bench, 0), [*code, *[rv.NOP] * 200])
        await bench.reset()
        await bench.step(150)
        lower = set(bench.seen.issued(0))
        for index, word in enumerate(body):
            behind = bench.seen.at(first + 4 * index, tier)[0] + 1
            shares = mode == 2 and word in accesses
            assert (behind in lower) == shares, f"tier {tier}, mode {mode}, {index}"
