"""What each instruction of RV32IM does, in terms of RVFI.

Written from the ISA manual (volume I, 20240411, chapters 2 and 12, and the listings of chapter 35).
Multiplications and divisions are the stand-ins that RVFI's `altops` define: (rs1 +- rs2) ^ mask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from amaranth.hdl import C, Cat, Const, Mux, Value


@dataclass(frozen=True)
class Operands:
    """What an instruction has to work with."""

    insn: Value
    pc: Value
    rs1: Value
    rs2: Value
    #: The aligned word that a load finds.
    word: Value

    @property
    def imm_i(self) -> Value:
        return _extended(self.insn[20:32])

    @property
    def imm_s(self) -> Value:
        return _extended(Cat(self.insn[7:12], self.insn[25:32]))

    @property
    def imm_b(self) -> Value:
        i = self.insn
        return _extended(Cat(C(0, 1), i[8:12], i[25:31], i[7], i[31]))

    @property
    def imm_u(self) -> Value:
        return Cat(C(0, 12), self.insn[12:32])

    @property
    def imm_j(self) -> Value:
        i = self.insn
        return _extended(Cat(C(0, 1), i[21:31], i[20], i[12:20], i[31]))


@dataclass(frozen=True)
class Effect:
    """What an instruction does; what is None it leaves alone."""

    rd: Value | None = None
    next_pc: Value | None = None
    #: Address of a load or store, and its bytes counted from there.
    address: Value | None = None
    read_bytes: int = 0
    write_bytes: int = 0
    write_data: Value | None = None
    trap: Value = field(default_factory=lambda: Const(0, 1))


@dataclass(frozen=True)
class Instruction:
    """An encoding and its meaning."""

    name: str
    match: int
    mask: int
    reads: tuple[bool, bool]
    effect: Callable[[Operands], Effect]

    def matches(self, insn: Value) -> Value:
        return (insn & self.mask) == self.match


def _extended(value: Value) -> Value:
    return Cat(value, value[-1].replicate(32 - len(value)))


def _word(value: Value) -> Value:
    return value[:32]


OPCODE, FUNCT3, FUNCT7 = 0x7F, 0x7 << 12, 0x7F << 25

_OPERATIONS: dict[str, tuple[int, int, Callable[[Value, Value], Value]]] = {
    "add": (0, 0x00, lambda a, b: _word(a + b)),
    "sub": (0, 0x20, lambda a, b: _word(a - b)),
    "sll": (1, 0x00, lambda a, b: _word(a << b[:5])),
    "slt": (2, 0x00, lambda a, b: Cat(a.as_signed() < b.as_signed(), C(0, 31))),
    "sltu": (3, 0x00, lambda a, b: Cat(a < b, C(0, 31))),
    "xor": (4, 0x00, lambda a, b: a ^ b),
    "srl": (5, 0x00, lambda a, b: _word(a >> b[:5])),
    "sra": (5, 0x20, lambda a, b: _word(a.as_signed() >> b[:5])),
    "or": (6, 0x00, lambda a, b: a | b),
    "and": (7, 0x00, lambda a, b: a & b),
    "mul": (0, 0x01, lambda a, b: _word(a + b) ^ 0x5876063E),
    "mulh": (1, 0x01, lambda a, b: _word(a + b) ^ 0xF6583FB7),
    "mulhsu": (2, 0x01, lambda a, b: _word(a - b) ^ 0xECFBE137),
    "mulhu": (3, 0x01, lambda a, b: _word(a + b) ^ 0x949CE5E8),
    "div": (4, 0x01, lambda a, b: _word(a - b) ^ 0x7F8529EC),
    "divu": (5, 0x01, lambda a, b: _word(a - b) ^ 0x10E8FD70),
    "rem": (6, 0x01, lambda a, b: _word(a - b) ^ 0x8DA68FA5),
    "remu": (7, 0x01, lambda a, b: _word(a - b) ^ 0x3138D0E1),
}
_BRANCHES: dict[str, tuple[int, Callable[[Value, Value], Value]]] = {
    "beq": (0, lambda a, b: a == b),
    "bne": (1, lambda a, b: a != b),
    "blt": (4, lambda a, b: a.as_signed() < b.as_signed()),
    "bge": (5, lambda a, b: a.as_signed() >= b.as_signed()),
    "bltu": (6, lambda a, b: a < b),
    "bgeu": (7, lambda a, b: a >= b),
}
#: funct3, bytes, and whether the sign is extended.
_LOADS = {
    "lb": (0, 1, True),
    "lh": (1, 2, True),
    "lw": (2, 4, True),
    "lbu": (4, 1, False),
    "lhu": (5, 2, False),
}
_STORES = {"sb": (0, 1), "sh": (1, 2), "sw": (2, 4)}


def _misaligned(address: Value, size: int) -> Value:
    return (address & (size - 1)) != 0


def _jump(target: Value, link: Value | None) -> Effect:
    return Effect(rd=link, next_pc=target, trap=_misaligned(target, 4))


def _arithmetic() -> list[Instruction]:
    found = []
    for name, (funct3, funct7, operation) in _OPERATIONS.items():
        found.append(
            Instruction(
                name,
                0x33 | funct3 << 12 | funct7 << 25,
                OPCODE | FUNCT3 | FUNCT7,
                (True, True),
                lambda o, operation=operation: Effect(rd=operation(o.rs1, o.rs2)),
            )
        )
        if name == "sub" or funct7 == 1:
            continue
        is_shift = funct3 in (1, 5)
        found.append(
            Instruction(
                f"{name[:-1]}iu" if name == "sltu" else f"{name}i",
                0x13 | funct3 << 12 | (funct7 << 25 if is_shift else 0),
                OPCODE | FUNCT3 | (FUNCT7 if is_shift else 0),
                (True, False),
                lambda o, operation=operation: Effect(rd=operation(o.rs1, o.imm_i)),
            )
        )
    found += [
        Instruction("lui", 0x37, OPCODE, (False, False), lambda o: Effect(rd=o.imm_u)),
        Instruction(
            "auipc", 0x17, OPCODE, (False, False), lambda o: Effect(rd=_word(o.pc + o.imm_u))
        ),
    ]
    return found


def _jumps() -> list[Instruction]:
    found = [
        Instruction(
            "jal",
            0x6F,
            OPCODE,
            (False, False),
            lambda o: _jump(_word(o.pc + o.imm_j), _word(o.pc + 4)),
        ),
        Instruction(
            "jalr",
            0x67,
            OPCODE | FUNCT3,
            (True, False),
            lambda o: _jump(_word(o.rs1 + o.imm_i) & ~1 & 0xFFFF_FFFF, _word(o.pc + 4)),
        ),
    ]
    for name, (funct3, condition) in _BRANCHES.items():
        found.append(
            Instruction(
                name,
                0x63 | funct3 << 12,
                OPCODE | FUNCT3,
                (True, True),
                lambda o, condition=condition: _jump(
                    Mux(condition(o.rs1, o.rs2), _word(o.pc + o.imm_b), _word(o.pc + 4)), None
                ),
            )
        )
    return found


def _memory() -> list[Instruction]:
    found = []
    for name, (funct3, size, is_signed) in _LOADS.items():

        def load(o: Operands, size=size, is_signed=is_signed) -> Effect:
            address = _word(o.rs1 + o.imm_i)
            value = _word(o.word >> Cat(C(0, 3), address[:2]))[: 8 * size]
            if size < 4:
                sign = value[-1] if is_signed else Const(0, 1)
                value = Cat(value, sign.replicate(32 - 8 * size))
            return Effect(
                rd=value, address=address, read_bytes=size, trap=_misaligned(address, size)
            )

        found.append(Instruction(name, 0x03 | funct3 << 12, OPCODE | FUNCT3, (True, False), load))
    for name, (funct3, size) in _STORES.items():

        def store(o: Operands, size=size) -> Effect:
            address = _word(o.rs1 + o.imm_s)
            return Effect(
                address=address,
                write_bytes=size,
                write_data=o.rs2,
                trap=_misaligned(address, size),
            )

        found.append(Instruction(name, 0x23 | funct3 << 12, OPCODE | FUNCT3, (True, True), store))
    return found


ARITHMETIC = _arithmetic()
JUMPS = _jumps()
MEMORY = _memory()
#: Every instruction of RV32IM but FENCE, ECALL and EBREAK.
INSTRUCTIONS = ARITHMETIC + JUMPS + MEMORY
#: The others that exist, and the words that are reserved within them, by mask and match.
FENCE = (0x0000_000F, OPCODE | FUNCT3)
FENCE_I = (0x0000_100F, OPCODE | FUNCT3)
ECALL = (0x0000_0073, 0xFFFF_FFFF)
EBREAK = (0x0010_0073, 0xFFFF_FFFF)
MRET = (0x3020_0073, 0xFFFF_FFFF)
WFI = (0x1050_0073, 0xFFFF_FFFF)


def is_word(insn: Value, encoding: tuple[int, int]) -> Value:
    """The word has this encoding."""
    match, mask = encoding
    return (insn & mask) == match


def written(operation: Value, before: Value, source: Value) -> Value:
    """What a CSR instruction makes of a CSR; the operation is bits 13:12 of its word."""
    return Mux(operation == 2, before | source, Mux(operation == 3, before & ~source, source))


def is_csr(insn: Value) -> Value:
    """The word is one of the six CSR instructions."""
    return (insn[:7] == 0x73) & (insn[12:14] != 0)
