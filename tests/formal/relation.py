"""How two cores with the same most urgent tier are related in every cycle.

What belongs to the urgent tier is the same in both; what belongs to others is not compared. Names
are those of the flattened design.
"""

from __future__ import annotations

from collections.abc import Iterator

from amaranth.hdl import C, Cat, Value
from amaranth.lib import data

from tierv.rtl.backend.bus import SlotState
from tierv.rtl.debug.join import CSR_PAGE
from tierv.rtl.frontend.fetch import BUFFER_PAIRS
from tierv.rtl.isa import csr_addresses, debug_csr_addresses
from tierv.rtl.layouts import (
    LOOP_BITS,
    PC_BITS,
    PRODUCER,
    arrival_layout,
    csr_access_layout,
    tier_event_layout,
)
from tierv.rtl.system.csr import SHARED_LATE_CSRS
from tierv.rtl.tierv import Core

from .bench import IMEM, Bench, one_of

CSR = csr_addresses()
#: CSRs through which a tier acts on others.
SHARED_CSRS = tuple(
    address
    for name, address in CSR.items()
    if name.startswith(
        ("mtierpc", "mtierarg", "mlineedge", "mlineack", "mlineprio", "mcycle", "mtierrun")
    )
    or name in ("mpost", "mceiling")
)

#: Addresses that are some CSR's, and some of external debug.
EXISTING = tuple(CSR.values())
DEBUG = tuple(debug_csr_addresses().values())

#: Registers with one element for each tier, and the element's width.
PER_TIER = {
    "fetcher.remote": 1,
    "fetcher.enabled": 1,
    "fetcher.latest": 2,
    "predecoder.returning": 1,
    "buffer.pairs": 4,
    "buffer.odds": 1,
    "buffer.heads": 2,
    "buffer.tails": 2,
    "tiers.started": 1,
    "tiers.waiting": 1,
    "tiers.wfi_in_pipe": 1,
    "tiers.waits_for_bus": 1,
    "tiers.waits_for_divider": 1,
    "tiers.waits_for_load": 1,
    "tiers.ceilings": 1,
    "csrs.sharing": 1,
    "csrs.buffered": 1,
    "csrs.before": 1,
    "tiers.interrupted": 1,
    "csrs._enabled": 1,
    "csrs.enable_mei": 1,
    "csrs.enable_mti": 1,
    "csrs.enable_msi": 1,
    "csrs.line_traps": 1,
    "line_unit.masks": 2,
}
#: Registers that are the same in both cores whoever uses them.
COMMON = {
    "csrs.posted": 2,
    "line_unit.priorities": 8,
    "line_unit.lower": 4,
    "line_unit.edges": 2,
    "line_unit.high_edges": 2,
    "line_unit.latched": 2,
    "cycles.value": 64,
}
#: Memories addressed by {tier, row}, and the rows of a tier.
ROWS = {
    "fetcher.sequential_pcs": 1,
    "fetcher.target_pcs": 1,
    "fetcher.redirect_pcs": 1,
    "predecoder.return_stack": 1,
    "predecoder.predicted": 1,
    "predecoder.seen": 1,
    "buffer.buffer": BUFFER_PAIRS,
    "buffer.flags": BUFFER_PAIRS,
    "operands.registers": 32,
    "csrs.vectors": 2,
    "csrs.scratch": 2,
    "csrs.causes": 1,
    "instructions.counters": 1,
    "begun_access.begun": 1,
}
#: The names by which a CSR instruction in stage M finds what it accesses.
NAMES = (
    "mbusmode",
    "mceiling",
    "mtierrun",
    "mlineprio0",
    "mlineclaim",
    "mlineraw",
    "mlinepend",
    "mlineedge",
    "mlinemask",
    "mcycleh",
    "mcycle",
    "cycleh",
    "cycle",
    "mhartid",
    "mimpid",
    "misa",
    "mpost",
    "mip",
    "mie",
    "mcause",
    "mtval",
    "mscratch",
    "mepc",
    "mtvec",
    "mstatus",
    "minstret",
    "minstreth",
    "mtierarg0",
    "mtierpc0",
    "shared",
)

#: Those of them by which a tier acts on others, and the addresses that each stands for.
MEANINGS = {
    "mtierrun": (CSR["mtierrun"],),
    "mpost": (CSR["mpost"],),
    "mtierpc0": tuple(CSR[f"mtierpc{tier}"] for tier in range(8)),
    "mtierarg0": tuple(CSR[f"mtierarg{tier}"] for tier in range(8)),
    "shared": tuple(CSR[name] for name in SHARED_LATE_CSRS),
}


class Side:
    """One of the two cores."""

    def __init__(self, bench: Bench, name: str, core: Core, top: int) -> None:
        self._bench, self.name, self.core, self.top = bench, name, core, top

    def wire(self, name: str, width: int) -> Value:
        return self._bench.watch(f"{self.name}.{name}", width)

    def layout(self, name: str, layout: data.StructLayout):
        return layout(self.wire(name, layout.size))

    def owned(self, valid, tier) -> Value:
        return Value.cast(valid & (tier == self.top))


def related(bench: Bench, first: Side, second: Side) -> Iterator[tuple[str, Value]]:
    """Names and conditions that hold in every cycle."""
    sides = (first, second)
    params = bench.params

    def alike(name: str, owned: list[Value], parts: list[list]) -> Iterator[tuple[str, Value]]:
        """Both belong to the urgent tier or neither, and then the parts are the same."""
        same = [Value.cast(mine) == Value.cast(its) for mine, its in zip(*parts, strict=True)]
        every: Value = owned[0] == owned[1]
        for condition in same:
            every = every & (~owned[0] | condition)
        yield name, every

    for name, width in PER_TIER.items():
        mine, its = (side.wire(name, width * params.tiers) for side in sides)
        place = width * first.top
        yield name, mine[place : place + width] == its[place : place + width]
    for name, width in COMMON.items():
        mine, its = (side.wire(name, width) for side in sides)
        yield name, mine == its

    event = tier_event_layout(params)
    f_owned, p_owned, ended_owned, arrived_owned, i_owned = [], [], [], [], []
    f_parts, p_parts, ended_parts, arrived_parts, i_parts = [], [], [], [], []
    for side in sides:
        f_owned.append(side.owned(side.wire("fetcher.f_valid", 1), side.wire("fetcher.f_tier", 1)))
        f_parts.append(
            [
                side.wire("fetcher.f_pc", PC_BITS),
                side.wire("fetcher.f_local", 1),
                side.wire("fetcher.f_kept", 1),
                side.wire("fetcher.f_left", LOOP_BITS),
            ]
        )
        p_owned.append(side.owned(side.wire("fetcher.p_valid", 1), side.wire("fetcher.p_tier", 1)))
        p_parts.append([side.wire("fetcher.p_pc", PC_BITS), side.wire("fetcher.p_local", 1)])
        ended = side.layout("fetcher.ended", event)
        ended_owned.append(side.owned(ended.valid, ended.tier))
        with_room = side.wire("fetcher.ended_with_room", 1)
        yield f"{side.name} room", ~with_room | ended.valid
        ended_parts.append(
            [
                side.wire("fetcher.ended_has_target", 1),
                with_room,
                side.wire("fetcher.target", IMEM.size_log2 - 2),
                side.wire("fetcher.target_left", LOOP_BITS),
            ]
        )
        arrived = side.layout("predecoder.arrived", arrival_layout(params))
        arrived_owned.append(side.owned(arrived.valid, arrived.tier))
        arrived_parts.append(
            [
                arrived,
                side.wire("predecoder.local", 1),
                side.wire("predecoder.following", params.imem.size_log2 - 2),
                side.wire("predecoder.last", PRODUCER.size),
                side.wire("predecoder.second", PRODUCER.size),
                side.wire("buffer.pair_index", 2),
            ]
        )
        i_valid, i_tier = (side.wire(f"buffer.i_{part}", 1) for part in ("valid", "tier"))
        i_owned.append(side.owned(i_valid, i_tier))
        yield f"{side.name} row", ~i_valid | (side.wire("buffer.row_tier", 1) == i_tier)
        i_new = side.wire("buffer.i_new", 1)
        i_parts.append([side.wire("buffer.i_head", 2), side.wire("buffer.i_odd", 1), i_new])
        # What is taken from the pair that is being predecoded is there.
        dropped = side.owned(side.core._dropped.valid, side.core._dropped.tier)
        yield f"{side.name} new", ~(i_owned[-1] & i_new & ~dropped) | arrived_owned[-1]
    for name, owned, parts in (
        ("stage F", f_owned, f_parts),
        ("stage P", p_owned, p_parts),
        ("ended", ended_owned, ended_parts),
        ("arrived", arrived_owned, arrived_parts),
        ("stage I", i_owned, i_parts),
    ):
        yield from alike(name, owned, parts)
    yield from _pipeline(sides, alike)


def _pipeline(sides: tuple[Side, Side], alike) -> Iterator[tuple[str, Value]]:
    """Stages D to A, the divider, and what was dropped a cycle ago."""
    stages = ("d", "x", "m", "a", "csr write", "counts")
    groups = (*stages, "scratch write", "cause write", "divider", "dropped", "from_a", "from_w")
    owned = {name: [] for name in groups}
    parts = {name: [] for name in owned}
    for side in sides:
        core = side.core
        lines = core.params.lines
        d, x, m = core._d, core._execute.x, core._m
        sources = {
            (source, operand): side.wire(f"operands.from_{source}{operand}", 1)
            for source in ("registers", "x", "m", "m_load", "a", "w")
            for operand in range(2)
        }
        d_owned = side.owned(d.valid, d.tier)
        owned["d"].append(d_owned)
        read = [side.wire(f"operands.stored{operand}", 32) for operand in range(2)]
        parts["d"].append([d, *sources.values(), *read])
        owned["x"].append(side.owned(x.valid, x.tier))
        parts["x"].append([x, side.wire("line_unit.candidates2", lines)])
        owned["m"].append(side.owned(m.valid, m.tier))
        names = [side.wire(f"csrs.names_{name}", 1) for name in NAMES]
        parts["m"].append(
            [
                m,
                side.wire("multiplier.result", 32),
                side.wire("multiplier.lower", 32),
                side.wire("line_unit.candidates0", lines),
                *names,
            ]
        )
        back = core._write_back
        owned["a"].append(side.owned(back.writer.valid, back.writer.tier))
        parts["a"].append([back.writer.rd, back.result])
        write = side.layout("csrs.a", csr_access_layout(core.params))
        owned["csr write"].append(side.owned(write.write, write.tier))
        read_data = side.wire("csrs.read_data", 32)
        parts["csr write"].append([write, read_data])
        row = side.wire("csrs.scratch_row", 2)
        owned["scratch write"].append(side.owned(side.wire("csrs.scratch_writes", 1), row[1]))
        parts["scratch write"].append([row, write.operation, write.source, read_data])
        owned["cause write"].append(side.owned(side.wire("csrs.cause_writes", 1), write.tier))
        trap = [side.wire("csrs.trapped", 1), side.wire("csrs.trap_cause", 6)]
        parts["cause write"].append([*trap, write.operation, write.source, read_data])
        count = core._instructions.count
        owned["counts"].append(side.owned(count.valid, count.tier))
        parts["counts"].append([])
        owned["from_a"].append(d_owned & (sources["a", 0] | sources["a", 1]))
        parts["from_a"].append([back.result])
        owned["from_w"].append(d_owned & (sources["w", 0] | sources["w", 1]))
        parts["from_w"].append([back.last_result])
        occupied, owner = side.wire("divider.occupied", 1), side.wire("divider.owner", 1)
        owned["divider"].append(side.owned(occupied, owner))
        parts["divider"].append(
            [
                side.wire("divider.done", 1),
                side.wire("divider.begun", 1),
                side.wire("divider.steps", 6),
                side.wire("divider.division", 13),
                side.wire("divider.asks", 1),
            ]
        )
        owned["dropped"].append(side.owned(core._dropped.valid, core._dropped.tier))
        parts["dropped"].append([side.wire("divider.kept", 1)])
        yield from _consistent(side, sources, d_owned)
    for name in owned:
        yield from alike(name, owned[name], parts[name])
    first, second = (side.wire("bus.settling1", 2) for side in sides)
    yield "settling", first == second


def _consistent(side: Side, sources: dict, d_owned: Value) -> Iterator[tuple[str, Value]]:
    """What is true of either core by itself."""
    core, top = side.core, side.top
    x, m = core._execute.x, core._m
    name = side.name

    def in_stage(stage) -> Value:
        return side.owned(stage.valid, stage.tier)

    for source, stage in (("x", x), ("m", m), ("m_load", m)):
        uses = sources[source, 0] | sources[source, 1]
        yield f"{name} from {source}", ~(d_owned & uses) | in_stage(stage)
    yield f"{name} follows", side.wire("execute.follows", 1) == (x.tier == m.tier)
    yield (
        f"{name} uses_slot",
        m.uses_slot == (m.control.writes & ~(m.remote & m.buffered)),
    )
    # A CSR instruction that moves another tier does nothing else.
    control = x.control
    others = (
        control.jump,
        control.jump_register,
        control.branch,
        control.mret,
        control.divide,
        control.load,
        control.store,
        control.fence,
        control.fence_i,
    )
    yield f"{name} csr", ~control.csr | ~Cat(others).any()
    names_tier_pc = m.csr_address[3:] == CSR["mtierpc0"] >> 3
    yield f"{name} names_tier_pc", m.names_tier_pc == names_tier_pc
    moves = m.writes_csr & names_tier_pc
    waits = m.needs_idle.any() | m.waits_for_access
    elsewhere = m.departs | m.predicted_return | m.remote | m.stopped | waits
    of_others = Cat(m.needs_idle[tier] & (m.tier != tier) for tier in range(top + 1))
    yield f"{name} needs_idle", ~of_others.any()
    yield f"{name} access", ~(m.waits_for_access | m.collects) | m.remote
    # What a CSR instruction of another tier writes in stage A.
    write = side.layout("csrs.a", csr_access_layout(core.params))
    shares = write.write & one_of(write.address, SHARED_CSRS)
    yield f"{name} csr write", ~shares | (write.tier == top)
    yield f"{name} counts for", core._instructions.count.tier == write.tier
    # Where there is no CSR, what is selected does not matter.
    named, written = (one_of(address, EXISTING) for address in (m.csr_address, write.address))
    of_debug = one_of(m.csr_address, DEBUG) if core.params.debug else C(0)
    yield f"{name} csr exists", ~(m.certain & m.control.csr) | named | of_debug
    yield f"{name} completes", ~m.completes | m.certain
    yield f"{name} departs", m.completes | m.departs
    yield f"{name} written csr exists", ~write.write | written
    accesses = m.control.csr & ~m.control.exception
    if core.params.debug:
        accesses = accesses & (m.csr_address[5:] != CSR_PAGE)
    yield f"{name} shows_address", ~(m.shows_address & accesses)
    for called, meant in MEANINGS.items():
        names = side.wire(f"csrs.names_{called}", 1)
        means = accesses & one_of(m.csr_address, meant)
        yield f"{name} names {called}", (accesses & ~named) | (names == means)
    late = MEANINGS["shared"]
    a_shared = side.wire("csrs.a_shared", 1)
    yield f"{name} a_shared", a_shared == (write.write & one_of(write.address, late))
    executes = m.certain & ~m.control.exception & ~m.traps & ~m.interrupted
    yield f"{name} writes_csr", ~m.writes_csr | (m.control.csr & executes)
    yield f"{name} moves", ~moves | (m.certain & ~elsewhere)
    yield f"{name} resets", ~side.wire("commit.resets", 1)
    yield f"{name} runs", core._tiers.started[top] & ~core._tiers.stop[top]
    yield f"{name} remote", ~side.wire("fetcher.remote", 2)[top]
    f_pc = side.wire("fetcher.f_pc", PC_BITS)
    fetches = side.owned(side.wire("fetcher.f_valid", 1), side.wire("fetcher.f_tier", 1))
    local = f_pc[IMEM.size_log2 - 2 :] == IMEM.base >> IMEM.size_log2
    kept = side.wire("fetcher.f_kept", 1)
    yield f"{name} kept", ~kept | side.wire("fetcher.f_valid", 1)
    yield f"{name} fetch", ~fetches | (local & side.wire("fetcher.f_local", 1))
    p_pc, p_local = side.wire("fetcher.p_pc", PC_BITS), side.wire("fetcher.p_local", 1)
    yield f"{name} p_local", p_local == (p_pc[IMEM.size_log2 - 2 :] == IMEM.base >> IMEM.size_log2)
    states = side.wire("bus.states", 4)
    yield f"{name} slot", states.word_select(top, 2) == SlotState.IDLE.value
    on_bus = side.wire("bus.active_tier", 1)
    is_fetch = side.wire("bus.active_fetch", 1)
    yield f"{name} on the bus", ~core.wb_cyc | is_fetch | (on_bus != top)
    yield (
        f"{name} bus fetch",
        ~core._bus_fetcher.busy | (core._bus_fetcher.tier != top),
    )
    yield f"{name} failed", ~core._bus.failed[top] & ~(in_stage(m) & m.bus_failed)
    for lower in range(top):
        yield f"{name} ceiling {lower}", Value.cast(core._tiers.ceilings[lower]) < top
