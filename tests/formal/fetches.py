"""What executes is what lies in memory."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Cat

from tierv.rtl.isa import Cause

from .bench import CACHED, IMEM, Bench, is_local, small_core
from .chains import Follower
from .check import Check
from .programs import boot

#: Where a program begins that does not begin in local memory, which one jump reaches from there.
ON_BUS = 0x8_0000


def words(bench: Bench, first_place: int) -> None:
    """An instruction is the word at its address, and a fetch fault an error of the bus there.

    Programs begin at `first_place`.
    """
    follower = Follower(bench)
    core, direct = bench.core, follower.direct
    place = bench.any_constant(30, "place")
    word = bench.any_constant(32, "word")
    local = is_local(place << 2, IMEM)

    pair = bench.past(core.imem_address)
    found = core.imem_read_data.word_select(place[0], 32)
    bench.assume(~local | (pair != place[1 : 1 + len(pair)]) | (found == word))
    errors = []
    for port in ("wb", "mem") if bench.params.has_caches else ("wb",):
        cyc, stb, we, adr, dat_r, err = (
            getattr(core, f"{port}_{name}") for name in ("cyc", "stb", "we", "adr", "dat_r", "err")
        )
        reads = cyc & stb & ~we & (adr == place)
        bench.assume(~reads | (dat_r == word))
        errors.append(reads & err)
    failed = bench.held(Cat(errors).any(), name="failed")

    at_place = follower.shown & (direct.pc_rdata[2:] == place)
    fault = direct.trap & (bench.trap_cause() == Cause.INSTRUCTION_ACCESS)
    bench.prove("is_the_word", at_place & ~fault, direct.insn == word)
    is_remote = first_place != IMEM.base
    bench.prove("fault_has_an_error", at_place & fault, failed & ~local, seen=is_remote)
    bench.cover("local", at_place & local & ~direct.trap)
    if is_remote:
        bench.cover("remote", at_place & ~local & ~direct.trap)


def _bench(tiers: int, first_place: int) -> Bench:
    params = small_core(
        tiers,
        reset_address=first_place,
        icache_bytes=1 << 10 if first_place == CACHED.base else 0,
        cache_line_bytes=16,
        cached=CACHED,
    )
    bench = Bench(params, program=boot(tiers))
    words(bench, first_place)
    if params.has_caches:
        # Empty from the beginning. What is kept too long does no harm, for it never changes.
        bench.cut("core.instruction_cache.tags.cleared")
        bench.cover("hit", bench.watch("core.instruction_cache.hit", 1))
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name=f"fetches-{name}",
        claim=words.__doc__.splitlines()[0],
        build=partial(_bench, tiers, first_place),
        depth=depth,
        short=short_depth is not None,
        short_depth=short_depth,
    )
    for name, tiers, first_place, depth, short_depth in (
        ("1", 1, IMEM.base, 14, 12),
        ("1-bus", 1, ON_BUS, 20, 18),
        ("1-cached", 1, CACHED.base, 22, None),
        ("2", 2, IMEM.base, 20, None),
    )
]
