"""Tiers start and stop, each other and themselves."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import CSR, bits, finish, place, read, start, waiting_loop, write

A, B, C, COUNT = 6, 7, 8, 9
LOCAL = 10


@cocotb.test()
async def only_tier_0_runs_after_reset(dut):
    bench = Bench(dut)
    bench.load(place(bench, 0), [read("mtierrun", A), *[rv.NOP] * 20, *finish(A)])
    await bench.reset()
    assert await bench.run() == 1
    assert {issue.tier for issue in bench.seen.issues} == {0}
    assert bench.seen.retirements[0].pc == bench.params.reset_address


@cocotb.test()
async def a_tier_starts_at_its_address_with_its_argument(dut):
    bench = Bench(dut)
    for tier in range(1, bench.params.tiers):
        code = [*write(f"mtierarg{tier}", 0xCAFE_0000 + tier), *start({tier: place(bench, tier)})]
        bench.load(place(bench, 0), [*code, rv.jal(0, 0)])
        bench.load(place(bench, tier), [read("mscratch", A), *finish(A)])
        await bench.reset()
        assert await bench.run() == 0xCAFE_0000 + tier
        assert bench.seen.of(tier)[0].pc == place(bench, tier)
        identity = [read("mhartid", A), *finish(A)]
        bench.load(place(bench, tier), identity)
        await bench.reset()
        assert await bench.run() == tier


@cocotb.test()
async def mtierpc_reads_0_so_that_clearing_bits_leaves_0(dut):
    bench = Bench(dut)
    if bench.params.tiers == 1:
        return
    code = [*rv.li(A, place(bench, 1)), rv.csr("csrrw", 0, CSR["mtierpc1"], A)]
    code += [rv.csr("csrrc", 0, CSR["mtierpc1"], A), *write("mtierrun", 0b11)]
    bench.load(place(bench, 0), [*code, rv.jal(0, 0)])
    bench.load(0, [rv.NOP, *finish(A)])
    await bench.reset()
    await bench.run()
    assert bench.seen.of(1)[0].pc == 0


@cocotb.test()
async def several_tiers_start_at_once_and_the_most_urgent_runs_first(dut):
    bench = Bench(dut)
    tiers = bench.params.tiers
    for tier in range(1, tiers):
        bench.load(place(bench, tier), [*[rv.addi(A, A, 1)] * 30, rv.WFI, rv.jal(0, -4)])
    code = start({tier: place(bench, tier) for tier in range(1, tiers)})
    bench.load(place(bench, 0), [*code, rv.jal(0, 0)])
    await bench.reset()
    await bench.step(200)
    ends = [bench.seen.of(tier)[-1].cycle for tier in range(1, tiers)]
    assert ends == sorted(ends, reverse=True)
    assert all(len(bench.seen.of(tier)) == 31 for tier in range(1, tiers))


@cocotb.test()
async def a_started_tier_ignores_pc_and_argument(dut):
    bench = Bench(dut)
    away = bench.params.reset_address + 0x7000
    bench.load(away, finish(0))
    code = [
        *write("mscratch", 5), *write("mtierpc0", away), *write("mtierarg0", 6),
        read("mscratch", A), *[rv.NOP] * 10,
    ]  # fmt: skip
    await bench.execute([*code, *finish(A)])
    assert bench.result == 5
    assert not bench.seen.at(away)


@cocotb.test()
async def mtierrun_starts_and_stops_those_that_it_names_in_every_form_of_access(dut):
    bench = Bench(dut)
    all_tiers = (1 << bench.params.tiers) - 1
    for tier in range(1, bench.params.tiers):
        bench.load(place(bench, tier), [rv.WFI, rv.jal(0, -4)])
    for before, source in itertools.product(range(0, all_tiers, 2), repeat=2):
        for form, after in (
            ("csrrw", source),
            ("csrrs", before | source),
            ("csrrc", before & ~source),
        ):
            # Tier 0, which asks, runs on.
            operand = source if form == "csrrc" else source | 1
            begun = start({t: place(bench, t) for t in range(1, 8) if before >> t & 1})
            code = [*begun, *[rv.NOP] * 20, *rv.li(A, operand)]
            code += [rv.csr(form, B, CSR["mtierrun"], A), *[rv.NOP] * 20, read("mtierrun", C)]
            code += [*rv.li(LOCAL, bench.params.dmem.base), rv.store("sw", B, LOCAL, 0)]
            await bench.execute([*code, *finish(C)])
            text = f"{form} {operand:#x} of {before | 1:#x}"
            assert bench.peek(bench.params.dmem.base) == before | 1, text
            assert bench.result == after | 1, f"{text} leaves {bench.result:#x}"


async def stopped_tier(bench: Bench, body: list[int]) -> None:
    """The top tier runs the body in a loop; tier 0 stops it for a while.

    Ends long after that.
    """
    top = bench.params.tiers - 1
    bench.load(place(bench, top), [*rv.li(LOCAL, RAM), *rv.li(B, 7), *body,
                                   rv.jal(0, -4 * len(body))])  # fmt: skip
    code = [*start({top: place(bench, top)}), *rv.li(A, bits(top))]
    # Tier 0 has the slots that the top tier leaves, which are many as it divides or waits.
    code += [rv.csr("csrrc", 0, CSR["mtierrun"], A), *[rv.NOP] * 100, read("mtierrun", C)]
    code += [rv.csr("csrrs", 0, CSR["mtierrun"], A), *[rv.NOP] * 100]
    bench.load(place(bench, 0), [*code, *finish(C)])
    await bench.reset()
    await bench.run(20_000)


@cocotb.test()
async def a_stopped_tier_goes_on_where_it_was(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    bodies = {
        "divide": [rv.addi(COUNT, COUNT, 1), rv.r_type("div", C, COUNT, B)],
        "branch": [rv.branch("beq", 0, 0, 8), rv.NOP, rv.r_type("div", C, B, B)],
        "bus": [rv.load("lw", C, LOCAL, 0), rv.addi(C, C, 1), rv.store("sw", C, LOCAL, 0)],
        "jump": [rv.auipc(C, 0), rv.jalr(0, C, 8), rv.r_type("div", C, B, B)],
    }
    for name, body in bodies.items():
        for wait_states in (0, 3):
            bench.bus.wait_states = lambda address, n=wait_states: n
            await stopped_tier(bench, body)
            assert bench.result == 1, f"{name}: mtierrun is {bench.result:#x} while it is stopped"
            retired = bench.seen.of(top)
            gaps = [(b.cycle - a.cycle, a, b) for a, b in itertools.pairwise(retired)]
            pause, last, following = max(gaps, key=lambda gap: gap[0])
            assert pause > 90, name
            # It goes on with what comes next in its program.
            nexts = {a.pc: b.pc for _, a, b in gaps if b is not following}
            expected = nexts.get(last.pc, last.pc + 4)
            assert following.pc == expected, f"{name}: {last} then {following}"
            bench.poke(RAM, 0)


@cocotb.test()
async def a_tier_that_stops_itself_executes_nothing_more(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    own = [*rv.li(A, bits(top)), rv.csr("csrrc", 0, CSR["mtierrun"], A), rv.addi(B, B, 1)]
    bench.load(place(bench, top), [*own, rv.store("sw", 0, LOCAL, 0), *finish(B)])
    code = [*start({top: place(bench, top)}), *[rv.NOP] * 60, read("mtierrun", C)]
    bench.load(place(bench, 0), [*code, *finish(C)])
    await bench.reset()
    assert await bench.run() == 1
    assert bench.seen.of(top)[-1].pc == place(bench, top) + 8


@cocotb.test()
async def a_stopped_tier_keeps_its_interrupt_enable(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    for tier in range(bench.params.tiers):
        other = 0 if tier else top
        own = [*write("mstatus", 8), *rv.li(A, bits(tier)), rv.csr("csrrc", 0, CSR["mtierrun"], A)]
        code = start({other: place(bench, other)}) if other else []
        bench.load(place(bench, tier), [*code, *own, *[rv.NOP] * 8, read("mstatus", B), *finish(B)])
        # Divided, so that a less urgent tier has slots, until the tier is no more started.
        code = [] if other else start({tier: place(bench, tier)})
        code += [*rv.li(A, bits(tier)), *rv.li(C, 1)]
        loop = [rv.r_type("div", C, C, C), read("mtierrun", B), rv.r_type("and", B, B, A)]
        code += [*loop, rv.branch("bne", B, 0, -4 * len(loop)), *[rv.NOP] * 40]
        code += [rv.csr("csrrs", 0, CSR["mtierrun"], A), rv.WFI, rv.jal(0, -4)]
        bench.load(place(bench, other), code)
        await bench.reset()
        assert await bench.run() == 0x1808, f"tier {tier}"


@cocotb.test()
async def a_stopped_tier_can_be_started_elsewhere(dut):
    bench = Bench(dut)
    elsewhere = bench.params.reset_address + 0x6000
    bench.load(elsewhere, [read("mscratch", A), rv.load("lw", B, LOCAL, 4),
                           rv.r_type("add", A, A, B), *finish(A)])  # fmt: skip
    bench.bus.wait_states = lambda address: 40 if address == RAM else 0
    bench.poke(RAM + 4, 5)
    instructions = (
        rv.r_type("div", A, A, A),
        rv.WFI,
        rv.load("lw", A, LOCAL, 0),
        rv.store("sw", A, LOCAL, 0),
    )
    # Stopped while it divides, while it waits for nothing, and in a long access to the bus.
    for tier in range(1, bench.params.tiers):
        for instruction in instructions:
            bench.load(place(bench, tier), [*rv.li(LOCAL, RAM), instruction, rv.jal(0, -4)])
            code = [*start({tier: place(bench, tier)}), *[rv.NOP] * 30, *rv.li(A, bits(tier))]
            code += [rv.csr("csrrc", 0, CSR["mtierrun"], A)]
            # Until it is no more started.
            code += [read("mtierrun", B), rv.r_type("and", B, B, A), rv.branch("bne", B, 0, -8)]
            code += [*write(f"mtierarg{tier}", 77), *start({tier: elsewhere}), rv.jal(0, 0)]
            bench.load(place(bench, 0), code)
            await bench.reset()
            assert await bench.run() == 77 + 5, f"tier {tier}, {instruction:#x}"


@cocotb.test()
async def a_tier_that_is_stopped_while_it_waits_does_not_wake(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    bench.load(place(bench, top), waiting_loop([rv.addi(A, A, 1)], lines=1))
    code = [*start({top: place(bench, top)}), *[rv.NOP] * 60, *rv.li(A, bits(top))]
    code += [rv.csr("csrrc", 0, CSR["mtierrun"], A), *[rv.NOP] * 100]
    code += [rv.csr("csrrs", 0, CSR["mtierrun"], A), *[rv.NOP] * 60]
    bench.load(place(bench, 0), [*code, *finish()])
    await bench.reset()

    def lines() -> None:
        bench.lines = int(bench.cycle > 110)

    bench.each_cycle.append(lines)
    await bench.run()
    stop = bench.seen.at(place(bench, 0) + 4 * (code.index(rv.csr("csrrc", 0, CSR["mtierrun"], A))))
    go = bench.seen.at(place(bench, 0) + 4 * (len(code) - 61))
    issued = bench.seen.issued(top)
    assert not [cycle for cycle in issued if stop[0] + 4 < cycle <= go[0]]
    assert [cycle for cycle in issued if cycle > go[0]]
