"""Pending lines, masks, priorities, time stamps."""

from __future__ import annotations

import random

import cocotb
import encoding as rv
from bench import RAM, Bench
from line_model import groups, most_urgent
from programs import CSR, finish, place, read, start, write

A, B, C = 6, 7, 8
DEVICE = 10
#: What a program reads from the bench and tells it, over the bus.
INPUTS, RESULTS = RAM, RAM + 0x1000


class Dialogue:
    """A loop in a tier that reads words from INPUTS into CSRs, and CSRs into RESULTS."""

    def __init__(self, bench: Bench, writes: list[str], reads: list[str], tier: int = 0) -> None:
        self.bench = bench
        self.writes = writes
        base = place(bench, tier)
        code = rv.li(DEVICE, INPUTS)
        begin = len(code)
        for number, name in enumerate(writes):
            code += [rv.load("lw", A, DEVICE, 4 * number), rv.csr("csrrw", 0, CSR[name], A)]
        #: Address of the instruction that reads each CSR.
        self.reads = {}
        gets = []
        # One after another without gaps, in registers from x11 on.
        for number, name in enumerate(reads):
            self.reads[name] = base + 4 * (len(code) + number)
            gets.append(read(name, 11 + number))
        code += gets
        code += rv.li(B, RESULTS)
        code += [rv.store("sw", 11 + n, B, 4 * n) for n in range(len(reads))]
        code.append(rv.jal(0, 4 * (begin - len(code))))
        bench.load(base, code)
        if tier:
            bench.load(place(bench, 0), [*start({tier: base}), rv.WFI])
        self._count = len(reads)

    async def ask(self, *values: int) -> list[int]:
        """Write the values, return what is read then."""
        bench = self.bench
        bench.load(INPUTS, values)
        # The round that is going on has read old values.
        for _ in range(2):
            done = len(bench.bus.transfers)
            last = RESULTS + 4 * (self._count - 1)
            for _ in range(2000):
                await bench.step()
                if any(t.write and t.address == last for t in bench.bus.transfers[done:]):
                    break
            else:
                raise AssertionError("the program does not answer")
        return [bench.peek(RESULTS + 4 * n) for n in range(self._count)]


@cocotb.test()
async def mlineclaim_names_the_most_urgent_pending_line_of_the_tier(dut):
    bench = Bench(dut)
    lines = bench.params.lines
    rng = random.Random(2)
    cases = [([0] * lines, (1 << lines) - 1, (1 << lines) - 1)]
    for line in range(lines):
        cases.append(([15] * lines, 1 << line, (1 << lines) - 1))
    for _ in range(120):
        top = rng.choice((1, 3, 15))
        cases.append(
            (
                [rng.randint(0, top) for _ in range(lines)],
                rng.getrandbits(lines) & rng.getrandbits(lines),
                rng.getrandbits(lines) | rng.getrandbits(lines),
            )
        )
    names = [f"mlineprio{n}" for n in range((lines + 7) // 8)]
    for tier in range(bench.params.tiers):
        dialogue = Dialogue(
            bench, ["mlinemask", *names], ["mlineclaim", "mlinepend", "mlineraw"], tier
        )
        await bench.reset()
        # The tiers share what finds the most urgent line.
        for priorities, high, mask in cases[:: 1 if tier == 0 else 4]:
            bench.lines = high
            claim, pending, raw = await dialogue.ask(mask, *groups(priorities))
            assert (pending, raw) == (high & mask, high), f"tier {tier}"
            assert claim == most_urgent(high & mask, priorities), f"{high & mask:#x} {priorities}"


@cocotb.test()
async def a_new_priority_counts_for_the_next_instruction(dut):
    bench = Bench(dut)
    code = [*write("mlinemask", 6), rv.csr("csrrwi", 0, CSR["mlineprio0"], 0)]
    code += rv.li(B, 1 << 8)
    claims = []
    # Line 1, then 2 which is more urgent, and again; read at once, and a few instructions later.
    for between in range(3):
        for source in (0, B):
            code.append(rv.csr("csrrw", 0, CSR["mlineprio0"], source))
            code += [rv.NOP] * between
            claims.append(11 + len(claims))
            code.append(read("mlineclaim", claims[-1]))
    code += rv.li(DEVICE, RESULTS)
    code += [rv.store("sw", register, DEVICE, 4 * n) for n, register in enumerate(claims)]
    bench.load(bench.params.reset_address, [*code, *finish()])
    await bench.reset()
    bench.lines = 6
    await bench.run()
    assert [bench.peek(RESULTS + 4 * n) for n in range(6)] == [2, 3] * 3


@cocotb.test()
async def levels_follow_their_line_and_edges_stay_until_they_are_acknowledged(dut):
    bench = Bench(dut)
    lines = bench.params.lines
    everything = (1 << lines) - 1
    edges = 0x5A5A_5A5A & everything
    dialogue = Dialogue(bench, ["mlineedge", "mlineack"], ["mlineraw"])
    await bench.reset()
    await dialogue.ask(edges, everything)
    rng = random.Random(4)
    latched = high = 0
    for _ in range(60):
        new = rng.getrandbits(lines)
        acknowledged = rng.getrandbits(lines)
        # Without acknowledging for a round, then with it.
        await dialogue.ask(edges, 0)
        bench.lines = new
        latched |= edges & new & ~high
        high = new
        await bench.step(3)
        (raw,) = await dialogue.ask(edges, 0)
        assert raw == latched | high & ~edges
        (raw,) = await dialogue.ask(edges, acknowledged)
        latched &= ~acknowledged
        assert raw == latched | high & ~edges


@cocotb.test()
async def a_line_that_becomes_a_level_forgets_its_edge(dut):
    bench = Bench(dut)
    dialogue = Dialogue(bench, ["mlineedge"], ["mlineraw"])
    await bench.reset()
    await dialogue.ask(0xFF)
    bench.lines = 0x0F
    await bench.step(2)
    bench.lines = 0
    assert await dialogue.ask(0xFF) == [0x0F]
    assert await dialogue.ask(0xF0) == [0]
    assert await dialogue.ask(0xFF) == [0]


@cocotb.test()
async def mlinestamp_is_the_cycle_of_the_rise_even_of_lines_that_rise_together(dut):
    bench = Bench(dut)
    lines = bench.params.lines
    rng = random.Random(6)
    # As many as there are registers for.
    some = sorted(rng.sample(range(lines), min(14, lines)))
    names = [f"mlinestamp{line}" for line in some]
    dialogue = Dialogue(bench, [], ["mcycle", *names])
    await bench.reset()
    last = {}
    for count in (1, 2, 5, lines, lines, lines // 2):
        bench.lines = 0
        await dialogue.ask()
        rising = rng.sample(range(lines), count)
        # All at once, or in a few cycles one after another.
        steps = rng.choice((1, 1, 3, 7))
        for step in range(steps):
            new = rising[step::steps]
            bench.lines |= sum(1 << line for line in new)
            last |= dict.fromkeys(new, bench.cycle)
            await bench.step()
        # One stamp is written in each cycle.
        await bench.step(lines + 2)
        now, *stamps = await dialogue.ask()
        read_at = [r.cycle for r in bench.seen.of(0) if r.pc == dialogue.reads["mcycle"]][-1]
        # mcycle of cycle n.
        zero = now - read_at
        for line, stamp in zip(some, stamps, strict=True):
            if line in last:
                assert stamp == last[line] + zero, f"line {line} of {count} lines"


@cocotb.test()
async def a_line_is_stamped_again_each_time_it_becomes_pending(dut):
    bench = Bench(dut)
    dialogue = Dialogue(bench, ["mlineedge"], ["mcycle", "mlinestamp0", "mlinestamp1"])
    await bench.reset()
    await dialogue.ask(2)
    first_rise = None
    for _ in range(4):
        rise = bench.cycle
        first_rise = rise if first_rise is None else first_rise
        bench.lines = 3
        await bench.step(2)
        bench.lines = 0
        await bench.step(2)
        now, level, edge = await dialogue.ask(2)
        read_at = [r.cycle for r in bench.seen.of(0) if r.pc == dialogue.reads["mcycle"]][-1]
        # The edge line stays pending: it is not acknowledged.
        assert (level, edge) == (now - read_at + rise, now - read_at + first_rise)


@cocotb.test()
async def a_stamp_has_all_bits_of_mcycle(dut):
    bench = Bench(dut)
    dialogue = Dialogue(bench, ["mcycle"], ["mlinestamp0"])
    await bench.reset()
    for pattern in (0xAAAA_AA00, 0x5555_5400, 0xFFFF_FC00, 0):
        await dialogue.ask(pattern)
        bench.lines = 1
        await bench.step(2)
        bench.lines = 0
        (stamp,) = await dialogue.ask(0)
        assert 0 < stamp - pattern < 0x200, f"{stamp:#x} is not soon after {pattern:#x}"
