"""Code that changes under a running tier: an instruction is the old or the new one.

A precise access and a division are fetched again for their result; another word may stand there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import cocotb
import encoding as rv
from bench import NOWHERE, RAM, Bench
from programs import CSR, MEI, PROGRAM, finish, place, read, run_in, start, waiting_loop, write

from tierv.rtl.isa import Cause

FIRST, SECOND, OTHER, QUOTIENT, LOADED = 5, 6, 7, 8, 9
DEVICE, LOCAL, DIVIDEND, DIVISOR, LATER, LAST = 10, 11, 12, 13, 14, 15
RESULTS = (FIRST, SECOND, OTHER, QUOTIENT, LOADED, LATER, LAST)
VALUES = {
    **{FIRST: 1, SECOND: 2, OTHER: 3, QUOTIENT: 4, LOADED: 5},
    **{DIVIDEND: 1000, DIVISOR: 7, LATER: 8, LAST: 9},
}
WORDS = [0x111, 0x222, 0x333, 0x444]

#: An instruction that comes twice, and what becomes of the registers.
COMES_TWICE = {
    rv.load("lw", FIRST, DEVICE, 0): {FIRST: 0x111},
    rv.store("sw", DIVISOR, DEVICE, 8): {},
    rv.r_type("div", QUOTIENT, DIVIDEND, DIVISOR): {QUOTIENT: 142},
}
#: What takes its place.
REPLACEMENTS = {
    rv.addi(SECOND, 0, 50): {SECOND: 50},
    rv.load("lw", FIRST, DEVICE, 12): {FIRST: 0x444},
    rv.load("lw", OTHER, DEVICE, 0): {OTHER: 0x111},
    rv.load("lhu", FIRST, DEVICE, 0): {FIRST: 0x111},
    rv.load("lw", OTHER, LOCAL, 0): {OTHER: 0x777},
    rv.store("sw", DIVIDEND, DEVICE, 8): {},
    rv.r_type("div", QUOTIENT, DIVISOR, DIVIDEND): {QUOTIENT: 0},
    rv.r_type("rem", QUOTIENT, DIVIDEND, DIVISOR): {QUOTIENT: 6},
    rv.r_type("div", OTHER, DIVIDEND, DIVISOR): {OTHER: 142},
}
#: What comes behind it in any case: each would take what the first one left behind.
BEHIND = [
    rv.load("lw", LOADED, DEVICE, 4),
    rv.r_type("div", LATER, DIVIDEND, SECOND),
    rv.r_type("div", LAST, DIVIDEND, DIVISOR),
    rv.store("sw", LAST, DEVICE, 16),
]


def outcome(effect: dict[int, int]) -> list[int]:
    """The results of a program in which the first instruction has this effect."""
    registers = VALUES | effect
    registers |= {LOADED: 0x222, LATER: 1000 // registers[SECOND], LAST: 142}
    return [registers[register] for register in RESULTS]


@contextmanager
def changing(bench: Bench, pc: int, word: int, at: int) -> Iterator[None]:
    """The word at `pc` becomes another one in cycle `at` of what is run meanwhile."""

    def change() -> None:
        if bench.cycle == at:
            bench.poke(pc, word)

    bench.each_cycle = [change]
    yield
    bench.each_cycle = []


async def changed(bench: Bench, pc: int, word: int, at: int) -> int:
    """The result of a program whose word at `pc` becomes another one in cycle `at`."""
    with changing(bench, pc, word, at):
        await bench.reset()
        return await bench.run()


@cocotb.test()
async def an_instruction_is_the_old_one_or_the_new_one(dut):
    bench = Bench(dut)
    base, local = bench.params.reset_address, bench.params.dmem.base
    bench.poke(local, 0x777)
    prologue = [*rv.li(DEVICE, RAM), *rv.li(LOCAL, local)]
    prologue += [rv.addi(register, 0, value) for register, value in VALUES.items()]
    pc = base + 4 * len(prologue)
    stored = [rv.store("sw", register, LOCAL, 4 + 4 * n) for n, register in enumerate(RESULTS)]
    for wait_states in (1, 7):
        bench.bus.wait_states = lambda address, n=wait_states: n
        for old, old_effect in COMES_TWICE.items():
            begins = None
            for new, new_effect in REPLACEMENTS.items():
                code = [*prologue, old, *BEHIND, *stored, *finish()]
                allowed = {tuple(outcome(old_effect)), tuple(outcome(new_effect))}
                seen = set()
                # Until the old one is done, whatever it is.
                for phase in range(0, 48, 5) if QUOTIENT in old_effect else range(12 + wait_states):
                    bench.load(base, code)
                    bench.load(RAM, WORDS)
                    await changed(bench, pc, new, (begins or 0) + phase)
                    begins = begins or bench.seen.at(pc - 4)[0] - 2
                    got = tuple(bench.peek(local + 4 + 4 * n) for n in range(len(RESULTS)))
                    assert got in allowed, f"{old:#x} {new:#x} {wait_states} {phase}: {got}"
                    assert bench.peek(RAM + 16) == 142, f"{old:#x} {new:#x} {phase}"
                    seen.add(got)
                assert seen == allowed, f"{old:#x} {new:#x} {wait_states}"


@cocotb.test()
async def each_tier_gives_up_what_it_began(dut):
    bench = Bench(dut)
    bench.bus.wait_states = lambda address: 3
    prologue = [*rv.li(DEVICE, RAM), *[rv.NOP] * 20]
    pc = bench.params.reset_address + PROGRAM + 4 * len(prologue)
    code = [*prologue, rv.load("lw", FIRST, DEVICE, 0), rv.load("lw", SECOND, DEVICE, 4)]
    code += [rv.FENCE, rv.r_type("add", OTHER, FIRST, SECOND)]
    for tier in range(bench.params.tiers):
        bench.load(RAM, WORDS)
        await run_in(bench, tier, code, result=OTHER)
        begins = bench.seen.at(pc - 4)[0]
        results = []
        for at in range(begins - 4, begins + 12):
            with changing(bench, pc, rv.addi(FIRST, 0, 1), at):
                await run_in(bench, tier, code, result=OTHER)
            results.append(bench.result)
        assert set(results) == {0x222 + 1, 0x222 + 0x111}, tier


@cocotb.test()
async def what_was_begun_holds_back_no_interrupt(dut):
    bench = Bench(dut)
    base = bench.params.reset_address
    for wait_states in (0, 6):
        bench.bus.wait_states = lambda address, n=wait_states: n
        for old in COMES_TWICE:
            code = [*write("mtvec", base + 0x400), *write("mlinemask", 1), *write("mie", MEI)]
            code += [*rv.li(DEVICE, RAM), rv.csr("csrrsi", 0, 0x300, 8), rv.NOP]
            pc = base + 4 * len(code)
            bench.load(base + 0x400, [read("mepc", FIRST), *finish(FIRST)])
            for phase in range(24):
                bench.load(base, [*code, old, rv.jal(0, 0)])

                def interrupt() -> None:
                    bench.lines = int(bench.cycle > 150)

                await bench.reset()
                while not bench.seen.at(pc - 4):
                    await bench.step()
                await bench.step(phase)
                bench.poke(pc, rv.jal(0, 0))
                bench.each_cycle = [interrupt]
                assert await bench.run(400) in (pc, pc + 4), f"{old:#x} {phase}"
                bench.each_cycle = []


@cocotb.test()
async def an_error_of_what_was_abandoned_traps_nowhere(dut):
    bench = Bench(dut)
    base, local = bench.params.reset_address, bench.params.dmem.base
    bench.bus.wait_states = lambda address: 8
    for access, cause in (
        (rv.load("lw", FIRST, DEVICE, 0), Cause.LOAD_ACCESS),
        (rv.store("sw", FIRST, DEVICE, 0), Cause.STORE_ACCESS),
    ):
        code = [*write("mtvec", base + 0x400), *rv.li(LOCAL, local), *rv.li(DEVICE, NOWHERE)]
        pc = base + 4 * len(code)
        handler = [read("mepc", FIRST), read("mcause", SECOND), rv.store("sw", SECOND, LOCAL, 0)]
        bench.load(base + 0x400, [*handler, *finish(FIRST)])
        code += [access, rv.addi(SECOND, 0, 77), *rv.li(DEVICE, RAM)]
        code += [rv.load("lw", OTHER, DEVICE, 4), rv.FENCE, rv.NOP, *finish(OTHER)]
        bench.load(RAM, WORDS)
        results = []
        for phase in range(40):
            bench.load(base, code)
            bench.poke(local, 0)
            results.append(await changed(bench, pc, rv.addi(FIRST, 0, 1), 4 + phase))
            expected = (0x222, 0) if results[-1] == 0x222 else (pc, cause)
            assert (results[-1], bench.peek(local)) == expected, phase
        assert set(results) == {0x222, pc}


@cocotb.test()
async def a_breakpoint_that_is_set_on_a_running_loop_traps(dut):
    bench = Bench(dut)
    base = bench.params.reset_address
    code = [*write("mtvec", base + 0x400), *rv.li(DEVICE, RAM)]
    loop = base + 4 * len(code)
    code += [rv.load("lw", FIRST, DEVICE, 0), rv.addi(SECOND, SECOND, 1), rv.jal(0, -8)]
    bench.load(base + 0x400, [read("mcause", FIRST), *finish(FIRST)])
    bench.bus.wait_states = lambda address: 3
    for phase in range(40):
        bench.load(base, code)
        assert await changed(bench, loop, rv.EBREAK, 60 + phase) == Cause.BREAKPOINT


async def restarted(bench: Bench, tier: int, behind_stop: list[int], patched: list[int]) -> int:
    """What a waiting tier stores that is stopped while its code becomes `patched`.

    Tier 0 executes `behind_stop` then, and starts the tier again.
    """
    local, handler = bench.params.dmem.base, place(bench, tier)
    store = rv.store("sw", FIRST, LOCAL, 0)
    code = waiting_loop([rv.addi(FIRST, 0, 1), store], lines=1, prologue=rv.li(LOCAL, local))
    changes = handler + 4 * code.index(rv.addi(FIRST, 0, 1))
    bench.load(handler, code)
    bench.poke(local, 0)
    stopped = [*start({tier: handler}), *[rv.NOP] * 40, *write("mtierrun", 1), *[rv.NOP] * 20]
    again = [*rv.li(OTHER, 1 << tier), rv.csr("csrrs", 0, CSR["mtierrun"], OTHER)]
    base = place(bench, 0)
    bench.load(base, [*stopped, *behind_stop, *again, *[rv.NOP] * 40, rv.WFI, rv.jal(0, -4)])
    await bench.reset()
    while not bench.seen.at(base + 4 * len(stopped) - 4):
        await bench.step()
    bench.load(changes, patched)
    await bench.step(80)
    bench.lines = 1
    await bench.step(4)
    bench.lines = 0
    await bench.step(80)
    return bench.peek(local)


@cocotb.test()
async def a_tier_that_was_stopped_goes_on_with_what_it_had_fetched_unless_it_begins_elsewhere(dut):
    bench = Bench(dut)
    new = [rv.addi(FIRST, 0, 2)]
    fetched_here = [*[rv.NOP] * 20, rv.FENCE, rv.FENCE_I]
    for tier in range(1, bench.params.tiers):
        wait = place(bench, tier) + 4 * len([*rv.li(LOCAL, bench.params.dmem.base)])
        assert await restarted(bench, tier, fetched_here, new) == 1
        elsewhere = write(f"mtierpc{tier}", wait)
        assert await restarted(bench, tier, [*fetched_here, *elsewhere], new) == 2
