"""CSRs of each tier from one instruction to the next, and what traps do to them."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import C, Cat, Const, Mux, Signal, Value

from tierv.rtl.isa import Cause, Interrupt, csr_addresses
from tierv.rtl.params import CoreParams

from . import reference
from .bench import ACCESS_FAULTS, Bench, one_of, select, small_core
from .chains import Follower
from .check import Check
from .programs import boot
from .reference import Operands

CSR = csr_addresses()
MIE, MPIE = 1 << 3, 1 << 7


class Shadow:
    """What a CSR of the tier holds, as far as it can be known."""

    def __init__(self, name: str, writable: int, fixed: int = 0, at_reset: int | None = None):
        self.name = name
        self.address = CSR[name]
        self.writable = writable
        self.fixed = fixed
        self.known = Signal(name=f"knows_{name}", init=at_reset is not None)
        self.value = Signal(32, name=f"value_{name}", init=at_reset or 0)

    def legal(self, value: Value) -> Value:
        return (value & self.writable) | self.fixed


def shadows(params: CoreParams) -> dict[str, Shadow]:
    """The CSRs of which every tier has its own and that only instructions and traps change."""
    every = 0xFFFF_FFFF
    found = [
        Shadow("mstatus", MIE | MPIE, 0x1800, 0x1800),
        Shadow("mie", 1 << Interrupt.MSI | 1 << Interrupt.MTI | 1 << Interrupt.MEI),
        Shadow("mtvec", every & ~3),
        Shadow("mscratch", every),
        Shadow("mepc", every & ~3),
        Shadow("mcause", 1 << 31 | 0x1F),
        Shadow("mtval", every),
        Shadow("mceiling", (1 << params.tier_bits) - 1),
        Shadow("mbusmode", 3 if params.tiers > 1 else 1, at_reset=0),
        Shadow("mlinemask", (1 << params.lines) - 1),
    ]
    return {shadow.name: shadow for shadow in found}


def exception(packet) -> tuple[Value, Value]:
    """Cause and mtval of the exception that the instruction raises if none comes from the bus."""
    insn, pc = packet.insn, packet.pc_rdata
    operands = Operands(insn=insn, pc=pc, rs1=packet.rs1_rdata, rs2=packet.rs2_rdata, word=C(0, 32))
    causes = [(reference.is_word(insn, reference.ECALL), C(Cause.ECALL_M, 5))]
    causes.append((reference.is_word(insn, reference.EBREAK), C(Cause.BREAKPOINT, 5)))
    values = [(reference.is_word(insn, reference.EBREAK), pc)]
    for instruction in reference.JUMPS + reference.MEMORY:
        effect = instruction.effect(operands)
        if effect.next_pc is not None:
            cause, value = Cause.INSTRUCTION_MISALIGNED, effect.next_pc
        elif effect.read_bytes:
            cause, value = Cause.LOAD_MISALIGNED, effect.address
        else:
            cause, value = Cause.STORE_MISALIGNED, effect.address
        causes.append((instruction.matches(insn), C(cause, 5)))
        values.append((instruction.matches(insn), value))
    return select(causes, C(Cause.ILLEGAL, 5)), select(values, C(0, 32))


def own_csrs(bench: Bench) -> None:
    """A CSR of a tier holds what its own instructions and traps put there."""
    follower = Follower(bench)
    core, m = bench.core, bench.m
    commit, access = core._commit, core._csrs.access
    direct = follower.direct
    insn = direct.insn
    csrs = shadows(bench.params)

    executes = bench.named(follower.shown & ~direct.trap & reference.is_csr(insn), "executes_csr")
    writes = executes & (~insn[13] | (insn[15:20] != 0))
    source = Mux(insn[14], insn[15:20], direct.rs1_rdata)
    returns = bench.named(
        follower.shown & ~direct.trap & reference.is_word(insn, reference.MRET), "returns_mret"
    )
    trapped = bench.named(follower.event(commit.trap), "trapped")
    interrupted = bench.named(trapped & bench.past(commit.trap.interrupt), "interrupted")
    cause, value = exception(direct)
    went_to = Cat(C(0, 2), bench.past(commit.redirect.pc))

    for csr in csrs.values():
        here = insn[20:32] == csr.address
        bench.prove(
            csr.name,
            executes & here & csr.known & (insn[7:12] != 0),
            direct.rd_wdata == csr.value,
        )
        read = Mux(csr.known, csr.value, direct.rd_wdata)
        written = csr.legal(reference.written(insn[12:14], read, source))
        with m.If(writes & here):
            m.d.sync += [
                csr.value.eq(written),
                csr.known.eq(csr.known | (insn[12:14] == 1) | (insn[7:12] != 0)),
            ]
        with m.Elif(executes & here & (insn[7:12] != 0)):
            m.d.sync += [csr.value.eq(read), csr.known.eq(1)]

    # What traps and mret do.
    status = csrs["mstatus"].value
    bench.prove("trap_goes_to_mtvec", trapped & csrs["mtvec"].known, went_to == csrs["mtvec"].value)
    bench.prove(
        "mret_goes_to_mepc", returns & csrs["mepc"].known, direct.pc_wdata == csrs["mepc"].value
    )
    code = bench.trap_cause()
    failed = one_of(code, ACCESS_FAULTS)
    bench.prove(
        "interrupts_are_enabled",
        interrupted,
        one_of(code, Interrupt)
        & (status & MIE).any()
        & (~csrs["mie"].known | (csrs["mie"].value >> code)[0]),
    )
    # A line traps a cycle later than it wakes.
    sources = {
        Interrupt.MSI: bench.past(follower.of(bench.watch("core.csrs.posted", bench.params.tiers))),
        Interrupt.MTI: bench.past(follower.of(core.timer)),
        Interrupt.MEI: bench.past(follower.of(core._lines.interrupt), 2),
    }
    bench.prove(
        "interrupts_are_pending",
        interrupted,
        select([(code == its, source) for its, source in sources.items()], 0),
    )
    with m.If(trapped):
        settings = {
            "mepc": Mux(interrupted, Cat(C(0, 2), bench.past(commit.trap.pc)), direct.pc_rdata),
            "mcause": Mux(
                interrupted,
                Cat(code, C(0, 26), C(1, 1)),
                Cat(Mux(failed, code, cause), C(0, 27)),
            ),
            "mtval": Mux(interrupted, 0, value),
            "mstatus": Mux(status & MIE, 0x1800 | MPIE, 0x1800),
        }
        for name, setting in settings.items():
            m.d.sync += [csrs[name].value.eq(setting), csrs[name].known.eq(1)]
        # The address of an access fault is not followed here.
        m.d.sync += csrs["mtval"].known.eq(interrupted | ~failed)
    with m.If(returns):
        m.d.sync += status.eq(Mux(status & MPIE, 0x1800 | MPIE | MIE, 0x1800 | MPIE))

    # What another tier may do to one that is not started.
    def starts(name: str) -> Value:
        return bench.past(
            access.write
            & (access.address[3:] == CSR[name] >> 3)
            & (access.address[:3] == follower.tier)
            & ~follower.of(core._tiers.started)
        )

    with m.If(starts("mtierpc0")):
        m.d.sync += status.eq(status & ~Const(MIE, 32))
    with m.If(starts("mtierarg0")):
        given = Mux(bench.past(access.operation == 3), 0, bench.past(access.source))
        m.d.sync += [csrs["mscratch"].value.eq(given), csrs["mscratch"].known.eq(1)]


def _bench(tiers: int) -> Bench:
    bench = Bench(small_core(tiers), program=boot(tiers))
    own_csrs(bench)
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name=f"csrs-{tiers}",
        claim="a CSR of a tier holds what its own instructions and traps put there; traps go to"
        " mtvec with the ISA manual's cause and value, mret to mepc; only pending interrupts that"
        " are enabled are taken",
        build=partial(_bench, tiers),
        depth=depth,
        short=short_depth is not None,
        short_depth=short_depth,
    )
    for tiers, depth, short_depth in ((1, 12, 10), (2, 18, None))
]
