"""Instructions that are fetched over the bus."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import finish, jump_at_line, place, start, write
from switching import begin, issue_patterns

A, B, C, COUNT = 6, 7, 8, 9


@cocotb.test()
async def code_runs_from_the_bus(dut):
    bench = Bench(dut)
    # Every kind of jump, from even and odd words.
    program = RAM + 0x100
    code = [
        *rv.li(C, 5), rv.addi(COUNT, COUNT, 1), rv.addi(C, C, -1), rv.branch("bne", C, 0, -8),
        rv.jal(1, 12), rv.jal(0, 16), rv.NOP, rv.addi(COUNT, COUNT, 10), rv.jalr(0, 1, 0), rv.NOP,
        rv.branch("beq", 0, 0, 8), rv.addi(COUNT, 0, 0), rv.addi(COUNT, COUNT, 100),
    ]  # fmt: skip
    for odd in range(2):
        for most in (0, 3):
            bench.bus.draw_wait_states(most, most)
            bench.load(program, [rv.NOP] * odd + [*code, *finish(COUNT)])
            entry = [rv.addi(COUNT, 0, 0), *rv.li(A, program + 4 * odd), rv.jalr(0, A, 0)]
            await bench.execute(entry)
            assert bench.result == 115
            fetches = {t.address for t in bench.bus.transfers if not t.write}
            assert min(fetches) >= program
            assert max(fetches) <= program + 4 * (len(code) + 8)


@cocotb.test()
async def code_runs_from_any_address_on_the_bus(dut):
    bench = Bench(dut)
    bench.bus.wait_states = lambda address: 1
    # Each bit of an address, but for those within a pair, alone or alone missing.
    pairs = [one ^ (1 << place) for place in range(3, 32) for one in (0, -8 & 0xFFFF_FFFF)]
    pairs = [address for address in pairs if address != bench.params.imem.base]
    code = [rv.addi(COUNT, 0, 0)]
    for address in pairs:
        bench.load(address, [rv.addi(COUNT, COUNT, 1), rv.jalr(0, 1, 0)])
        code += [*rv.li(A, address), rv.jalr(1, A, 0)]
    assert await bench.execute([*code, *finish(COUNT)]) == len(pairs)
    fetches = [t.address for t in bench.bus.transfers if not t.write]
    assert fetches == [address + word for address in pairs for word in (0, 4)]


@cocotb.test()
async def an_instruction_executes_though_the_word_behind_it_can_not_be_fetched(dut):
    bench = Bench(dut)
    last = RAM + 0x2000
    del bench.bus.ram[last + 4]
    entry = [*write("mtvec", bench.params.reset_address + 0x400), rv.addi(A, 0, 0)]
    entry += [*rv.li(B, last), rv.jalr(1, B, 0), rv.addi(A, A, 7), rv.addi(A, A, 2)]
    bench.load(bench.params.reset_address + 0x400, finish(B))
    for jump, expected in ((rv.jalr(0, 1, 0), 9), (rv.jalr(0, 1, 4), 2), (rv.jal(0, -16), 30)):
        bench.load(last - 16, [*rv.li(A, 21), rv.jalr(0, 1, 0), rv.NOP, jump])
        assert await bench.execute([*entry, *finish(A)]) == expected


@cocotb.test()
async def a_fetch_does_not_run_ahead_over_a_jump_or_trap_into_a_device(dut):
    bench = Bench(dut)
    # Behind the program: a register that must not be read by mistake.
    touched = []
    end = RAM + 0x3FF8
    bench.bus.on_read(RAM + 0x4000, lambda: touched.append(bench.cycle) or 0)
    back = bench.params.reset_address + 0x100
    bench.load(back, finish(A))
    head = [*write("mtvec", back), *write("mepc", back), *rv.li(B, back)]
    for last in (rv.jalr(0, B, 0), rv.ECALL, rv.EBREAK, rv.MRET):
        bench.load(end - 8, [rv.addi(A, 0, 3), rv.NOP, rv.NOP, last])
        await bench.execute([*head, *rv.li(C, end - 8), rv.jalr(0, C, 0)])
        assert bench.result == 3
        assert not touched, f"{last:#010x}"


@cocotb.test()
async def what_is_fetched_runs_eight_words_ahead_past_a_branch_or_wfi(dut):
    bench = Bench(dut)
    farthest = []
    for program in (RAM + 0x200, RAM + 0x204):
        for last in (rv.WFI, rv.branch("beq", 0, 0, -4), rv.NOP):
            bench.load(program, [*[rv.NOP] * 12, last, *[rv.NOP] * 40])
            bench.load(place(bench, 0), [*rv.li(A, program), rv.jalr(0, A, 0)])
            await bench.reset()
            ahead = 0
            # Less than the row of forty takes.
            for _ in range(200):
                await bench.step()
                if bench.seen.retirements and bench.bus.transfers:
                    pc, fetched = bench.seen.retirements[-1].pc, bench.bus.transfers[-1].address
                    ahead = max(ahead, fetched - pc) if pc >= program else ahead
            farthest.append(ahead // 4)
    assert max(farthest) == 8, farthest
    assert farthest[0] >= 6, "behind wfi"


@cocotb.test()
async def a_fetch_waits_for_less_urgent_ones_of_the_bus_but_not_for_accesses_between(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    lower_code, code = RAM + 0x1000, RAM + 0x2000
    bench.load(lower_code, [*[rv.addi(A, A, 1)] * 6, rv.jal(0, -24)])
    bench.load(code, [rv.NOP] * 8)
    jump = jump_at_line(bench, top, code)
    stores = [rv.store("sw", 0, C, 0)] * 8
    begin_others = start({1: place(bench, 1), top: place(bench, top)})
    bench.load(place(bench, 0), [*begin_others, *rv.li(A, lower_code), rv.jalr(0, A, 0)])
    for buffered, wait_states in itertools.product((0, 1), range(4)):
        middle = [*write("mbusmode", buffered), *rv.li(C, RAM), *stores]
        bench.load(place(bench, 1), [*middle, rv.jal(0, -4 * len(stores))])
        bench.bus.wait_states = lambda address, n=wait_states: n
        for phase in range(40):
            await bench.reset()
            await bench.step(200 + phase)
            bench.lines = 1
            await bench.step(60 + 10 * wait_states)
            (jumped,) = bench.seen.at(jump, top)
            first = next(t for t in bench.bus.transfers if t.address == code)
            # A transaction that has begun, the two words of tier 0, and tier 1's next access.
            late = first.begin - jumped
            where = f"buffered {buffered}, {wait_states} wait states, {phase}"
            assert late <= 18 + 4 * wait_states, f"{where}: {late}"


@cocotb.test()
async def a_handler_in_local_memory_issues_alike_whatever_others_fetch_over_the_bus(dut):
    bench = Bench(dut)
    bench.bus.wait_states = lambda address: 9
    code = RAM + 0x1000
    bench.load(code, [rv.addi(A, A, 1), rv.addi(A, A, 1), rv.jal(0, -8)])
    for tier in range(1, bench.params.tiers):
        found = []
        for lower in ([rv.WFI], [*rv.li(A, code), rv.jalr(0, A, 0)]):
            await begin(bench, lower, [rv.addi(A, A, 1)] * 40, tier)
            found.append(await issue_patterns(bench, range(1, 24), tier))
        alone, beside_fetches = found
        (pattern,) = alone
        assert pattern[0] == 1
        assert beside_fetches == alone, f"tier {tier}: {found}"
