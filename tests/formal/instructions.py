"""Each instruction's effect."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import C, Cat, Mux, Value

from tierv.rtl.system.csr import implemented

from . import reference
from .bench import ACCESS_FAULTS, Bench, one_of, small_core
from .check import Check, Method
from .programs import boot
from .reference import Instruction, Operands

#: Cycles from the fetch of an instruction to its packet.
DEPTH = 6
#: The first packet comes in cycle 6, a branch back to an instruction in cycle 14.
COVER_DEPTH = 14


def has_effect(bench: Bench, instruction: Instruction, channel: int) -> None:
    """RVFI shows the effect of the instruction whenever it shows the instruction in the channel.

    In channel 0 an access fault may take the place of any instruction.
    """
    packet = bench.channels[channel]
    insn = packet.insn
    operands = Operands(
        insn=insn,
        pc=packet.pc_rdata,
        rs1=packet.rs1_rdata,
        rs2=packet.rs2_rdata,
        word=packet.mem_rdata,
    )
    effect = instruction.effect(operands)
    seen = packet.valid & instruction.matches(insn)
    excused = 0 if channel else packet.trap & _access_failed(bench)
    conditions = [(packet.trap == effect.trap) | excused]
    for used, place, address, data in (
        (instruction.reads[0], insn[15:20], packet.rs1_addr, packet.rs1_rdata),
        (instruction.reads[1], insn[20:25], packet.rs2_addr, packet.rs2_rdata),
    ):
        if used:
            conditions += [address == place, (place != 0) | (data == 0)]
    rd = insn[7:12]
    nothing = [packet.rd_addr == 0, packet.mem_rmask == 0, packet.mem_wmask == 0]
    done = [
        packet.rd_addr == (0 if effect.rd is None else rd),
        packet.pc_wdata
        == ((packet.pc_rdata + 4)[:32] if effect.next_pc is None else effect.next_pc),
        *_memory_effect(packet, effect),
    ]
    if effect.rd is not None:
        done.append((rd == 0) | (packet.rd_wdata == effect.rd))
    done.append((packet.rd_addr != 0) | (packet.rd_wdata == 0))
    conditions.append(Mux(packet.trap, _all(nothing), _all(done)))
    bench.prove(instruction.name, seen, _all(conditions))
    if channel == 0 and _can_trap(instruction):
        bench.cover(f"{instruction.name}_traps", seen & packet.trap)


def _access_failed(bench: Bench) -> Value:
    """The trap in channel 0 comes from the bus."""
    return one_of(bench.trap_cause(), ACCESS_FAULTS)


def _can_trap(instruction: Instruction) -> bool:
    return instruction not in reference.ARITHMETIC and instruction.name not in ("lb", "lbu", "sb")


def _memory_effect(packet, effect: reference.Effect) -> list[Value]:
    if effect.address is None:
        return [packet.mem_rmask == 0, packet.mem_wmask == 0]
    place = effect.address[:2]
    conditions = [packet.mem_addr == Cat(C(0, 2), effect.address[2:])]
    for size, mask in (
        (effect.read_bytes, packet.mem_rmask),
        (effect.write_bytes, packet.mem_wmask),
    ):
        conditions.append(mask == (C((1 << size) - 1, 4) << place)[:4])
    if effect.write_bytes:
        shifted = (effect.write_data << Cat(C(0, 3), place))[:32]
        lanes = Cat(bit.replicate(8) for bit in packet.mem_wmask)
        conditions.append(((packet.mem_wdata ^ shifted) & lanes) == 0)
    return conditions


def _all(conditions: list[Value]) -> Value:
    return Cat(conditions).all()


def is_known(bench: Bench) -> None:
    """What is no instruction of the core raises an exception, and does nothing else."""
    packet = bench.channels[0]
    insn = packet.insn
    csrs = implemented(bench.params)
    known = _all_of(
        [
            *(instruction.matches(insn) for instruction in reference.INSTRUCTIONS),
            *(
                reference.is_word(insn, encoding)
                for encoding in (
                    reference.FENCE,
                    reference.FENCE_I,
                    reference.MRET,
                    reference.WFI,
                )
            ),
            reference.is_csr(insn) & one_of(insn[20:32], csrs),
        ]
    )
    retires = packet.valid & ~packet.trap
    bench.prove("retires_only_what_exists", retires, known)
    failed = _access_failed(bench)
    goes_on = Mux(packet.trap, failed, packet.pc_wdata == (packet.pc_rdata + 4)[:32])
    is_csr = packet.valid & reference.is_csr(insn)
    refused = insn[30:32].all() & (~insn[13] | (insn[15:20] != 0))
    bench.prove("read_only_csr", is_csr & refused, packet.trap)
    bench.prove("csr_goes_on", is_csr & one_of(insn[20:32], csrs) & ~refused, goes_on)
    returns = packet.valid & reference.is_word(insn, reference.MRET)
    bench.prove("mret", returns, ~packet.trap | failed)
    for name, encoding in (("ecall", reference.ECALL), ("ebreak", reference.EBREAK)):
        bench.prove(name, packet.valid & reference.is_word(insn, encoding), packet.trap)
    for name, encoding in (
        ("fence", reference.FENCE),
        ("fence_i", reference.FENCE_I),
        ("wfi", reference.WFI),
    ):
        bench.prove(name, packet.valid & reference.is_word(insn, encoding), goes_on)
    effects = Cat(packet.rd_addr, packet.mem_rmask, packet.mem_wmask)
    bench.prove("trap_has_no_effect", packet.valid & packet.trap, effects == 0)


def _all_of(conditions: list[Value]) -> Value:
    return Cat(conditions).any()


def _bench(instructions: list[Instruction]) -> Bench:
    bench = Bench(small_core(3))
    for instruction in instructions:
        has_effect(bench, instruction, 0)
    bench.x0_is_zero()
    # A division may take any time: its result does not depend on the steps.
    bench.cut("core.divider.steps")
    return bench


def _late() -> Bench:
    bench = Bench(small_core(1), program=boot(1, buffered=True))
    for instruction in _named("lb", "lh", "lw", "lbu", "lhu"):
        has_effect(bench, instruction, 1)
    bench.cut("core.divider.steps")
    return bench


def _known() -> Bench:
    bench = Bench(small_core(3))
    is_known(bench)
    return bench


def _named(*names: str) -> list[Instruction]:
    by_name = {instruction.name: instruction for instruction in reference.INSTRUCTIONS}
    return [by_name[name] for name in names]


#: The instructions in groups that one run proves together.
GROUPS = {
    "integer": _named(
        *("add", "sub", "slt", "sltu", "xor", "or", "and"),
        *("sll", "srl", "sra", "slli", "srli", "srai"),
        *("addi", "slti", "sltiu", "xori", "ori", "andi", "lui", "auipc"),
        *("mul", "mulh", "mulhsu", "mulhu"),
    ),
    "divide": _named("div", "divu", "rem", "remu"),
    "control": _named("jal", "jalr", "beq", "bne", "blt", "bge", "bltu", "bgeu"),
    "memory": _named("lb", "lh", "lw", "lbu", "lhu", "sb", "sh", "sw"),
}
assert sorted(i.name for group in GROUPS.values() for i in group) == sorted(
    i.name for i in reference.INSTRUCTIONS
)

CHECKS = [
    Check(
        name=f"instructions-{group}",
        claim=f"RVFI shows the ISA manual's effect of {', '.join(i.name for i in members)}",
        build=partial(_bench, members),
        depth=DEPTH,
        cover_depth=COVER_DEPTH,
        method=Method.UNBOUNDED,
        short=True,
    )
    for group, members in GROUPS.items()
] + [
    Check(
        name="instructions-others",
        claim="what is no instruction raises an exception, a trap has no effect, CSR instructions,"
        " fences and wfi go on, mret does not trap, ecall and ebreak do",
        build=_known,
        depth=DEPTH,
        cover_depth=COVER_DEPTH,
        method=Method.UNBOUNDED,
        short=True,
    ),
    Check(
        name="late-loads-1-buffered",
        claim="what a buffered load writes is the ISA manual's value of the word that it read",
        build=_late,
        depth=20,
    ),
]
