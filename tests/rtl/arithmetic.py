"""What RV32IM's instructions compute, from the words of the ISA manual, in unbounded integers."""

from __future__ import annotations

MASK = 0xFFFF_FFFF
#: Operands at the edges.
CORNERS = (0, 1, 2, 31, 32, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF)


def signed(value: int, bits: int = 32) -> int:
    """The number that the bits mean in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _divide(first: int, second: int) -> tuple[int, int]:
    """Quotient towards zero, and remainder with the sign of the dividend."""
    if second == 0:
        return -1, first
    quotient = abs(first) // abs(second)
    if (first < 0) != (second < 0):
        quotient = -quotient
    return quotient, first - quotient * second


def compute(name: str, first: int, second: int) -> int:
    """Result of a register-register instruction, or of its immediate form without the i."""
    a, b = signed(first), signed(second)
    results = {
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "sll": lambda: first << (second & 31),
        "slt": lambda: int(a < b),
        "sltu": lambda: int(first < second),
        "xor": lambda: first ^ second,
        "srl": lambda: first >> (second & 31),
        "sra": lambda: a >> (second & 31),
        "or": lambda: first | second,
        "and": lambda: first & second,
        "mul": lambda: a * b,
        "mulh": lambda: a * b >> 32,
        "mulhsu": lambda: a * second >> 32,
        "mulhu": lambda: first * second >> 32,
        "div": lambda: _divide(a, b)[0],
        "rem": lambda: _divide(a, b)[1],
        "divu": lambda: _divide(first, second)[0],
        "remu": lambda: _divide(first, second)[1],
    }
    return results[name]() & MASK


def takes(name: str, first: int, second: int) -> bool:
    """Whether a branch is taken."""
    a, b = signed(first), signed(second)
    return {
        "beq": a == b,
        "bne": a != b,
        "blt": a < b,
        "bge": a >= b,
        "bltu": first < second,
        "bgeu": first >= second,
    }[name]


def loaded(name: str, word: int, address: int) -> int:
    """Register after a load from the (aligned) address, whose word in memory is given."""
    bits = {"b": 8, "h": 16, "w": 32}[name[1]]
    value = word >> 8 * (address & 3) & ((1 << bits) - 1)
    return (value if name.endswith("u") else signed(value, bits)) & MASK


def stored(name: str, word: int, address: int, value: int) -> int:
    """The word in memory after a store of the value."""
    lanes = (1 << {"b": 8, "h": 16, "w": 32}[name[1]]) - 1
    place = 8 * (address & 3)
    return word & ~(lanes << place) & MASK | (value & lanes) << place
