"""The bus: each access once, in order, the most urgent tier's first, and none abandoned.

`BusModel` checks in every test that a transaction stays as it is until it is answered.
"""

from __future__ import annotations

import itertools
import random

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import MEI, finish, place, run_in, start, waiting_loop, write
from switching import raise_line

A, B, C, COUNT = 6, 7, 8, 9
DEVICE, LOCAL = 10, 11


def stores(bench: Bench) -> list[tuple[int, int, int]]:
    """(address, mask, data) of each write but the last one, which ends the run."""
    return [(t.address, t.mask, t.data) for t in bench.bus.transfers if t.write][:-1]


@cocotb.test()
async def every_store_is_written_once_and_in_order(dut):
    bench = Bench(dut)
    for buffered in (0, 1):
        for most in (0, 1, 4):
            bench.bus.draw_wait_states(most, most)
            code = [*write("mbusmode", buffered), *rv.li(DEVICE, RAM)]
            expected = []
            for number in range(40):
                code += [rv.addi(A, 0, number), *[rv.NOP] * (number % 4)]
                code.append(rv.store("sw", A, DEVICE, 4 * (number % 7)))
                expected.append((RAM + 4 * (number % 7), 15, number))
            await bench.execute([*code, *finish()])
            assert stores(bench) == expected, f"buffered {buffered}, wait states {most}"


@cocotb.test()
async def loads_and_stores_of_a_tier_keep_their_order(dut):
    bench = Bench(dut)
    for buffered in (0, 1):
        for most in (0, 3):
            bench.bus.draw_wait_states(most, most)
            code = [*write("mbusmode", buffered), *rv.li(DEVICE, RAM)]
            expected = []
            rng = random.Random(buffered)
            for number in range(60):
                offset = 4 * rng.randrange(8)
                write_it = rng.random() < 0.5
                code.append(rv.store("sw", A, DEVICE, offset) if write_it
                             else rv.load("lw", 12 + number % 8, DEVICE, offset))  # fmt: skip
                expected.append((write_it, RAM + offset))
            await bench.execute([*code, *finish()])
            assert [(t.write, t.address) for t in bench.bus.transfers][:-1] == expected


@cocotb.test()
async def byte_and_half_word_accesses_select_their_lanes(dut):
    bench = Bench(dut)
    code = [*rv.li(DEVICE, RAM), *rv.li(A, 0xA1B2_C3D4)]
    expected = []
    for name, size, mask in (("sb", 1, 1), ("sh", 2, 3), ("sw", 4, 15)):
        for place_ in range(0, 4, size):
            code.append(rv.store(name, A, DEVICE, place_))
            expected.append(mask << place_)
    code += [rv.load("lbu", B, DEVICE, 2)]
    await bench.execute([*code, *finish()])
    assert [mask for _, mask, _ in stores(bench)] == expected
    load = bench.bus.transfers[-2]
    assert not load.write
    assert load.mask == 0b0100


@cocotb.test()
async def a_repeated_or_interrupted_access_is_not_made_twice(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    for buffered in (0, 1):
        for most in (0, 2, 5):
            bench.bus.draw_wait_states(most, most)
            count = [0]

            def device(counted: list[int] = count) -> int:
                counted[0] += 1
                return counted[0]

            bench.bus.on_read(RAM + 0x100, device)
            # The handler uses the bus as well.
            body = [rv.load("lw", A, DEVICE, 0), rv.addi(A, A, 1), rv.store("sw", A, DEVICE, 0)]
            prologue = [*rv.li(DEVICE, RAM), *write("mbusmode", buffered)]
            bench.poke(RAM, 0)
            bench.load(place(bench, top), waiting_loop(body, lines=1, prologue=prologue))
            # Each read of the device gives the next number: none may be lost.
            loop = [
                rv.load("lw", A, DEVICE, 0x100), rv.r_type("add", C, C, A),
                rv.store("sw", C, DEVICE, 4), rv.addi(COUNT, COUNT, -1),
            ]  # fmt: skip
            code = [*start({top: place(bench, top)}), *rv.li(DEVICE, RAM), *rv.li(COUNT, 40)]
            code += [*write("mbusmode", buffered), rv.addi(C, 0, 0)]
            code += [*loop, rv.branch("bne", COUNT, 0, -4 * len(loop))]

            def lines() -> None:
                bench.lines = int(bench.cycle % 29 < 2)

            bench.each_cycle[:] = [lines]
            await bench.execute([*code, *finish(C)])
            assert bench.result == sum(range(1, 41))
            assert count[0] == 40
            handled = len(bench.seen.at(place(bench, top) + 4 * (len(prologue) + 4), top))
            writes = [t for t in bench.bus.transfers if t.write and t.address == RAM]
            assert [t.data for t in writes] == [*range(1, len(writes) + 1)]
            assert abs(len(writes) - handled) <= 1


@cocotb.test()
async def an_access_that_its_own_tier_is_interrupted_in_is_not_made_twice(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x7000
    # The handler uses the bus as well.
    body = [rv.load("lw", B, DEVICE, 8), rv.addi(B, B, 1), rv.store("sw", B, DEVICE, 8)]
    bench.load(handler, [*body, rv.MRET])
    loop = [
        rv.load("lw", A, DEVICE, 0x100), rv.r_type("add", C, C, A), rv.addi(COUNT, COUNT, -1),
    ]  # fmt: skip
    for tier in range(bench.params.tiers):
        for buffered, wait_states in itertools.product((0, 1), (0, 1, 5)):
            bench.bus.draw_wait_states(wait_states, wait_states)
            bench.poke(RAM + 8, 0)
            reads = itertools.count(1)
            bench.bus.on_read(RAM + 0x100, lambda numbers=reads: next(numbers))
            code = [*write("mtvec", handler), *rv.li(DEVICE, RAM), *rv.li(COUNT, 60)]
            code += [rv.addi(B, 0, 0), rv.addi(C, 0, 0), *write("mbusmode", buffered)]
            code += [*write("mlinemask", 1), *write("mie", MEI), *write("mstatus", 8)]
            code += [*loop, rv.branch("bne", COUNT, 0, -4 * len(loop)), *write("mstatus", 0)]
            code += [rv.branch("bne", B, 0, 8), rv.addi(C, 0, -1)]

            def lines() -> None:
                bench.lines = int(bench.cycle % 23 < 2)

            bench.each_cycle[:] = [lines]
            await run_in(bench, tier, code, result=C)
            assert bench.result == sum(range(1, 61)), f"tier {tier}, buffered {buffered}"


@cocotb.test()
async def an_urgent_access_waits_for_one_transaction_at_the_most(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    top = tiers - 1
    waits = 6
    bench.bus.wait_states = lambda address: waits
    urgent = RAM + 0x400
    # All tiers below keep the bus busy, tier 0 by fetching from it as well.
    loop = [rv.store("sw", 0, DEVICE, 0), rv.load("lw", A, DEVICE, 4)]
    for tier in range(1, top):
        code = [*rv.li(DEVICE, RAM + 0x40 * tier), *write("mbusmode", 1), *loop]
        bench.load(place(bench, tier), [*code, rv.jal(0, -4 * len(loop))])
    bench.load(RAM + 0x1000, [*rv.li(DEVICE, RAM), *loop, rv.jal(0, -4 * len(loop))])
    body = [rv.store("sw", 0, DEVICE, 0)]
    bench.load(place(bench, top), waiting_loop(body, lines=1, prologue=rv.li(DEVICE, urgent)))
    code = start({tier: place(bench, tier) for tier in range(1, tiers)})
    bench.load(place(bench, 0), [*code, *rv.li(A, RAM + 0x1000), rv.jalr(0, A, 0)])
    await bench.reset()
    await bench.step(300)
    delays = set()
    for phase in range(30):
        rise, _ = await raise_line(bench, 100 + phase, top, 42)
        (access,) = [t for t in bench.bus.transfers if t.address == urgent and t.begin > rise]
        # Issue, D, X, M; on the bus in the cycle behind M.
        ready = rise + 1 + 3 + 1
        delays.add(access.begin - ready)
        between = [t for t in bench.bus.transfers if t.begin >= ready and t.end < access.begin]
        assert not between, f"{between} went before the urgent access at {ready}"
    assert max(delays) <= waits + 1
    assert min(delays) >= 0


@cocotb.test()
async def of_waiting_tiers_the_most_urgent_has_the_bus_next(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    bench.bus.wait_states = lambda address: 20
    for tier in range(1, tiers):
        body = [rv.store("sw", 0, DEVICE, 0)]
        prologue = rv.li(DEVICE, RAM + 4 * tier)
        bench.load(place(bench, tier), waiting_loop(body, lines=1 << tier, prologue=prologue))
    code = start({tier: place(bench, tier) for tier in range(1, tiers)})
    code += [*rv.li(DEVICE, RAM), *[rv.NOP] * 60, *[rv.store("sw", 0, DEVICE, 0)] * 30]
    bench.load(place(bench, 0), [*code, rv.jal(0, -4)])
    await bench.reset()
    await bench.step(160)
    # One after another while tier 0's transaction is on the bus, the least urgent first.
    while len(bench.bus.transfers) < 3:
        await bench.step()
    await bench.step(16)
    done = len(bench.bus.transfers)
    for tier in range(1, tiers):
        bench.lines = 1 << tier
        await bench.step(2)
    bench.lines = 0
    await bench.step(200)
    order = [(t.address - RAM) // 4 for t in bench.bus.transfers[done:]]
    assert order[1:tiers] == [*range(tiers - 1, 0, -1)], order


@cocotb.test()
async def another_master_gets_the_bus_between_the_tiers_accesses(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    for wait_states, mode in itertools.product((0, 6, 8), (0, 1)):
        bench.bus.wait_states = lambda address, n=wait_states: n
        code = start({tier: place(bench, tier) for tier in range(1, tiers)})
        for tier in range(tiers):
            poll = [rv.load("lw", A, DEVICE, 0), rv.branch("beq", A, 0, -4)]
            registers = [*rv.li(DEVICE, RAM + 4 * tier), *write("mbusmode", mode)]
            head = [] if tier else code
            bench.load(place(bench, tier), [*head, *registers, *poll])
        await bench.reset()
        await bench.step(400)
        # Only a more urgent tier's follows at once.
        for earlier, later in itertools.pairwise(bench.bus.transfers):
            at_once = later.begin == earlier.end + 1
            assert not at_once or later.address > earlier.address, f"{wait_states}, mode {mode}"


@cocotb.test()
async def buffered_loads_of_all_tiers_come_back_to_their_own_registers(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    for most in (0, 1, 3):
        bench.bus.draw_wait_states(most, most)
        results = bench.params.dmem.base
        bench.load(results, [0] * 64)
        for tier in range(tiers):
            head = start({n: place(bench, n) for n in range(1, tiers)}) if tier == 0 else []
            code = [*head, *write("mbusmode", 1), *rv.li(DEVICE, RAM + 0x200 * tier),
                    *rv.li(LOCAL, results + 64 * tier), *rv.li(COUNT, 0)]  # fmt: skip
            for number in range(24):
                bench.poke(RAM + 0x200 * tier + 4 * number, (tier + 1) * 0x100 + number)
                # With work in between, in every slot that writes a register.
                code += [rv.load("lw", A, DEVICE, 4 * number), *[rv.addi(B, B, 1)] * (number % 7)]
                code += [rv.r_type("add", COUNT, COUNT, A)]
            code += [rv.store("sw", COUNT, LOCAL, 0), rv.store("sw", B, LOCAL, 4)]
            end = finish() if tier == 0 else [rv.WFI, rv.jal(0, -4)]
            bench.load(place(bench, tier), [rv.addi(B, 0, 0), *code, *end])
        await bench.reset()
        await bench.run(20_000)
        for tier in range(tiers):
            total = sum((tier + 1) * 0x100 + number for number in range(24))
            assert bench.peek(results + 64 * tier) == total, f"tier {tier}"
            assert bench.peek(results + 64 * tier + 4) == sum(number % 7 for number in range(24))


@cocotb.test()
async def a_buffered_load_to_x0_changes_nothing(dut):
    bench = Bench(dut)
    for waits, distance in itertools.product((0, 5), range(12)):
        bench.bus.wait_states = lambda address, waits=waits: waits
        code = [*rv.li(DEVICE, RAM), *rv.li(A, 0x5A5A_5A5A), rv.store("sw", A, DEVICE, 0)]
        code += [*write("mbusmode", 1), rv.load("lw", 0, DEVICE, 0), *[rv.NOP] * distance]
        code += [rv.r_type("add", A, 0, 0), *[rv.NOP] * 24, rv.r_type("or", A, A, 0)]
        await bench.execute([*code, *finish(A)])
        assert bench.result == 0, f"{waits} wait states, used {distance} later"
