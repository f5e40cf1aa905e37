"""Loads and stores of cached memory: their order within a tier, and what tiers do to each other."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import finish, jump_at_line, place, start, write

from tierv.rtl.cache.data import QUEUE_DEPTH

A, B, OTHERS, CACHED = 6, 7, 10, 11
OLD, NEW = 0x1234_5678, 0x0BAD_CAFE
#: A word that is loaded, and words in another line that are stored before it is.
WORD, BEFORE = 0, 0x80
#: Cycles of the memory port for a store and a word of a line without wait states, and of a tier
#: from the end of what it waits for to its next access.
STORE_CYCLES, WORD_CYCLES, RESUME_CYCLES = 4, 1, 16


@cocotb.test()
async def a_load_that_misses_does_not_see_the_stores_that_follow_it(dut):
    bench = Bench(dut)
    base = bench.params.cached.base
    for buffered in (0, 1):
        for wait_states in (0, 3):
            bench.memory.wait_states = lambda address, wait=wait_states: wait
            for before in (0, 1, QUEUE_DEPTH - 1):
                for between in range(6):
                    code = [*write("mbusmode", buffered), *rv.li(CACHED, base), *rv.li(B, NEW)]
                    code += [rv.store("sw", 0, CACHED, BEFORE + 4 * n) for n in range(before)]
                    code += [rv.load("lw", A, CACHED, WORD), *[rv.NOP] * between]
                    code += [rv.store("sw", B, CACHED, WORD), rv.FENCE]
                    bench.poke(base + WORD, OLD)
                    loaded = await bench.execute([*code, *finish(A)])
                    case = f"{buffered=} {wait_states=} {before=} {between=}"
                    assert loaded == OLD, f"{case}: {loaded:#x}"
                    assert bench.peek(base + WORD) == NEW, case


@cocotb.test()
async def a_load_that_misses_waits_for_the_stores_in_the_queue_and_no_others(dut):
    bench = Bench(dut)
    base, line_bytes = bench.params.cached.base, bench.params.cache_line_bytes
    handler = place(bench, 1)
    loads = [rv.load("lw", A, CACHED, line_bytes * n) for n in range(8)]
    for buffered in (0, 1):
        prologue = [*write("mbusmode", buffered), *rv.li(CACHED, base)]
        bench.load(handler, [*prologue, *loads, rv.addi(A, A, 0), *finish()])
        for wait_states in (0, 3):
            bench.memory.wait_states = lambda address, wait=wait_states: wait
            # Tier 0 fills the queue faster than memory takes the stores.
            body = [rv.store("sw", 0, OTHERS, 4 * n) for n in range(32)]
            code = [*rv.li(OTHERS, base + 0x1000), *start({1: handler})]
            await bench.execute([*code, *body, rv.jal(0, -4 * len(body))])
            before = handler + 4 * (len(prologue) - 1)
            times = [bench.seen.at(before + 4 * n, 1)[-1] for n in range(len(loads) + 2)]
            queue = QUEUE_DEPTH * (STORE_CYCLES + wait_states)
            bound = queue + line_bytes // 4 * (WORD_CYCLES + wait_states) + RESUME_CYCLES
            longest = max(late - early for early, late in itertools.pairwise(times))
            assert longest <= bound, f"{buffered=} {wait_states=}: {times}"


@cocotb.test()
async def a_store_waits_for_one_line_of_less_urgent_tiers_at_most(dut):
    bench = Bench(dut)
    base, line_bytes = bench.params.cached.base, bench.params.cache_line_bytes
    first = place(bench, 2)
    store = first + 4 * len(rv.li(CACHED, base))
    others = rv.li(OTHERS, base + bench.params.dcache_bytes)
    for buffered, wait_states, between in itertools.product((0, 1), (0, 3, 7), range(1, 5)):
        bench.memory.wait_states = lambda address, wait=wait_states: wait
        # Tiers 0 and 1 miss in turn; each drives out of the cache what it loads next.
        begin = start({1: place(bench, 1), 2: first})
        for tier, prologue in ((1, []), (0, begin)):
            prologue = [*prologue, *write("mbusmode", buffered), *rv.li(CACHED, base), *others]
            own = line_bytes * tier
            loads = [rv.load("lw", A, way, own) for way in (CACHED, CACHED, OTHERS, OTHERS)]
            bench.load(place(bench, tier), [*prologue, *loads, rv.jal(0, -4 * len(loads))])
        # Tier 2 leaves them slots while it divides.
        turn = [rv.store("sw", B, CACHED, 2 * line_bytes), rv.r_type("div", A, B, A)]
        turn += [rv.addi(B, A, 1)] * between
        bench.load(first, [*rv.li(CACHED, base), *turn, rv.jal(0, -4 * len(turn))])
        await bench.reset()
        await bench.step(800)
        done = itertools.pairwise(bench.seen.of(2))
        waits = [late.cycle - early.cycle for early, late in done if late.pc == store]
        case = f"{buffered=} {wait_states=} {between=}"
        line = line_bytes // 4 * (WORD_CYCLES + wait_states)
        assert len(waits) > 8, f"{case}: {waits}"
        assert max(waits) <= line + RESUME_CYCLES, f"{case}: {waits}"


@cocotb.test()
async def a_line_of_instructions_waits_for_one_store_of_less_urgent_tiers(dut):
    bench = Bench(dut)
    base = bench.params.cached.base
    top, code = bench.params.tiers - 1, base + 0x200
    bench.load(code, [rv.NOP] * 8)
    jump = jump_at_line(bench, top, code)
    begin_top = [*rv.li(OTHERS, base), *start({top: place(bench, top)})]
    for wait_states, between in itertools.product(range(4), range(6)):
        bench.memory.wait_states = lambda address, n=wait_states: n
        # As fast as memory takes the stores, for one of these.
        loop = [rv.store("sw", 0, OTHERS, 0), *[rv.NOP] * between]
        bench.load(place(bench, 0), [*begin_top, *loop, rv.jal(0, -4 * len(loop))])
        await bench.reset()
        await bench.step(200)
        bench.lines = 1
        await bench.step(100)
        (jumped,) = bench.seen.at(jump, top)
        line = [t for t in bench.memory.transfers if not t.write and t.begin > jumped]
        assert [t.address for t in line[:2]] == [code, code + 4]
        late = line[0].begin - jumped - RESUME_CYCLES
        case = f"{wait_states=} {between=}"
        assert late <= 2 * (STORE_CYCLES + wait_states), f"{case}: {late}"


@cocotb.test()
async def a_line_of_instructions_waits_for_less_urgent_ones_but_no_fetches_between(dut):
    bench = Bench(dut)
    base, line_bytes = bench.params.cached.base, bench.params.cache_line_bytes
    top, code, lower_code = bench.params.tiers - 1, base + 0x200, base + 0x300
    bench.load(code, [rv.NOP] * 8)
    jump = jump_at_line(bench, top, code)
    # Tier 0 always misses: each of the two drives the other out of the cache.
    other_way = bench.params.icache_bytes
    bench.load(lower_code, [rv.jal(0, other_way)])
    bench.load(lower_code + other_way, [rv.jal(0, -other_way)])
    begin_others = start({1: place(bench, 1), top: place(bench, top)})
    jump_lower = [*rv.li(A, lower_code), rv.jalr(0, A, 0)]
    bench.load(place(bench, 0), [*begin_others, *jump_lower])
    # Tier 1 leaves few fetches, for it has to wait for each access.
    stores = [rv.store("sw", 0, OTHERS, 0)] * 8
    middle = [*write("mbusmode", 0), *rv.li(OTHERS, RAM), *stores, rv.jal(0, -4 * len(stores))]
    bench.load(place(bench, 1), middle)
    for wait_states in range(4):
        bench.memory.wait_states = lambda address, n=wait_states: n
        line = line_bytes // 4 * (WORD_CYCLES + wait_states)
        for phase in range(20):
            await bench.reset()
            await bench.step(200 + phase)
            bench.lines = 1
            await bench.step(120 + 3 * line)
            (jumped,) = bench.seen.at(jump, top)
            first = next(t for t in bench.memory.transfers if t.address == code)
            late = first.begin - jumped
            assert late <= line + RESUME_CYCLES, f"{wait_states=} {phase=}: {late}"
