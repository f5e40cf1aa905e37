"""Stage X by itself: which addresses are those of local data memory."""

from __future__ import annotations

import random

import pytest
from amaranth.sim import Simulator
from slow_turns import turns

from tierv.rtl.backend.execute import Execute
from tierv.rtl.params import CoreParams, Region

#: The offset of a load or store, sign extended.
OFFSETS = range(-(1 << 11), 1 << 11)
#: Sizes, log2, like 11 or 24: less than an offset reaches, or more.
SLOW = (10, 12, 15)
#: Away from all regions of data memory here.
IMEM = Region(base=0x2000_0000, size_bytes=32 << 10)


def addresses(region: Region, seed: int):
    """Pairs of rs1 and offset: sums around the ends of the region, and others."""
    rng = random.Random(seed)
    ends = (region.base, region.base + region.size_bytes)
    for end in ends:
        for distance in range(-8, 9, 4):
            for offset in (OFFSETS.start, -4, 0, 4, OFFSETS.stop - 4, rng.choice(OFFSETS) & ~3):
                yield (end + distance - offset) % (1 << 32), offset
    for _ in range(400):
        near = rng.choice(ends) + rng.randrange(-(1 << 13), 1 << 13)
        offset = rng.choice(OFFSETS) & ~3
        yield rng.choice((near & ~3, rng.getrandbits(32) & ~3)) % (1 << 32), offset


@pytest.mark.parametrize("size_log2", turns([10, 11, 12, 15, 24], SLOW))
@pytest.mark.parametrize("place", ["lowest", "highest", "usual", "odd"])
def test_a_store_goes_to_local_memory_if_its_address_lies_there(size_log2, place):
    size = 1 << size_log2
    base = {
        "lowest": 0,
        "highest": (1 << 32) - size,
        "usual": 0x3000_0000,
        "odd": 0x5000_0000 + 3 * size,
    }[place]
    region = Region(base=base, size_bytes=size)
    execute = Execute(CoreParams(tiers=1, imem=IMEM, dmem=region))
    seen = set()

    async def bench(ctx):
        decoded = execute.decoded
        ctx.set(decoded.valid, 1)
        ctx.set(decoded.control.store, 1)
        ctx.set(decoded.control.funct3, 2)
        for first, offset in addresses(region, size_log2):
            ctx.set(decoded.first, first)
            ctx.set(decoded.offset, offset % (1 << 12))
            await ctx.tick()
            inside = (first + offset) % (1 << 32) in range(base, base + size)
            assert ctx.get(execute.dmem_write_mask) == (0b1111 if inside else 0), (
                f"{first:#x} {offset:+d}"
            )
            seen.add(inside)

    simulator = Simulator(execute)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == {False, True}
