"""Debugging from cached memory: what the debugger writes is seen through the caches."""

from __future__ import annotations

import cocotb
import encoding as rv
from bench import Bench
from debugger import BY_EBREAK, EBREAKM, Debugger
from programs import place

A, B, COUNT, LOCAL, CACHED = 6, 7, 18, 10, 11
#: Of the program, and of its data, within cached memory.
CODE, DATA = 0x100, 0x800
#: More than a line takes to be read, and both caches to be dropped.
SOON = 150


async def adding(dut, *, wait_states: int = 2) -> tuple[Bench, Debugger]:
    """Tier 0 in cached memory adds a word of it to COUNT in each turn of its loop, and shows the
    word and the sum in local memory."""
    bench = Bench(dut)
    debugger = Debugger(bench)
    base = bench.params.cached.base
    bench.memory.wait_states = lambda address: wait_states
    code = [*rv.li(LOCAL, bench.params.dmem.base), *rv.li(CACHED, base + DATA)]
    code += [rv.addi(COUNT, 0, 0), *rv.li(A, base + CODE), rv.jalr(0, A, 0)]
    bench.load(place(bench, 0), code)
    turn = [rv.load("lw", A, CACHED, 0), rv.r_type("add", COUNT, COUNT, A)]
    turn += [rv.store("sw", A, LOCAL, 0), rv.store("sw", COUNT, LOCAL, 4), rv.jal(0, -16)]
    bench.load(base + CODE, turn)
    bench.poke(base + DATA, 1)
    await bench.reset()
    await bench.step(SOON)
    return bench, debugger


@cocotb.test()
async def a_running_tier_sees_what_the_debug_module_writes(dut):
    bench, debugger = await adding(dut)
    base, local = bench.params.cached.base, bench.params.dmem.base
    assert bench.peek(local) == 1
    # Written by another, it is not seen: the line is in the cache.
    bench.poke(base + DATA, 2)
    await bench.step(SOON)
    assert bench.peek(local) == 1
    for word in (3, 4):
        debugger.write_memory(base + DATA, word)
        await bench.step(SOON)
        assert bench.peek(local) == word
    # Code likewise.
    debugger.write_memory(base + CODE + 4, rv.addi(COUNT, 0, 77))
    await bench.step(SOON)
    assert bench.peek(local + 4) == 77


@cocotb.test()
async def a_line_that_is_being_read_as_the_debug_module_writes_is_not_kept(dut):
    for wait in range(0, 24):
        bench, debugger = await adding(dut, wait_states=3)
        base, local = bench.params.cached.base, bench.params.dmem.base
        debugger.write_memory(base + DATA, 5)
        await bench.step(40 + wait)
        # The new word is on its way, or has come.
        debugger.write_memory(base + DATA, 6)
        await bench.step(SOON)
        assert bench.peek(local) == 6, wait


@cocotb.test()
async def a_resumed_tier_runs_what_its_own_stores_have_made_of_its_code(dut):
    bench, debugger = await adding(dut)
    base, local = bench.params.cached.base, bench.params.dmem.base
    add = bench.peek(base + CODE + 4)
    await debugger.stop(0)
    await debugger.set_csr(0, "dcsr", EBREAKM)
    for _ in range(3):
        # A breakpoint by the program buffer, and no fence.i.
        for word in (rv.EBREAK, add):
            kept = {number: await debugger.register(0, number) for number in (A, B)}
            await debugger.set_register(0, A, base + CODE + 4)
            await debugger.set_register(0, B, word)
            assert await debugger.run(0, rv.store("sw", B, A, 0))
            for number, value in kept.items():
                await debugger.set_register(0, number, value)
            count = bench.peek(local + 4)
            await debugger.resume(0)
            await bench.step(SOON)
            if word == add:
                assert not debugger.halted
                assert bench.peek(local + 4) > count
                await debugger.stop(0)
            else:
                await debugger.until_halted(0)
                assert await debugger.cause(0) == BY_EBREAK
                assert await debugger.csr(0, "dpc") == base + CODE + 4


@cocotb.test()
async def a_tier_that_waits_for_lines_and_stores_halts_between_two_instructions(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    bench.memory.wait_states = lambda address: 4
    base = bench.params.cached.base
    size = bench.params.dcache_bytes
    code = [*rv.li(CACHED, base), *rv.li(B, base + size), rv.addi(COUNT, 0, 0)]
    # Two lines that drive each other out, and a store.
    turn = [rv.load("lw", A, CACHED, 0), rv.load("lw", A, B, 0), rv.addi(COUNT, COUNT, 1)]
    turn += [rv.store("sw", COUNT, CACHED, 4)]
    bench.load(place(bench, 0), [*code, *turn, rv.jal(0, -4 * len(turn))])
    await bench.reset()
    await bench.step(SOON)
    loop = place(bench, 0) + 4 * len(code)
    places = set()
    for wait in range(60):
        await bench.step(1 + 5 * wait % 97)
        await debugger.stop(0)
        pc, count = await debugger.csr(0, "dpc"), await debugger.register(0, COUNT)
        places.add((pc - loop) // 4)
        # The store is long in memory.
        assert bench.peek(base + 4) == count - (pc == loop + 12), hex(pc)
        await debugger.resume(0)
    assert places >= {0, 1, 3}
