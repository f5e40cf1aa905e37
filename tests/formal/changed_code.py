"""Code that changes under a running tier: what comes twice is what it was, or something else."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Cat, Mux, Signal

from .bench import DMEM, Bench, is_local, small_core
from .chains import Follower
from .check import Check
from .programs import boot


def accesses(bench: Bench) -> None:
    """A precise access that retires has been made by itself, and what was begun holds up nobody.

    Every fetch may find another word. One tier, so that an access is on the bus as soon as it is
    opened.
    """
    follower = Follower(bench)
    core, m = bench.core, bench.m
    direct = follower.direct
    ends = core.wb_cyc & core.wb_stb & (core.wb_ack | core.wb_err)
    is_fetch = bench.watch("core.bus.active_fetch", 1)
    begins = core.wb_cyc & ~is_fetch & ~bench.past(core.wb_cyc & ~ends)
    data_ends = ends & ~is_fetch

    # The last transaction, and whether it began behind the last instruction.
    fresh = Signal(name="fresh")
    with m.If(begins):
        m.d.sync += fresh.eq(1)
    with m.Elif(follower.shown):
        m.d.sync += fresh.eq(0)
    seen = {
        "address": (core.wb_adr, direct.mem_addr[2:]),
        "write": (core.wb_we, direct.mem_wmask != 0),
        "bytes": (core.wb_sel, direct.mem_rmask | direct.mem_wmask),
    }
    kept = {name: Signal(len(value), name=name) for name, (value, _) in seen.items()}
    data, failed = Signal(32, name="data"), Signal(name="failed")
    with m.If(data_ends):
        m.d.sync += [
            *(kept[name].eq(value) for name, (value, _) in seen.items()),
            data.eq(Mux(core.wb_we, core.wb_dat_w, core.wb_dat_r)),
            failed.eq(core.wb_err),
        ]
    lanes = Cat(bit.replicate(8) for bit in kept["bytes"])
    shown_data = Mux(direct.mem_wmask != 0, direct.mem_wdata, direct.mem_rdata)
    remote = (seen["bytes"][1] != 0) & ~is_local(direct.mem_addr, DMEM)
    retires = follower.shown & remote & ~bench.past(core._m.buffered)
    bench.prove("made_behind_the_last", retires, fresh)
    bench.prove(
        "is_its_own",
        retires,
        Cat(kept[name] == value for name, (_, value) in seen.items()).all()
        & ~failed
        & (((data ^ shown_data) & lanes) == 0),
    )
    bench.prove("held_up_by_nothing", follower.shown, ~follower.of(core._bus.precise))


def divisions(bench: Bench) -> None:
    """The quotient that a division gets is of its own operands."""
    core, m = bench.core, bench.m
    divider, x = core._divider, core._execute.x
    begins = bench.watch("core.divider.begins", 1)
    asked = bench.named(Cat(x.control.funct3, x.first, x.second), "asked")
    divided = Signal(len(asked), name="divided")
    with m.If(begins):
        m.d.sync += divided.eq(asked)
    commit, stage = core._commit, core._m
    gets = bench.named(divider.ready & divider.request, "gets")
    wrong = bench.past(asked != divided)
    retires = commit.retired.valid & stage.control.divide
    bench.prove("of_its_operands", retires & bench.past(gets), ~wrong)


def _bench(fill) -> Bench:
    bench = Bench(small_core(1), program=boot(1))
    fill(bench)
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name=f"changed-{fill.__name__}",
        claim=fill.__doc__.splitlines()[0],
        build=partial(_bench, fill),
        depth=depth,
        short=fill is divisions,
    )
    for fill, depth in ((accesses, 18), (divisions, 14))
]
