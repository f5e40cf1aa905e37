"""Errors of buffered accesses, which trap later, and of several tiers."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import EXIT, NOWHERE, RAM, Bench
from programs import CSR, MEI, MIE, finish, place, read, start, write
from switching import skipping_handler

from tierv.rtl.isa import Cause

A, B, C, COUNT = 6, 7, 8, 9
DEVICE, LOCAL = 10, 11


@cocotb.test()
async def nothing_from_where_a_late_bus_error_traps_has_an_effect(dut):
    bench = Bench(dut)
    reset, base = bench.params.reset_address, bench.params.dmem.base
    code = [*write("mtvec", reset + 0x400), *write("mbusmode", 1), *rv.li(LOCAL, base)]
    code += [*rv.li(A, NOWHERE), rv.addi(C, 0, 1), rv.load("lw", B, A, 0)]
    stores = range(0, 64, 4)
    first = reset + 4 * len(code)
    code += [rv.store("sw", C, LOCAL, offset) for offset in stores]
    bench.load(reset + 0x400, [read("mepc", B), *finish(B)])
    for wait_states in range(6):
        bench.load(base, [0] * len(stores))
        bench.bus.wait_states = lambda address, n=wait_states: n
        trapped = await bench.execute([*code, rv.FENCE, rv.NOP])
        assert first <= trapped < first + 64
        for offset in stores:
            assert bench.peek(base + offset) == int(first + offset < trapped), hex(trapped)


@cocotb.test()
async def an_error_of_one_tier_does_not_disturb_another(dut):
    bench = Bench(dut)
    for low, high in itertools.combinations(range(bench.params.tiers), 2):
        loop = [rv.load("lw", A, DEVICE, 0), rv.store("sw", A, DEVICE, 0)]
        code = [*skipping_handler(bench), *rv.li(DEVICE, NOWHERE), *loop]
        bench.load(place(bench, high), [*code, rv.jal(0, -4 * len(loop))])
        code = [*start({high: place(bench, high)}), *rv.li(DEVICE, RAM), *rv.li(COUNT, 30)]
        loop = [rv.load("lw", A, DEVICE, 0), rv.addi(A, A, 1), rv.store("sw", A, DEVICE, 0),
                rv.addi(COUNT, COUNT, -1)]  # fmt: skip
        code += [*loop, rv.branch("bne", COUNT, 0, -4 * len(loop)), rv.load("lw", A, DEVICE, 0)]
        bench.load(place(bench, low), [*code, *finish(A)])
        if low > 0:
            code = [*start({low: place(bench, low)}), rv.WFI, rv.jal(0, -4)]
            bench.load(place(bench, 0), code)
        bench.poke(RAM, 0)
        await bench.reset()
        assert await bench.run(20_000) == 30, f"tiers {low}, {high}"
        assert sum(t.error for t in bench.bus.transfers) > 20
        assert [t for t in bench.bus.transfers if not t.error][-1].address == EXIT


@cocotb.test()
async def late_errors_of_two_tiers_at_a_time_trap_in_both(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    bench.bus.wait_states = lambda address: 4
    store = rv.store("sw", A, DEVICE, 0)
    for low, high in itertools.combinations(range(bench.params.tiers), 2):
        for tier in (low, high):
            handler = place(bench, tier) + 0x400
            code = [*write("mtvec", handler), *write("mbusmode", 1), *rv.li(DEVICE, NOWHERE)]
            code += rv.li(LOCAL, base + 4 * tier)
            if tier == high:
                code += [*write("mlinemask", 1), *write("mie", MEI), rv.WFI]
            else:
                code += [*start({high: place(bench, high)}), *[rv.NOP] * 60]
                access = place(bench, low) + 4 * len(code)
            bench.load(place(bench, tier), [*code, store, *[rv.NOP] * 80, rv.WFI, rv.jal(0, -4)])
            trap = [read("mcause", A), rv.store("sw", A, LOCAL, 0), rv.WFI, rv.jal(0, -4)]
            bench.load(handler, trap)
        if low > 0:
            bench.load(place(bench, 0), [*start({low: place(bench, low)}), rv.jal(0, 0)])
        # The urgent tier wakes around the access of the other one.
        for phase in range(-12, 20):
            bench.poke(base + 4 * low, 0)
            bench.poke(base + 4 * high, 0)
            await bench.reset()
            while not bench.seen.at(access - 4 * 15):
                await bench.step()
            await bench.step(15 + phase)
            bench.lines = 1
            await bench.step(4)
            bench.lines = 0
            await bench.step(200)
            causes = [bench.peek(base + 4 * tier) for tier in (low, high)]
            assert causes == [Cause.STORE_ACCESS] * 2, f"tiers {low}, {high}, {phase}: {causes}"


@cocotb.test()
async def a_program_survives_a_late_error_if_interrupts_wait_for_one_more_instruction(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x400
    code = [rv.addi(A, 0, 0), *write("mtvec", handler), *write("mlineedge", 1)]
    code += [
        *write("mlinemask", 1),
        *write("mie", MEI),
        *write("mbusmode", 1),
        *rv.li(DEVICE, NOWHERE),
    ]
    code += [rv.csr("csrrsi", 0, CSR["mstatus"], MIE), *[rv.NOP] * 20]
    first = bench.params.reset_address + 4 * len(code)
    code += [rv.csr("csrrci", 0, CSR["mstatus"], MIE), rv.store("sw", 0, DEVICE, 0), rv.FENCE]
    code += [rv.NOP, rv.csr("csrrsi", 0, CSR["mstatus"], MIE), *[rv.NOP] * 20]
    # Interrupt or error: the program goes on where it was.
    acknowledge = [rv.branch("bge", B, 0, 8), *write("mlineack", 1)]
    bench.load(handler, [rv.addi(A, A, 1), read("mcause", B), *acknowledge, rv.MRET])
    bench.load(bench.params.reset_address, [*code, *finish(A)])
    for wait_states in (0, 3):
        bench.bus.wait_states = lambda address, n=wait_states: n
        for phase in range(-10, 30):
            await bench.reset()
            while not bench.seen.at(first - 4 * 12):
                await bench.step()
            await bench.step(12 + phase)
            bench.lines = 1
            await bench.step()
            bench.lines = 0
            assert await bench.run() == 2, f"{wait_states} wait states, {phase}"
