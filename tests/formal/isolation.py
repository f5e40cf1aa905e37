"""Who writes what: registers, CSRs and local data memory change only by the instruction shown."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Value

from tierv.rtl.isa import csr_addresses

from . import reference
from .bench import DMEM, Bench, is_local, small_core
from .check import Check, Method

CSR = csr_addresses()
#: Cycles from the fetch of an instruction to its packet.
DEPTH = 6


def registers(bench: Bench) -> None:
    """A tier's registers change only by an instruction of the tier that RVFI shows."""
    core = bench.core
    direct, late = bench.channels
    operands = core._operands
    write, rd, value = operands.write, operands.write_rd, operands.write_data
    bench.prove("x0_is_never_written", write.valid, rd != 0)
    from_direct = (
        direct.valid
        & (direct.ctx == write.tier)
        & (direct.rd_addr == rd)
        & (direct.rd_wdata == value)
    )
    # That the packet of a late load is what its slot on the bus holds, the chains prove.
    from_late = (
        late.valid
        & (bench.past(core._bus.late.tier) == write.tier)
        & (bench.past(core._bus.late_access.rd) == rd)
    )
    bench.prove("only_as_shown", write.valid, from_direct | from_late)
    bench.prove(
        "all_that_is_shown",
        direct.valid & (direct.rd_addr != 0),
        write.valid & from_direct & (rd == direct.rd_addr),
    )
    bench.prove("not_by_a_trap", direct.valid & direct.trap, ~write.valid | late.valid)


def csrs(bench: Bench) -> None:
    """A CSR is written only by a CSR instruction that retires, of the tier that it acts for."""
    direct = bench.channels[0]
    access = bench.core._csrs.access
    insn = direct.insn
    bench.prove(
        "csr_write",
        bench.past(access.write),
        direct.valid
        & ~direct.trap
        & reference.is_csr(insn)
        & (direct.ctx == bench.past(access.tier))
        & (insn[20:32] == bench.past(access.address)),
    )


def shared_csrs(bench: Bench) -> None:
    """What all tiers share holds what was written there last, and starts and stops as it says."""
    core = bench.core
    tiers, access = core._tiers, core._csrs.access

    def asked(name: str, before: Value, cycles: int) -> tuple[Value, Value]:
        """So many cycles ago an instruction wrote the CSR; what it makes of it."""
        writes = bench.past(access.write & (access.address == CSR[name]), cycles)
        source = bench.past(access.source[: len(before)], cycles)
        return writes, reference.written(bench.past(access.operation, cycles), before, source)

    # In stage M, or a cycle later.
    for name, value, cycles in (
        ("mpost", bench.watch("core.csrs.posted", bench.params.tiers), 1),
        ("mlineedge", core._lines.edges, 2),
        ("mlineprio0", Value.cast(core._lines.priorities), 2),
    ):
        before = bench.past(value)
        writes, written = asked(name, before, cycles)
        bench.prove(f"{name}_is_written", writes, value == written)
        bench.prove(f"{name}_stays", ~writes, value == before)
    before, stops_before = bench.past(tiers.started), bench.past(tiers.stop)
    writes, wanted = asked("mtierrun", before, 1)
    bench.prove("mtierrun_starts", writes, tiers.started == (before | wanted))
    bench.prove("mtierrun_stops", writes, tiers.stop == (before & ~wanted))
    stopped = before & ~tiers.started
    bench.prove("started_stays", bench.past(C(1)) & ~writes, tiers.started == (before & ~stopped))
    bench.prove("stops_when_asked", stopped.any(), (stopped & ~stops_before) == 0)
    bench.prove("stop_stays", ~writes, tiers.stop == (stops_before & ~stopped))


def memory(bench: Bench) -> None:
    """Local data memory is written once by each store that retires, and by nothing else."""
    core = bench.core
    direct = bench.channels[0]
    mask = bench.past(core.dmem_write_mask, 2)
    address = bench.past(core.dmem_address, 2)
    lanes = Cat(bit.replicate(8) for bit in mask)
    local = is_local(direct.mem_addr, DMEM)
    stores = direct.valid & (direct.mem_wmask != 0) & local

    def same_place() -> Value:
        return address == direct.mem_addr[2 : DMEM.size_log2]

    bench.prove(
        "stores_as_shown",
        mask != 0,
        stores
        & ~direct.trap
        & same_place()
        & (mask == direct.mem_wmask)
        & (((bench.past(core.dmem_write_data, 2) ^ direct.mem_wdata) & lanes) == 0),
    )
    bench.prove("shown_are_stored", stores, mask != 0)
    bench.prove(
        "loads_what_is_there",
        direct.valid & (direct.mem_rmask != 0) & local,
        same_place() & (direct.mem_rdata == bench.past(core.dmem_read_data)),
    )


def _build() -> Bench:
    bench = Bench(small_core(3))
    for fill in (registers, csrs, shared_csrs, memory):
        fill(bench)
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name="isolation",
        claim="registers, CSRs and local data memory change only by, and by every, instruction that"
        " RVFI shows, for the tier that it shows; nothing changes by one that traps; what tiers"
        " share holds what was written last",
        build=_build,
        depth=DEPTH,
        cover_depth=13,
        method=Method.UNBOUNDED,
        short=True,
    ),
]
