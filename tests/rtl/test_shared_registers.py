"""Registers of all tiers that one changes while another looks: cycle by cycle, in the units."""

from __future__ import annotations

import itertools
import random

import pytest
from amaranth.sim import Simulator
from line_model import groups, most_urgent

from tierv.rtl.debug.triggers import Triggers
from tierv.rtl.isa import (
    LINE_PRIORITY_BITS,
    LINES_PER_PRIORITY_CSR,
    csr_addresses,
    debug_csr_addresses,
)
from tierv.rtl.params import CoreParams
from tierv.rtl.system.csr import CsrFile
from tierv.rtl.system.lines import LineUnit

CSR = csr_addresses() | debug_csr_addresses()
WRITE, SET = 1, 2


def simulate(unit, bench) -> None:
    """Run a testbench on the unit, with a clock."""
    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_the_claim_is_by_the_priorities_before_or_after_a_change():
    params = CoreParams(tiers=2, lines=LINES_PER_PRIORITY_CSR)
    unit = LineUnit(params)
    rng = random.Random(1)

    async def bench(ctx):
        async def late(name: str, data: int, tier: int = 0) -> None:
            ctx.set(unit.late_write.write, 1)
            ctx.set(unit.late_write.address, CSR[name])
            ctx.set(unit.late_write.tier, tier)
            ctx.set(unit.late_write.data, data)
            await ctx.tick()
            ctx.set(unit.late_write.write, 0)

        await late("mlinemask", (1 << params.lines) - 1)
        priorities = [0] * params.lines
        for _ in range(300):
            pending = rng.getrandbits(params.lines)
            ctx.set(unit.lines, pending)
            await ctx.tick().repeat(4)
            before = most_urgent(pending, priorities)
            priorities = [rng.getrandbits(LINE_PRIORITY_BITS) for _ in range(params.lines)]
            after = most_urgent(pending, priorities)
            await late("mlineprio0", *groups(priorities))
            seen = []
            for _ in range(4):
                seen.append(ctx.get(unit.claim))
                await ctx.tick()
            assert set(seen) <= {before, after}, (hex(pending), seen, before, after)
            assert seen[-1] == after

    simulate(unit, bench)


@pytest.mark.parametrize(
    ("lines", "last_group"), [(11, 0xFFF), (16, 0xFFFF_FFFF), (32, 0xFFFF_FFFF)]
)
def test_what_another_tier_has_just_written_reads_as_it_will(lines, last_group):
    params = CoreParams(tiers=2, lines=lines)
    unit = CsrFile(params)

    async def bench(ctx):
        for name, kept in (
            ("mlineedge", (1 << params.lines) - 1),
            ("mlineprio0", 0xFFFF_FFFF),
            (f"mlineprio{(lines - 1) // LINES_PER_PRIORITY_CSR}", last_group),
        ):
            ctx.set(unit.x_accesses, 1)
            ctx.set(unit.x_address, CSR[name])
            await ctx.tick()
            ctx.set(unit.address, CSR[name])
            ctx.set(unit.operation, WRITE)
            ctx.set(unit.tier, 1)
            ctx.set(unit.source, 0xFFFF_FFFF)
            ctx.set(unit.writes, 1)
            ctx.set(unit.reads, 1)
            await ctx.tick()
            # It is in A; the read of another tier in M.
            ctx.set(unit.tier, 0)
            ctx.set(unit.writes, 0)
            await ctx.tick()
            assert ctx.get(unit.read_data) == kept, name
            ctx.set(unit.reads, 0)
            await ctx.tick().repeat(3)

    simulate(unit, bench)


def test_a_write_of_mcycle_is_seen_at_once_under_all_its_names():
    unit = CsrFile(CoreParams(tiers=2))
    counted, written = 7 << 32 | 5, 0x1234_5678

    async def bench(ctx):
        ctx.set(unit.cycle, counted)
        ctx.set(unit.operation, WRITE)
        ctx.set(unit.x_accesses, 1)
        for half, names in enumerate((("mcycle", "cycle", "time"), ("mcycleh", "cycleh", "timeh"))):
            for target, name in itertools.product(("mcycle", "mcycleh"), names):
                ctx.set(unit.x_address, CSR[target])
                await ctx.tick()
                ctx.set(unit.x_address, CSR[name])
                ctx.set(unit.address, CSR[target])
                ctx.set(unit.tier, 1)
                ctx.set(unit.source, written)
                ctx.set(unit.writes, 1)
                ctx.set(unit.reads, 1)
                await ctx.tick()
                # It is in A; the read of another tier in M.
                ctx.set(unit.address, CSR[name])
                ctx.set(unit.tier, 0)
                ctx.set(unit.writes, 0)
                await ctx.tick()
                kept = counted >> 32 * half & 0xFFFF_FFFF
                expected = written if target == names[0] else kept
                assert ctx.get(unit.read_data) == expected, (target, name)
                ctx.set(unit.reads, 0)
                await ctx.tick().repeat(3)

    simulate(unit, bench)


def test_no_operation_selects_a_trigger_that_there_is_not():
    params = CoreParams(tiers=1, debug=True, triggers=3)
    unit = Triggers(params)

    async def bench(ctx):
        ctx.set(unit.debug, 1)

        async def access(operation: int, source: int) -> int:
            ctx.set(unit.csr.address, CSR["tselect"])
            ctx.set(unit.csr.operation, operation)
            ctx.set(unit.csr.source, source)
            ctx.set(unit.csr.write, 1)
            await ctx.tick()
            ctx.set(unit.csr.write, 0)
            ctx.set(unit.csr_reads, 1)
            await ctx.tick()
            return ctx.get(unit.read_data)

        for number in range(params.triggers):
            assert await access(WRITE, number) == number
        assert await access(WRITE, 3) == 2
        assert await access(WRITE, 1) == 1
        assert await access(SET, 2) == 1
        assert await access(WRITE, 1 << 31) == 1

    simulate(unit, bench)
