"""What RV32IM, Zba, Zbb and Zbs compute, from the ISA manual, in unbounded integers."""

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


def _rotated(value: int, right: int) -> int:
    return value >> right % 32 | value << -right % 32


def _bytes(value: int) -> bytes:
    return value.to_bytes(4, "little")


def unary(name: str, value: int) -> int:
    """Result of an instruction with one operand."""
    text = f"{value:032b}"
    results = {
        "clz": lambda: len(text) - len(text.lstrip("0")),
        "ctz": lambda: len(text) - len(text.rstrip("0")),
        "cpop": lambda: text.count("1"),
        "sext.b": lambda: signed(value, 8),
        "sext.h": lambda: signed(value, 16),
        "zext.h": lambda: value % 65536,
        "rev8": lambda: int.from_bytes(_bytes(value), "big"),
        "orc.b": lambda: int.from_bytes(bytes(255 * bool(b) for b in _bytes(value)), "little"),
    }
    return results[name]() & MASK


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
        "sh1add": lambda: 2 * first + second,
        "sh2add": lambda: 4 * first + second,
        "sh3add": lambda: 8 * first + second,
        "andn": lambda: first & ~second,
        "orn": lambda: first | ~second,
        "xnor": lambda: ~(first ^ second),
        "min": lambda: min(a, b),
        "minu": lambda: min(first, second),
        "max": lambda: max(a, b),
        "maxu": lambda: max(first, second),
        "rol": lambda: _rotated(first, -second),
        "ror": lambda: _rotated(first, second),
        "bclr": lambda: first & ~(1 << second % 32),
        "bext": lambda: first >> second % 32 & 1,
        "binv": lambda: first ^ 1 << second % 32,
        "bset": lambda: first | 1 << second % 32,
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
