"""Encode RV32IM_Zba_Zbb_Zbs_Zicsr_Zifencei instructions; wrap programs in ELF files.

Written from the ISA manual's instruction formats (volume I, chapter 35), independently of the
core's decoder.
"""

from __future__ import annotations

import struct

#: funct3 and funct7 of the instructions with two registers and a result.
INTEGER_R_TYPE = {
    "add": (0, 0), "sub": (0, 32), "sll": (1, 0), "slt": (2, 0), "sltu": (3, 0),
    "xor": (4, 0), "srl": (5, 0), "sra": (5, 32), "or": (6, 0), "and": (7, 0),
}  # fmt: skip
MULTIPLICATIONS = {"mul": (0, 1), "mulh": (1, 1), "mulhsu": (2, 1), "mulhu": (3, 1)}
DIVISIONS = {"div": (4, 1), "divu": (5, 1), "rem": (6, 1), "remu": (7, 1)}
R_TYPE = INTEGER_R_TYPE | MULTIPLICATIONS | DIVISIONS
#: Zba, Zbb and Zbs: funct3 and funct7 of those with two registers.
BITS_R_TYPE = {
    "sh1add": (2, 16), "sh2add": (4, 16), "sh3add": (6, 16),
    "andn": (7, 32), "orn": (6, 32), "xnor": (4, 32),
    "min": (4, 5), "minu": (5, 5), "max": (6, 5), "maxu": (7, 5), "rol": (1, 48), "ror": (5, 48),
    "bclr": (1, 36), "bext": (5, 36), "binv": (1, 52), "bset": (1, 20),
}  # fmt: skip
#: Those with one register: the whole word but the registers.
BITS_UNARY = {
    "clz": 0x60001013, "ctz": 0x60101013, "cpop": 0x60201013,
    "sext.b": 0x60401013, "sext.h": 0x60501013, "zext.h": 0x08004033,
    "rev8": 0x69805013, "orc.b": 0x28705013,
}  # fmt: skip
I_TYPE = {"addi": 0, "slti": 2, "sltiu": 3, "xori": 4, "ori": 6, "andi": 7}
BITS_SHIFTS = {
    "rori": (5, 48), "bclri": (1, 36), "bexti": (5, 36), "binvi": (1, 52), "bseti": (1, 20)
}  # fmt: skip
#: Names by extension.
BITS = {
    "zba": ("sh1add", "sh2add", "sh3add"),
    "zbb": (
        *("andn", "orn", "xnor", "min", "minu", "max", "maxu", "rol", "ror", "rori"),
        *BITS_UNARY,
    ),
    "zbs": ("bclr", "bext", "binv", "bset", "bclri", "bexti", "binvi", "bseti"),
}
SHIFTS = {"slli": (1, 0), "srli": (5, 0), "srai": (5, 32)}
LOADS = {"lb": 0, "lh": 1, "lw": 2, "lbu": 4, "lhu": 5}
STORES = {"sb": 0, "sh": 1, "sw": 2}
BRANCHES = {"beq": 0, "bne": 1, "blt": 4, "bge": 5, "bltu": 6, "bgeu": 7}
CSR_OPS = {"csrrw": 1, "csrrs": 2, "csrrc": 3, "csrrwi": 5, "csrrsi": 6, "csrrci": 7}

ECALL = 0x00000073
EBREAK = 0x00100073
MRET = 0x30200073
WFI = 0x10500073
FENCE = 0x0FF0000F
FENCE_I = 0x0000100F
NOP = 0x00000013


def r_type(name: str, rd: int, rs1: int, rs2: int) -> int:
    funct3, funct7 = (R_TYPE | BITS_R_TYPE)[name]
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33


def unary(name: str, rd: int, rs1: int) -> int:
    return BITS_UNARY[name] | rs1 << 15 | rd << 7


def i_type(name: str, rd: int, rs1: int, immediate: int) -> int:
    return (immediate & 0xFFF) << 20 | rs1 << 15 | I_TYPE[name] << 12 | rd << 7 | 0x13


def addi(rd: int, rs1: int, immediate: int) -> int:
    return i_type("addi", rd, rs1, immediate)


def shift(name: str, rd: int, rs1: int, amount: int) -> int:
    funct3, funct7 = (SHIFTS | BITS_SHIFTS)[name]
    return funct7 << 25 | amount << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x13


def load(name: str, rd: int, rs1: int, offset: int) -> int:
    return (offset & 0xFFF) << 20 | rs1 << 15 | LOADS[name] << 12 | rd << 7 | 0x03


def store(name: str, rs2: int, rs1: int, offset: int) -> int:
    offset &= 0xFFF
    return (
        offset >> 5 << 25 | rs2 << 20 | rs1 << 15 | STORES[name] << 12 | (offset & 31) << 7 | 0x23
    )


def branch(name: str, rs1: int, rs2: int, offset: int) -> int:
    offset &= 0x1FFF
    return (
        (offset >> 12 & 1) << 31
        | (offset >> 5 & 0x3F) << 25
        | rs2 << 20
        | rs1 << 15
        | BRANCHES[name] << 12
        | (offset >> 1 & 0xF) << 8
        | (offset >> 11 & 1) << 7
        | 0x63
    )


def jal(rd: int, offset: int) -> int:
    offset &= 0x1FFFFF
    return (
        (offset >> 20 & 1) << 31
        | (offset >> 1 & 0x3FF) << 21
        | (offset >> 11 & 1) << 20
        | (offset >> 12 & 0xFF) << 12
        | rd << 7
        | 0x6F
    )


def jalr(rd: int, rs1: int, offset: int) -> int:
    return (offset & 0xFFF) << 20 | rs1 << 15 | rd << 7 | 0x67


def lui(rd: int, upper: int) -> int:
    return (upper & 0xFFFFF) << 12 | rd << 7 | 0x37


def auipc(rd: int, upper: int) -> int:
    return (upper & 0xFFFFF) << 12 | rd << 7 | 0x17


def csr(name: str, rd: int, address: int, source: int) -> int:
    """`source` is a register, or the immediate of the forms that end in i."""
    return address << 20 | source << 15 | CSR_OPS[name] << 12 | rd << 7 | 0x73


def li(rd: int, value: int) -> list[int]:
    """Load a 32-bit constant, always in two instructions."""
    low = (value & 0xFFF) - (value << 1 & 0x1000)
    return [lui(rd, (value - low) >> 12), addi(rd, rd, low)]


def elf(segments: dict[int, bytes], entry: int) -> bytes:
    """A 32-bit RISC-V executable that loads each segment at its address."""
    header_size, program_header_size = 52, 32
    offset = header_size + program_header_size * len(segments)
    headers, body = b"", b""
    for address, content in segments.items():
        headers += struct.pack(
            "<8I", 1, offset + len(body), address, address, len(content), len(content), 7, 4
        )
        body += content
    header = struct.pack(
        "<16sHHIIIIIHHHHHH",
        b"\x7fELF\x01\x01\x01",
        2, 243, 1, entry, header_size, 0, 0, header_size, program_header_size, len(segments),
        0, 0, 0,
    )  # fmt: skip
    return header + headers + body
