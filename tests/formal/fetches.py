"""What executes is what lies in memory."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Signal

from tierv.rtl.isa import Cause

from .bench import IMEM, Bench, is_local, small_core
from .chains import Follower
from .check import Check
from .programs import boot

#: An address on the bus from which one jump leads to local memory.
ON_BUS = 0x8_0000


def words(bench: Bench, on_bus: bool) -> None:
    """An instruction is the word at its address, and a fetch fault an error of the bus there.

    With ``on_bus`` the program begins on the bus.
    """
    follower = Follower(bench)
    core, direct = bench.core, follower.direct
    place = bench.any_constant(30, "place")
    word = bench.any_constant(32, "word")
    local = is_local(place << 2, IMEM)

    pair = bench.past(core.imem_address)
    found = core.imem_read_data.word_select(place[0], 32)
    bench.assume(~local | (pair != place[1 : 1 + len(pair)]) | (found == word))
    reads = core.wb_cyc & core.wb_stb & ~core.wb_we & (core.wb_adr == place)
    bench.assume(~reads | (core.wb_dat_r == word))
    failed = Signal(name="failed")
    bench.m.d.sync += failed.eq(failed | (reads & core.wb_err))

    at_place = follower.shown & (direct.pc_rdata[2:] == place)
    cause = bench.past(core._commit.trap.cause)
    fault = direct.trap & (cause == Cause.INSTRUCTION_ACCESS)
    bench.prove("is_the_word", at_place & ~fault, direct.insn == word)
    bench.prove("fault_has_an_error", at_place & fault, failed & ~local, seen=on_bus)
    bench.cover("local", at_place & local & ~direct.trap)
    if on_bus:
        bench.cover("on_bus", at_place & ~local & ~direct.trap)


def _bench(tiers: int, on_bus: bool) -> Bench:
    reset_address = ON_BUS if on_bus else IMEM.base
    bench = Bench(small_core(tiers, reset_address=reset_address), program=boot(tiers), errors=True)
    words(bench, on_bus)
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name=f"fetches-{tiers}{'-bus' if on_bus else ''}",
        claim=words.__doc__.splitlines()[0],
        build=partial(_bench, tiers, on_bus),
        depth=depth,
        short=short,
    )
    for tiers, on_bus, depth, short in (
        (1, False, 14, True),
        (1, True, 20, True),
        (2, False, 20, False),
    )
]
