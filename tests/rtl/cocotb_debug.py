"""Debug mode: tiers halt, are looked at, are stepped, meet triggers, and go on unchanged."""

from __future__ import annotations

import cocotb
import encoding as rv
from bench import RAM, Bench
from debugger import (
    BY_EBREAK,
    BY_REQUEST,
    BY_RESET,
    BY_TRIGGER,
    DEBUG_CSR,
    EBREAKM,
    EXECUTE,
    LOAD,
    SCRATCH,
    STORE,
    Debugger,
)
from programs import CSR, MEI, finish, place, read, start, waiting_loop, write
from switching import lower_programs, skipping_handler

A, B, C, COUNT = 6, 7, 8, 18
LOCAL, DEVICE = 10, 11


async def counting(dut, *, above: int = 1) -> tuple[Bench, Debugger]:
    """Tier 0 counts in COUNT, a word in each turn of its loop; tier ``above`` counts in C."""
    bench = Bench(dut)
    debugger = Debugger(bench)
    base = bench.params.dmem.base
    code = [*rv.li(LOCAL, base), *rv.li(DEVICE, RAM), rv.addi(COUNT, 0, 0)]
    code += start({above: place(bench, above)})
    code += [rv.addi(COUNT, COUNT, 1), rv.store("sw", COUNT, LOCAL, 0), rv.jal(0, -8)]
    bench.load(place(bench, 0), code)
    body = [rv.addi(C, C, 1), rv.store("sw", C, LOCAL, 4)]
    prologue = [*rv.li(LOCAL, base), rv.addi(C, 0, 0)]
    bench.load(place(bench, above), waiting_loop(body, lines=1, prologue=prologue))
    await bench.reset()
    await bench.step(120)
    return bench, debugger


def loop_of(bench: Bench) -> int:
    """Address of the loop of ``counting``: behind 3 pairs that load constants and the start."""
    stores = [r.pc for r in bench.seen.of(0)]
    return max(set(stores), key=stores.count) if len(set(stores)) == 1 else min(stores[-6:])


@cocotb.test()
async def a_halted_tier_stands_between_two_instructions_and_others_run_on(dut):
    bench, debugger = await counting(dut)
    loop = loop_of(bench)
    for wait in range(1, 12):
        await bench.step(wait)
        await debugger.stop(0)
        assert debugger.halted == 1
        assert await debugger.cause(0) == BY_REQUEST
        pc, count = await debugger.csr(0, "dpc"), await debugger.register(0, COUNT)
        written = bench.peek(bench.params.dmem.base)
        assert pc in (loop, loop + 4, loop + 8)
        assert count == written + (pc == loop + 4), "not between two instructions"
        handled = bench.peek(bench.params.dmem.base + 4)
        bench.lines = 1
        await bench.step(2)
        bench.lines = 0
        await bench.step(20)
        assert bench.peek(bench.params.dmem.base + 4) > handled, "the urgent tier stands still"
        assert await debugger.register(0, COUNT) == count
        await debugger.resume(0)
        assert not debugger.halted
        await bench.step(30)
        assert bench.peek(bench.params.dmem.base) > written


@cocotb.test()
async def what_runs_in_a_tier_comes_to_the_same_result_with_halts(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    bench.bus.wait_states = lambda address: 2
    bodies = lower_programs(bench)
    # Not the loop that reads the time.
    names = [name for name in bodies if name != "csrs"]
    for mode in (0, 1):
        results = []
        for phase in (0, 5, 8):
            for word in range(8):
                bench.poke(RAM + 4 * word, 0x1234_5678 + word)
                bench.poke(bench.params.dmem.base + 4 * word, 0x0BAD_CAFE + word)
            code = [*skipping_handler(bench), *rv.li(LOCAL, bench.params.dmem.base)]
            code += [*rv.li(DEVICE, RAM), *rv.li(B, 3), *rv.li(A, 1000)]
            code += [rv.addi(COUNT, 0, 0), *write("mbusmode", mode)]
            for name in names:
                turn = [*bodies[name], rv.r_type("add", COUNT, COUNT, A), rv.addi(12, 12, -1)]
                code += [rv.addi(12, 0, 3), *turn, rv.branch("bne", 12, 0, -4 * len(turn))]
            bench.load(place(bench, 0), [*code, *finish(COUNT)])
            await bench.reset()
            halts = 0
            while phase and bench.result is None and halts < 400:
                await bench.step(phase)
                await debugger.stop(0)
                await debugger.register(0, COUNT)
                await debugger.resume(0)
                halts += 1
            results.append(await bench.run(2000))
            assert not phase or halts > 60
        assert len(set(results)) == 1, f"mode {mode}: {results}"


@cocotb.test()
async def a_tier_that_waits_is_resumed_into_its_wait(dut):
    bench, debugger = await counting(dut)
    tier = 1
    for woken in (False, True):
        wakes = len(bench.seen.wakes)
        count = bench.peek(bench.params.dmem.base + 4)
        await debugger.stop(tier)
        behind = await debugger.csr(tier, "dpc")
        assert bench.peek(bench.params.dmem.base + 4) == count
        bench.lines = int(woken)
        await bench.step(20)
        assert len(bench.seen.wakes) == wakes, "halted tiers do not wake"
        await debugger.resume(tier)
        await bench.step(2)
        bench.lines = 0
        await bench.step(30)
        assert (len(bench.seen.wakes) > wakes) == woken
        assert (bench.peek(bench.params.dmem.base + 4) > count) == woken
        assert bench.seen.of(tier)[-1].pc == behind - 4 or woken
    # With another dpc it goes there.
    await debugger.stop(tier)
    await debugger.set_csr(tier, "dpc", behind)
    count = bench.peek(bench.params.dmem.base + 4)
    await debugger.resume(tier)
    await bench.step(30)
    assert bench.peek(bench.params.dmem.base + 4) == count + 1


@cocotb.test()
async def a_tier_that_never_began_halts_and_is_started_where_it_was_sent(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    last = bench.params.tiers - 1
    bench.load(place(bench, 0), [*[rv.NOP] * 200, *start({last: place(bench, last)}), rv.jal(0, 0)])
    bench.load(place(bench, last), [read("mhartid", A), *finish(A)])
    await bench.reset()
    await debugger.stop(last)
    assert debugger.halted == 1 << last
    await bench.step(300)
    # Its PC was set while it was halted.
    assert await debugger.csr(last, "dpc") == place(bench, last)
    assert bench.result is None
    await debugger.resume(last)
    assert await bench.run() == last


@cocotb.test()
async def a_tier_that_is_sent_elsewhere_while_it_halts_goes_there(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    last = bench.params.tiers - 1
    first, then = place(bench, last), place(bench, last) + 0x40
    write_pc = [*rv.li(A, then), rv.csr("csrrw", 0, CSR[f"mtierpc{last}"], A)]
    code = [*start({last: first}), *[rv.NOP] * 20, *write("mtierrun", 1), *[rv.NOP] * 40]
    code += [*write_pc, *[rv.NOP] * 60, *write("mtierrun", 1 << last | 1), rv.jal(0, 0)]
    bench.load(place(bench, 0), code)
    written = place(bench, 0) + 4 * (len(code) - 64)
    stops_itself = rv.csr("csrrci", 0, CSR["mtierrun"], 1 << last)
    bench.load(then, [read("mhartid", A), *finish(A)])
    for own in (stops_itself, rv.WFI):
        bench.load(first, [own, *finish(0)])
        for phase in range(40):
            await bench.reset()
            while not bench.seen.issued(last):
                await bench.step()
            await bench.step(50 + phase)
            await debugger.stop(last)
            await bench.step(90)
            assert bench.seen.at(written, 0), "not written yet"
            assert await debugger.csr(last, "dpc") == then, f"phase {phase}, {own:#x}"
            await debugger.resume(last)
            assert await bench.run() == last


@cocotb.test()
async def a_step_is_one_instruction_whatever_it_is(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    base = place(bench, 0)
    bench.bus.wait_states = lambda address: 3
    handler = base + 0x400
    code = [
        *rv.li(LOCAL, bench.params.dmem.base), *rv.li(DEVICE, RAM), *rv.li(B, 3),
        *write("mtvec", handler), *write("mlinemask", 1), *write("mie", MEI),
        rv.load("lw", A, DEVICE, 0), rv.store("sw", B, DEVICE, 4), rv.r_type("div", A, B, B),
        rv.r_type("mul", A, A, B), rv.load("lb", A, LOCAL, 0), rv.branch("beq", 0, 0, 8), rv.NOP,
        rv.WFI, rv.csr("csrrwi", 0, CSR["mbusmode"], 1), rv.load("lw", A, DEVICE, 0),
        rv.addi(A, A, 1), rv.FENCE_I, rv.csr("csrrsi", 0, CSR["mstatus"], 8), rv.ECALL, rv.NOP,
    ]  # fmt: skip
    bench.load(base, code)
    bench.load(
        handler, [read("mepc", C), rv.addi(C, C, 4), rv.csr("csrrw", 0, CSR["mepc"], C), rv.MRET]
    )
    await bench.reset()
    debugger.reset_halt = 1
    await bench.reset()
    await debugger.until_halted(0)
    # Interrupts wait until the steps are over.
    bench.lines = 1
    pc = base
    skipped = base + 4 * (len(code) - 9)
    order = []
    while pc != base + 4 * (len(code) - 1):
        assert len(order) < 2 * len(code)
        retired = len(bench.seen.of(0))
        order.append(pc)
        before = pc
        pc = await debugger.step(0)
        own = [r.pc for r in bench.seen.of(0)[retired:] if r.pc < handler + 0x100 and r.pc >= base]
        if pc == handler and before == base + 4 * (len(code) - 2):
            assert own == [], "an ecall does not retire"
        else:
            assert own == [before], (
                f"{before:#x}: {[hex(a) for a in own]} {code[(before - base) // 4]:#x}"
            )
    ecall = base + 4 * (len(code) - 2)
    inside = [handler + 4 * n for n in range(4)]
    straight = [a for a in range(base, ecall + 4, 4) if a != skipped]
    assert order == straight + inside, [hex(a) for a in order]


@cocotb.test()
async def an_ebreak_halts_or_traps_as_dcsr_says(dut):
    bench = Bench(dut)
    debugger = Debugger(bench)
    base, handler = place(bench, 0), place(bench, 0) + 0x400
    bench.load(base, [*write("mtvec", handler), *[rv.NOP] * 60, rv.EBREAK, rv.EBREAK, rv.jal(0, 0)])
    bench.load(handler, [read("mcause", A), *finish(A)])
    await bench.reset()
    assert await bench.run() == 3
    await bench.reset()
    await debugger.stop(0)
    await debugger.set_csr(0, "dcsr", EBREAKM)
    await debugger.resume(0)
    await debugger.until_halted(0)
    assert await debugger.cause(0) == BY_EBREAK
    pc = await debugger.csr(0, "dpc")
    assert bench.imem[(pc - base) // 8] >> 8 * (pc & 4) & 0xFFFF_FFFF == rv.EBREAK
    # A debugger goes on behind it.
    await debugger.set_csr(0, "dpc", pc + 4)
    await debugger.resume(0)
    await debugger.until_halted(0)
    assert await debugger.csr(0, "dpc") == pc + 4
    await debugger.set_csr(0, "dcsr", 0)
    await debugger.resume(0)
    assert await bench.run() == 3


@cocotb.test()
async def triggers_halt_before_their_instruction_or_access(dut):
    bench, debugger = await counting(dut)
    loop = loop_of(bench)
    data = bench.params.dmem.base
    await debugger.stop(0)
    await debugger.set_trigger(0, 1, EXECUTE, loop + 8)
    assert await debugger.csr(0, "tinfo") == 4
    await debugger.resume(0)
    await debugger.until_halted(0)
    assert (await debugger.cause(0), await debugger.csr(0, "dpc")) == (BY_TRIGGER, loop + 8)
    await debugger.set_trigger(0, 1, 0, 0)
    await debugger.set_trigger(0, 0, STORE, data)
    await debugger.resume(0)
    await debugger.until_halted(0)
    assert (await debugger.cause(0), await debugger.csr(0, "dpc")) == (BY_TRIGGER, loop + 4)
    count = await debugger.register(0, COUNT)
    assert bench.peek(data) == count - 1, "the store has been made"
    # Neither a load there, nor a store beside it, nor one of another tier.
    await debugger.set_trigger(0, 0, LOAD, data)
    await debugger.set_trigger(0, 1, STORE, data + 4)
    await debugger.resume(0)
    bench.lines = 1
    await bench.step(4)
    bench.lines = 0
    await bench.step(100)
    assert not debugger.halted
    assert bench.peek(data) > count
    assert bench.peek(data + 4) > 0


@cocotb.test()
async def software_cannot_reach_debug_mode_nor_change_triggers(dut):
    bench = Bench(dut)
    Debugger(bench)
    base, handler = place(bench, 0), place(bench, 0) + 0x400
    for name, address in DEBUG_CSR.items():
        code = [*write("mtvec", handler), *rv.li(B, 0xFFFF_FFFF), rv.csr("csrrs", C, address, 0)]
        code += [rv.csr("csrrw", A, address, B), rv.csr("csrrs", B, address, 0)]
        # What it was before, which is what it is after.
        code += [rv.branch("beq", A, B, 8), rv.addi(A, 0, -1), *finish(A)]
        bench.load(base, code)
        bench.load(handler, [read("mcause", A), rv.addi(A, A, 0x700), *finish(A)])
        await bench.reset()
        result = await bench.run()
        if name == "tdata2":
            assert result not in (0x702, 0xFFFF_FFFF)
            continue
        fixed = {"tselect": 0, "tdata1": 2 << 28 | 1 << 27 | 1 << 12, "tinfo": 4}
        assert result == fixed.get(name, 0x702), name


@cocotb.test()
async def a_program_of_debug_mode_may_fail_and_leaves_no_trace(dut):
    bench, debugger = await counting(dut)
    await debugger.stop(0)
    bench.bus.wait_states = lambda address: 2

    async def state() -> list[int]:
        values = [await debugger.csr(0, name) for name in ("dpc", "dcsr")]
        for name in ("mepc", "mcause", "mtval", "mstatus"):
            data = DEBUG_CSR["mdebugdata"]
            assert await debugger.run(0, read(name, SCRATCH), rv.csr("csrrw", 0, data, SCRATCH))
            values.append(debugger.data)
        return values

    before = await state()
    nowhere = 0x5000_0000
    await debugger.set_register(0, A, nowhere)
    for word in (
        rv.load("lw", B, A, 0), rv.store("sw", B, A, 0), rv.load("lw", B, A, 1), rv.ECALL, 0,
        rv.csr("csrrs", B, 0x7FF, 0),
    ):  # fmt: skip
        assert not await debugger.run(0, word), hex(word)
    assert await state() == before
    # A wfi is a nop, and the bus is reached.
    assert await debugger.run(0, rv.WFI)
    await debugger.set_register(0, A, RAM)
    await debugger.set_register(0, B, 0xCAFE_F00D)
    assert await debugger.run(0, rv.store("sw", B, A, 8), rv.load("lhu", B, A, 10))
    assert bench.peek(RAM + 8) == 0xCAFE_F00D
    assert await debugger.register(0, B) == 0xCAFE


@cocotb.test()
async def all_tiers_halt_on_reset(dut):
    bench, debugger = await counting(dut)
    debugger.reset_halt = (1 << bench.params.tiers) - 1
    await bench.reset()
    await debugger.until_halted(0)
    debugger.reset_halt = 0
    assert debugger.halted == (1 << bench.params.tiers) - 1
    assert not bench.seen.of(0), "no instruction may execute"
    for tier in range(bench.params.tiers):
        assert await debugger.cause(tier) == BY_RESET
    assert await debugger.csr(0, "dpc") == bench.params.reset_address
    for tier in range(bench.params.tiers):
        await debugger.resume(tier)
    await bench.step(100)
    assert bench.peek(bench.params.dmem.base) > 5
    # The same for one that is asked to all the time.
    await debugger.stop(0)
    assert await debugger.csr(0, "dpc") != bench.params.reset_address
    debugger.halt = 1
    await bench.reset()
    await debugger.until_halted(0)
    assert await debugger.csr(0, "dpc") == bench.params.reset_address
    assert await debugger.cause(0) == BY_REQUEST


@cocotb.test()
async def a_ceiling_of_a_halted_tier_still_holds(dut):
    bench, debugger = await counting(dut)
    await debugger.stop(0)
    assert await debugger.run(0, rv.csr("csrrwi", 0, CSR["mceiling"], 1))
    assert await debugger.run(0, read("mceiling", A))
    assert await debugger.register(0, A) == 1
    count = bench.peek(bench.params.dmem.base + 4)
    bench.lines = 1
    await bench.step(2)
    bench.lines = 0
    await bench.step(50)
    assert bench.peek(bench.params.dmem.base + 4) == count
    assert await debugger.run(0, rv.csr("csrrwi", 0, CSR["mceiling"], 0))
    await bench.step(50)
    assert bench.peek(bench.params.dmem.base + 4) == count + 1
