"""The branch history by itself, against its model."""

from __future__ import annotations

import random
from dataclasses import asdict

import pytest
from amaranth.sim import Simulator
from branch_model import BranchModel, Remembered

from tierv.rtl.frontend.history import BranchHistory
from tierv.rtl.history_layouts import HISTORY
from tierv.rtl.params import CoreParams

#: From a branch in M to its first fetch that knows of it.
KNOWN_CYCLES = 2
CYCLES = 8000


def as_layout(remembered: Remembered) -> dict:
    """What the model knows of a branch as the core has it."""
    pattern, usual = asdict(remembered.pattern), asdict(remembered.usual)
    return {"past": remembered.past, "pattern": pattern, "usual": usual}


@pytest.mark.parametrize(
    ("tiers", "history_log2"),
    [
        (1, 1),
        pytest.param(1, 8, marks=pytest.mark.slow),
        pytest.param(3, 4, marks=pytest.mark.slow),
        (8, 8),
    ],
)
def test_history(tiers: int, history_log2: int) -> None:
    """Branches of all tiers that mostly repeat what they did, one fetched and one retired in
    almost every cycle."""
    rng = random.Random(tiers)
    history = BranchHistory(CoreParams(tiers=tiers, branch_history_log2=history_log2))
    models = [BranchModel(history_log2 - 1) for _ in range(tiers)]
    places = [rng.getrandbits(30) for _ in range(3 if tiers > 1 else 12)]
    branches = [(tier, pc) for tier in range(tiers) for pc in places]
    period = {branch: rng.choice((1, 1, 2, 3, 5, 9)) for branch in branches}
    times = dict.fromkeys(branches, 0)
    fetched: list[tuple[tuple[int, int], Remembered | None]] = []
    kept: list[tuple[int, BranchModel, int, Remembered | None]] = []
    seen = set()

    async def bench(ctx) -> None:
        for cycle in range(CYCLES):
            while kept and kept[0][0] <= cycle:
                _, model, pc, branch = kept.pop(0)
                model.keep(pc, branch)
            tier, pc = fetches = rng.choice(branches)
            ctx.set(history.lookup_tier, tier)
            ctx.set(history.lookup_pc, pc)
            found = models[tier].find(pc)
            expected = models[tier].expected(pc)

            retires = len(fetched) > rng.randrange(6)
            ctx.set(history.update, retires)
            if retires:
                (old_tier, old_pc), old = fetched.pop(0)
                times[old_tier, old_pc] += 1
                broken = times[old_tier, old_pc] % period[old_tier, old_pc] == 0
                broken ^= rng.randrange(50) == 0
                backward = rng.getrandbits(1)
                ctx.set(history.tier, old_tier)
                ctx.set(history.pc, old_pc)
                ctx.set(history.backward, backward)
                ctx.set(history.taken, backward ^ broken)
                ctx.set(history.old.known, old is not None)
                ctx.set(history.old.branch, as_layout(old or Remembered()))
                branch = models[old_tier].learn(old_pc, broken, old)
                kept.append((cycle + KNOWN_CYCLES, models[old_tier], old_pc, branch))
                seen.add((old is not None, bool(branch and branch.expected), broken))
            await ctx.tick()

            breaks = ctx.get(history.found.breaks)
            assert breaks >> (pc & 1) & 1 == expected, f"cycle {cycle}, tier {tier}, {pc:#x}"
            if found:
                pair = history.found.pair
                assert ctx.get(pair.word) == pc & 1
                assert ctx.get(pair.branch) == HISTORY.const(as_layout(found))
            fetched.append((fetches, found))

    simulator = Simulator(history)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert len(seen) >= 6
