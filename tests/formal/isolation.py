"""Who writes what: registers, CSRs and local data memory change only by the instruction shown."""

from __future__ import annotations

from amaranth.hdl import Cat, Value

from . import reference
from .bench import DMEM, Bench, is_local, small_core
from .check import Check, Method

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
    bench = Bench(small_core(3), errors=True)
    for fill in (registers, csrs, memory):
        fill(bench)
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name="isolation",
        claim="registers, CSRs and local data memory change only by, and by every, instruction that"
        " RVFI shows, for the tier that it shows; nothing changes by one that traps",
        build=_build,
        depth=DEPTH,
        cover_depth=10,
        method=Method.UNBOUNDED,
        short=True,
    ),
]
