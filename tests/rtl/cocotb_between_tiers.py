"""Tiers hold each other back, share the divider and issue slots, and post to each other."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import Bench
from programs import CSR, MSI, bits, finish, place, read, start, waiting_loop, write
from switching import begin, raise_line

A, B, C, COUNT = 6, 7, 8, 9
LOCAL = 10


@cocotb.test()
async def a_ceiling_holds_back_tiers_up_to_it_until_it_is_lowered(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    for holder, ceiling in itertools.combinations(range(tiers), 2):
        section = [*write("mceiling", ceiling), *[rv.addi(A, A, 1)] * 40, *write("mceiling", 0)]
        code = start({tier: place(bench, tier) for tier in range(1, tiers)})
        bench.load(place(bench, 0), [*code, *[rv.WFI] * 2])
        for tier in range(1, tiers):
            bench.load(place(bench, tier), waiting_loop([rv.NOP] * 4, lines=1 << tier))
        ahead = [*(code if holder == 0 else []), *[rv.NOP] * 100]
        enter = place(bench, holder) + 4 * len(ahead)
        program = [*ahead, *section, *[rv.addi(A, A, 1)] * 60, *finish()]
        bench.load(place(bench, holder), program)
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
        firsts = {
            tier: min(cycle for cycle in bench.seen.issued(tier) if cycle > rise)
            for tier in range(holder + 1, tiers)
        }
        for tier, first in firsts.items():
            if tier > ceiling:
                assert first <= rise + 1 + 10 * (tiers - 1 - tier), f"tier {tier} is held back"
            else:
                assert leave < first, f"tier {tier} is not held back by {ceiling} of {holder}"
        # The write takes effect behind stage M; the slot in the cycle after that is the first.
        assert firsts[ceiling] - leave == 5


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
async def a_tier_that_waits_for_the_divider_of_a_more_urgent_one_takes_no_slots(dut):
    bench = Bench(dut)
    operands = [*rv.li(B, 1000), rv.addi(C, 0, 7)]
    divide = rv.r_type("div", A, B, C)
    for upper, lower in itertools.combinations(reversed(range(bench.params.tiers)), 2):
        bench.load(place(bench, upper), [*operands, divide, rv.WFI, rv.jal(0, -4)])
        below = [*operands, *[rv.NOP] * 8, divide, *finish(A)]
        code = start({tier: place(bench, tier) for tier in (upper, lower) if tier})
        bench.load(place(bench, 0), [*code, *(below if lower == 0 else [rv.WFI])])
        if lower:
            bench.load(place(bench, lower), below)
        await bench.reset()
        assert await bench.run() == 142
        (end,) = bench.seen.at(place(bench, upper) + 4 * len(operands), upper)
        first = place(bench, lower) + (0 if lower else 4 * len(code))
        (before,) = bench.seen.at(first + 4 * (below.index(divide) - 1), lower)
        # The division and the two instructions behind it go back.
        waits = range(before + 4, end + 1)
        assert len(waits) > 10
        assert not set(waits) & set(bench.seen.issued(lower)), f"{lower} below {upper}"


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
    # Behind what fetches again, an access issues as soon as it has come.
    again = rv.csr("csrrwi", 0, CSR["mceiling"], 0)
    body += [again, *accesses, again, rv.NOP, *accesses, rv.addi(C, C, 1)] * 2
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
            if word != again:
                assert (behind in lower) == shares, f"tier {tier}, mode {mode}, {index}"
