"""Requests to halt: what they cost other tiers, and what a tier does that is on its way."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import RAM, Bench
from debugger import Debugger
from programs import place, start, waiting_loop, write

from tierv.rtl.debug.hart import PATIENCE_LOG2

A, B, C, DEVICE = 6, 7, 8, 11
#: A loop that leaves slots, for it divides; of so many cycles at the most.
DIVIDING = [rv.r_type("div", C, B, A), rv.addi(B, B, 1), rv.jal(0, -8)]
DIVIDING_CYCLES = 50


@cocotb.test()
async def a_tier_above_that_never_waits_keeps_the_debugger_out_only_for_a_while(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    bench.load(
        place(bench, 0), [*start({1: place(bench, 1)}), *[rv.addi(A, A, 1)] * 40, rv.jal(0, -160)]
    )
    bench.load(place(bench, 1), [*[rv.addi(A, A, 1)] * 64, rv.jal(0, -256)])
    await bench.reset()
    await bench.step(200)
    debugger.halt = 1
    await debugger.until_halted(0, 5000)
    debugger.halt = 0
    bench.seen.issues.clear()
    await bench.step(50)
    assert len(bench.seen.issued(1)) > 45, "the urgent tier has the slots again"


@cocotb.test()
async def a_tier_that_halts_behind_a_slow_access_takes_no_slots_meanwhile(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    slow_cycles = 2 << PATIENCE_LOG2
    bench.bus.wait_states = lambda address: slow_cycles
    code = [*rv.li(DEVICE, RAM), *start({1: place(bench, 1)}), rv.load("lw", A, DEVICE, 0)]
    bench.load(place(bench, 0), [*code, rv.jal(0, 0)])
    bench.load(place(bench, 1), DIVIDING)
    await bench.reset()
    await bench.step(100)
    debugger.halt = 1
    bench.seen.issues.clear()
    await bench.step(slow_cycles - 200)
    assert not bench.bus.transfers
    times = [*bench.seen.issued(1), bench.cycle]
    assert max(late - early for early, late in itertools.pairwise(times)) < DIVIDING_CYCLES
    await debugger.until_halted(0, 300)
    assert bench.cycle - bench.bus.transfers[0].end < DIVIDING_CYCLES


@cocotb.test()
async def a_tier_that_does_not_run_executes_nothing_for_a_request_that_is_withdrawn(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    waits, runs = waiting_loop([rv.NOP] * 4, lines=1), DIVIDING
    for name, own, code in (
        ("waits", waits, []),
        ("is stopped", runs, write("mtierrun", 1)),
        ("is held", runs, write("mceiling", 1)),
    ):
        bench.load(place(bench, 1), own)
        begin = start({1: place(bench, 1)})
        bench.load(place(bench, 0), [*begin, *[rv.NOP] * 40, *code, rv.jal(0, 0)])
        await bench.reset()
        await bench.step(200)
        retired = len(bench.seen.of(1))
        for cycles in range(1, 9):
            debugger.halt = 0b10
            await bench.step(cycles)
            debugger.halt = 0
            await bench.step(30)
            if debugger.halted:
                await debugger.resume(1)
            await bench.step(30)
            assert len(bench.seen.of(1)) == retired > 0, f"{name}, {cycles} cycles"
