"""Temporal isolation: two cores whose most urgent tiers are alike, beside different lower tiers.

What the most urgent tier fetches and loads locally, and its timer, are the same in both cores, and
so are all lines, with which lower tiers may do as they like; everything else of these is free in
each. Excepted are, by assumption, the means by
which tiers act on each other (the shared CSRs, which no lower tier writes, and ceilings) and the
bus: the most urgent tier makes no access to it. The lower tiers use the bus as they like.
"""

from __future__ import annotations

from collections.abc import Iterator

from amaranth.hdl import C, Cat, Mux, Value

from tierv.rtl.isa import csr_addresses

from .bench import IMEM, Bench, one_of, small_core
from .check import Check, Method
from .priority import waiting_top
from .relation import ROWS, SHARED_CSRS, Side, related

CSR = csr_addresses()


class Twins:
    """Two cores that differ in what their lower tiers do."""

    def __init__(self, tiers: int, *, program: dict[int, int] | None = None, **options) -> None:
        self.bench = Bench(small_core(tiers, **options), program=program)
        bench = self.bench
        self.top = tiers - 1
        first = bench.core
        second = bench.add_core("other", program or {}, inputs={"lines": first.lines})
        self.cores = {"core": first, "other": second}
        words, loaded = bench.any_value(64, "urgent_words"), bench.any_value(32, "urgent_load")
        for name, core in self.cores.items():
            fetcher, access = core._fetcher, core._csrs.access
            # The words that the urgent tier finds.
            fetched = fetcher.arrival.tier == self.top
            bench.assume(~fetched | (core.imem_read_data == words))
            bench.assume((core._m.tier != self.top) | (core.dmem_read_data == loaded))
            # It stays in local memory.
            bench.assume(
                (fetcher.lookup_tier != self.top)
                | (fetcher.lookup_pc[IMEM.size_log2 - 2 :] == IMEM.base >> IMEM.size_log2)
            )
            bench.assume(
                ~(core._commit.m.valid & core._commit.m.remote) | (core._commit.m.tier != self.top)
            )
            # Nobody acts on it.
            started = core._tiers.started[self.top]
            booted = bench.held(started, name=f"{name}_booted") | started
            bench.assume(
                ~(access.write & booted & one_of(access.address, SHARED_CSRS))
                | (access.tier == self.top)
            )
            # It does not look at whether they have stopped.
            m_stage = core._m
            asks = m_stage.control.csr & (m_stage.csr_address == CSR["mtierrun"])
            bench.assume(~(m_stage.valid & asks) | (m_stage.tier != self.top))
        bench.assume(first.timer[self.top] == second.timer[self.top])

    def alike(self, given: Value | int = 1, *, seen: bool = False) -> None:
        """The urgent tiers issue, wake, retire and write in the same cycles, and the same."""
        bench = self.bench
        views = []
        for core in self.cores.values():
            retires = core.retire_valid & (core.retire_tier == self.top)
            write = core._operands.write
            writes = write.valid & (write.tier == self.top)
            stored = Cat(core.dmem_address, core.dmem_write_mask, core.dmem_write_data)
            stores = (core._execute.x.tier == self.top) & (core.dmem_write_mask != 0)
            views.append(
                {
                    "issues": core.issue_valid & (core.issue_tier == self.top),
                    "wakes": core.wake[self.top],
                    "retires": Mux(retires, Cat(C(1, 1), core.retire_pc), 0),
                    "writes": Mux(
                        writes,
                        Cat(C(1, 1), core._operands.write_rd, core._operands.write_data),
                        0,
                    ),
                    "stores": Mux(stores, stored, 0),
                }
            )
        first, second = views
        for name in first:
            trigger = given & Value.cast(first[name]).any()
            bench.prove(name, trigger, first[name] == second[name], seen=seen)

    def related(self) -> Value:
        """The relation holds."""
        return Cat(condition for _, condition in self._relation()).all()

    def _relation(self) -> Iterator[tuple[str, Value]]:
        sides = [Side(self.bench, name, core, self.top) for name, core in self.cores.items()]
        yield from related(self.bench, *sides)
        yield from self.more_related(*sides)

    def stay_related(self) -> None:
        """The relation is assumed at the start and proved from there."""
        bench = self.bench
        for name, condition in self._relation():
            bench.assume_at_start(condition)
            bench.lemma("".join(c if c.isalnum() else "_" for c in name), condition)
        for memory, rows in ROWS.items():
            bench.same_rows += [(memory, rows * self.top + row) for row in range(rows)]

    def more_related(self, *sides: Side) -> Iterator[tuple[str, Value]]:
        """What else holds of cores with more than these have."""
        yield from ()

    def parted(self) -> Value:
        """Something of a lower tier issued in one core and not in the other."""
        lower = [core.issue_valid & (core.issue_tier != self.top) for core in self.cores.values()]
        return self.bench.held(lower[0] ^ lower[1], name="parted")


def _bench(twins: Twins) -> Bench:
    twins.alike()
    twins.stay_related()
    bench, core = twins.bench, twins.bench.core
    issues = core.issue_valid & (core.issue_tier == twins.top)
    bench.cover("related_though_parted", twins.related() & twins.parted() & issues)
    return bench


def _reached() -> Bench:
    twins = Twins(2, program=waiting_top())
    twins.alike(twins.related() & twins.parted(), seen=True)
    return twins.bench


def twin_check(name: str, claim: str, twins: type[Twins], *, short: bool = False) -> Check:
    """The check that such cores of two tiers behave alike."""
    return Check(
        name=name,
        claim=f"two cores with the same most urgent tier and inputs behave alike in it, {claim}",
        build=lambda: _bench(twins(2)),
        depth=1,
        cover_depth=14,
        method=Method.RELATION,
        short=short,
    )


CHECKS = [
    twin_check(
        "twins", "cycle by cycle and for ever, whatever their lower tiers do", Twins, short=True
    ),
    Check(
        name="twins-reached",
        claim="two such cores come to be related: then their urgent tiers issue, wake, retire and"
        " write, and alike, beside others that differ",
        build=_reached,
        depth=18,
        cover_depth=26,
    ),
]
