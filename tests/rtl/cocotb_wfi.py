"""Waiting for lines: no wake is lost, none is invented."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import CSR, MEI, MIE, MTI, finish, place, read, start, waiting_loop, write
from switching import begin

A, B, C, COUNT = 6, 7, 8, 9
LOCAL, DEVICE = 10, 11
ACKNOWLEDGE = RAM + 0x800
ALL = 0xFFFF_FFFF


@cocotb.test()
async def wfi_with_interrupts_disabled_goes_on_at_the_next_instruction(dut):
    bench = Bench(dut)
    code = [*write("mtvec", bench.params.reset_address + 0x400), *write("mlinemask", 1),
            *write("mie", MEI), rv.WFI, rv.addi(A, A, 1)]  # fmt: skip
    bench.load(bench.params.reset_address, [*code, *finish(A)])
    await bench.reset()
    await bench.step(60)
    assert bench.seen.retirements[-1].pc == bench.params.reset_address + 4 * (len(code) - 2)
    bench.lines = 1
    assert await bench.run() == 1
    assert not bench.seen.at(bench.params.reset_address + 0x400)


@cocotb.test()
async def wfi_with_interrupts_enabled_goes_on_in_the_trap_handler(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x400
    code = [*write("mtvec", handler), *write("mlinemask", 1), *write("mie", MEI),
            rv.csr("csrrsi", 0, CSR["mstatus"], MIE), rv.WFI, rv.addi(A, A, 1)]  # fmt: skip
    bench.load(bench.params.reset_address, [*code, *finish(A)])
    bench.load(handler, [read("mepc", A), *finish(A)])
    await bench.reset()
    await bench.step(60)
    bench.lines = 1
    assert await bench.run() == bench.params.reset_address + 4 * (len(code) - 1)


@cocotb.test()
async def wfi_waits_once_if_the_interrupt_that_it_meets_is_gone_again(dut):
    bench = Bench(dut)
    base = bench.params.reset_address
    code = [*write("mtvec", base + 0x400), *write("mlinemask", 1), *write("mie", MEI),
            rv.csr("csrrsi", 0, CSR["mstatus"], MIE), *[rv.NOP] * 20, rv.WFI]  # fmt: skip
    bench.load(base, [*code, *finish()])
    bench.load(base + 0x400, [rv.addi(A, 0, 1), *finish(A)])
    await bench.reset()
    await bench.step(80)
    (wait,) = bench.seen.at(base + 4 * (len(code) - 1))
    # A cycle is too short for a trap: the instruction in X goes back, or nothing happens.
    for rise in range(wait - 2, wait + 8):
        await bench.reset()

        def lines(rise: int = rise) -> None:
            bench.lines = int(bench.cycle in (rise, wait + 60))

        bench.each_cycle[:] = [lines]
        assert await bench.run() == 0, f"a line {rise - wait} cycles behind the wfi"


@cocotb.test()
async def wfi_does_not_wait_if_the_interrupt_is_already_pending(dut):
    bench = Bench(dut)
    code = [*write("mlinemask", 1), *write("mie", MEI), *[rv.NOP] * 20, rv.WFI]
    bench.load(bench.params.reset_address, [*code, rv.addi(A, 0, 3), *finish(A)])
    await bench.reset()
    bench.lines = 1
    assert await bench.run() == 3


@cocotb.test()
async def wfi_ignores_what_mie_does_not_enable_and_the_mask_does_not_let_through(dut):
    bench = Bench(dut)
    bench.load(bench.params.reset_address,
               [*write("mlinemask", 1), *write("mie", MEI), rv.WFI, *finish()])  # fmt: skip
    await bench.reset()
    await bench.step(40)
    bench.lines = (1 << bench.params.lines) - 2
    bench.timer = ALL >> (32 - bench.params.tiers)
    await bench.step(40)
    assert bench.result is None
    bench.lines = 1
    await bench.run()


@cocotb.test()
async def the_timer_ends_a_wfi_of_its_tier(dut):
    bench = Bench(dut)
    bench.load(bench.params.reset_address, [*write("mie", MTI), rv.WFI, read("mip", A), *finish(A)])
    await bench.reset()
    await bench.step(40)
    bench.timer = 1
    assert await bench.run() == MTI


async def device_handler(bench: Bench, tier: int, *, buffered: bool, gap: int) -> int:
    """A handler that acknowledges over the bus, `gap` instructions before it waits again."""
    prologue = [*rv.li(DEVICE, ACKNOWLEDGE), *write("mbusmode", int(buffered))]
    body = [rv.addi(COUNT, COUNT, 1), rv.store("sw", 0, DEVICE, 0), *[rv.NOP] * gap]
    bench.load(place(bench, tier), waiting_loop(body, lines=1, prologue=prologue))
    loop = [*start({tier: place(bench, tier)}), rv.addi(A, A, 1), rv.jal(0, -4)]
    bench.load(place(bench, 0), loop)
    await bench.reset()
    await bench.step(100)
    waiting = len(prologue) + len(waiting_loop([], lines=1)) - 1
    return place(bench, tier) + 4 * waiting


@cocotb.test()
async def the_handler_does_not_run_again_for_a_level_that_it_has_lowered(dut):
    bench = Bench(dut)
    settle = bench.params.line_settle_cycles
    # The device lowers its line `after` cycles behind the acknowledge.
    falls: list[int] = []
    delay = 1

    def device(word: int) -> None:
        falls.append(bench.cycle + delay)

    def lower() -> None:
        if falls and bench.cycle >= falls[0]:
            falls.clear()
            bench.lines = 0

    bench.bus.on_write(ACKNOWLEDGE, device)
    bench.each_cycle.append(lower)
    for tier, buffered, gap, wait_states, delay in itertools.product(
        range(1, bench.params.tiers), (False, True), range(4), range(3), range(1, settle + 1)
    ):
        bench.bus.wait_states = lambda address, n=wait_states: n
        body = await device_handler(bench, tier, buffered=buffered, gap=gap)
        for count in range(1, 4):
            bench.lines = 1
            await bench.step(50 + count)
            where = f"tier {tier}, buffered {buffered}, gap {gap}, {wait_states}, lowered {delay}"
            assert not bench.lines
            assert len(bench.seen.at(body)) == count, where


@cocotb.test()
async def a_load_that_is_left_behind_does_not_delay_the_next_wake(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    prologue = [*rv.li(DEVICE, RAM), *write("mbusmode", 1)]
    # Nothing in tier 0 leaves a slot in which the load could write its register.
    code = [*start({top: place(bench, top)}), *[rv.NOP] * 60, *[rv.addi(A, A, 1)] * 200]
    bench.load(place(bench, 0), [*code, rv.jal(0, 0)])
    for register, wait_states in itertools.product((0, B), range(6)):
        body = [rv.load("lw", register, DEVICE, 0)]
        bench.load(place(bench, top), waiting_loop(body, lines=1, prologue=prologue))
        bench.bus.wait_states = lambda address, n=wait_states: n
        await bench.reset()
        await bench.step(100)
        rises = []
        for _ in range(3):
            bench.lines = 1
            rises.append((bench.cycle, top))
            await bench.step()
            bench.lines = 0
            await bench.step(30)
        assert bench.seen.wakes == rises, f"x{register}, {wait_states} wait states"


@cocotb.test()
async def a_level_that_stays_runs_the_handler_again(dut):
    bench = Bench(dut)
    bench.bus.on_write(ACKNOWLEDGE, lambda word: None)
    body = await device_handler(bench, bench.params.tiers - 1, buffered=True, gap=0)
    bench.lines = 1
    await bench.step(200)
    assert len(bench.seen.at(body)) > 5


def edge_handler(lines: int) -> list[int]:
    """Counts in COUNT, and acknowledges with a CSR."""
    return [rv.csr("csrrw", 0, CSR["mlineack"], B), rv.addi(COUNT, COUNT, 1)]


async def begin_edges(bench: Bench, body: list[int]) -> int:
    """Tier 0 loops, the most urgent one waits for edges of line 0; the address of its body."""
    tier = bench.params.tiers - 1
    prologue = [*write("mlineedge", 1), *rv.li(B, 1)]
    waiting = waiting_loop(body, lines=1, prologue=prologue)
    bench.load(place(bench, tier), waiting)
    code = [*start({tier: place(bench, tier)}), rv.addi(A, A, 1), rv.jal(0, -4)]
    bench.load(place(bench, 0), code)
    await bench.reset()
    await bench.step(100)
    return place(bench, tier) + 4 * (len(waiting) - len(body) - 1)


@cocotb.test()
async def a_pulse_of_one_cycle_on_an_edge_line_is_never_lost(dut):
    bench = Bench(dut)
    body = [rv.csr("csrrw", 0, CSR["mlineack"], B), rv.NOP, rv.NOP, rv.addi(COUNT, COUNT, 1)]
    # A second pulse in every phase of the first one's handler, from before it to behind its wfi.
    first_word = await begin_edges(bench, body)
    for phase in range(2, 16):
        before = len(bench.seen.at(first_word))
        bench.lines = 1
        rise = bench.cycle
        await bench.step()
        bench.lines = 0
        await bench.step(phase - 1)
        bench.lines = 1
        await bench.step()
        bench.lines = 0
        await bench.step(40)
        runs = bench.seen.at(first_word)[before:]
        # Stage M of the acknowledge; a pulse before it counts as one with the first.
        acknowledged = rise + 1 + 3
        expected = 1 if rise + phase < acknowledged else 2
        assert len(runs) == expected, f"phase {phase}: {len(runs)} runs"


@cocotb.test()
async def an_edge_in_the_cycle_of_its_acknowledge_is_kept(dut):
    bench = Bench(dut)
    body = [rv.csr("csrrw", 0, CSR["mlineack"], B), rv.addi(COUNT, COUNT, 1)]
    first_word = await begin_edges(bench, body)
    bench.lines = 1
    await bench.step()
    bench.lines = 0
    # Issue in the next cycle, stage M three later.
    await bench.step(3)
    rise = bench.cycle
    bench.lines = 1
    await bench.step()
    bench.lines = 0
    await bench.step(40)
    (first, second) = bench.seen.at(first_word)
    assert first + 3 == rise
    assert second > rise


@cocotb.test()
async def an_edge_is_one_event_however_long_the_line_stays_high(dut):
    bench = Bench(dut)
    first_word = await begin_edges(bench, edge_handler(1))
    for length in (1, 2, 5, 30):
        before = len(bench.seen.at(first_word))
        bench.lines = 1
        await bench.step(length)
        bench.lines = 0
        await bench.step(40)
        assert len(bench.seen.at(first_word)) == before + 1


@cocotb.test()
async def the_wake_output_pulses_once_as_a_tier_leaves_wfi(dut):
    bench = Bench(dut)
    tier = bench.params.tiers - 1
    await begin(bench, [rv.addi(A, A, 1)], [rv.NOP] * 4, tier)
    for _ in range(5):
        before = len(bench.seen.wakes)
        rise = bench.cycle
        bench.lines = 1
        await bench.step(2)
        bench.lines = 0
        await bench.step(30)
        assert bench.seen.wakes[before:] == [(rise, tier)]


@cocotb.test()
async def a_waiting_tier_wakes_only_by_its_own_lines(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    code = start({tier: place(bench, tier) for tier in range(1, tiers)})
    bench.load(place(bench, 0), [*code, rv.addi(A, A, 1), rv.jal(0, -4)])
    for tier in range(1, tiers):
        bench.load(place(bench, tier), waiting_loop([rv.NOP], lines=1 << tier))
    await bench.reset()
    await bench.step(200)
    for tier in range(1, tiers):
        before = len(bench.seen.wakes)
        bench.lines = 1 << tier
        await bench.step(1)
        bench.lines = 0
        await bench.step(20)
        assert {woken for _, woken in bench.seen.wakes[before:]} == {tier}
