"""What an instruction's word says, as far as the lock-step reference has to know it itself.

RISC-V Unprivileged ISA 20191213, section 2.2; Zicsr: chapter 9.
"""

from __future__ import annotations

from collections.abc import Sequence

#: Opcodes.
LOAD, STORE, SYSTEM = 0x03, 0x23, 0x73
OP_IMM, OP, BRANCH, JALR = 0x13, 0x33, 0x63, 0x67
READS_RS2 = {OP, BRANCH, STORE}
READS_RS1 = READS_RS2 | {OP_IMM, LOAD, JALR}


def offset(word: int) -> int:
    """What a load or store adds to rs1."""
    low = word >> 20 if word & 0x7F == LOAD else word >> 25 << 5 | word >> 7 & 31
    return low - (low << 1 & 0x1000)


def reads_rs1(word: int) -> bool:
    if word & 0x7F == SYSTEM:
        return bool(word >> 12 & 3) and not word >> 14 & 1
    return word & 0x7F in READS_RS1


def reads_rs2(word: int) -> bool:
    return word & 0x7F in READS_RS2


def written_from(word: int, registers: Sequence[int]) -> int | None:
    """What a CSR instruction writes, sets or clears; None if it only reads."""
    funct3, field = word >> 12 & 7, word >> 15 & 31
    if funct3 & 3 != 1 and field == 0:
        return None
    return field if funct3 & 4 else registers[field] & 0xFFFF_FFFF


def modified(word: int, old: int, source: int) -> int:
    """The new value of a CSR."""
    return {1: source, 2: old | source, 3: old & ~source}[word >> 12 & 3]
