"""The pseudo-random moments of the echo instrument, in the arithmetic of the field GF(2^32)."""

from __future__ import annotations

#: x^32 + x^22 + x^2 + x + 1; bit n is for x^n.
_POLYNOMIAL = (1 << 32) | (1 << 22) | (1 << 2) | (1 << 1) | 1
#: Of the multiplicative group, and the primes in it.
ORDER = (1 << 32) - 1
ORDER_PRIMES = (3, 5, 17, 257, 65_537)
#: Steps, divisions by x, from one random number to the next.
_STEPS = 32


def _product(one: int, other: int) -> int:
    total = 0
    while other:
        if other & 1:
            total ^= one
        other >>= 1
        one <<= 1
        if one >> 32:
            one ^= _POLYNOMIAL
    return total


def power_of_x(exponent: int) -> int:
    """x to a power, as an element of the field."""
    result, square = 1, 2
    while exponent:
        if exponent & 1:
            result = _product(result, square)
        square = _product(square, square)
        exponent >>= 1
    return result


def intervals(seed: int, shortest: int, spread_log2: int, count: int) -> list[int]:
    """Cycles from each moment to the next."""
    element = seed or 1
    steps = []
    for _ in range(count):
        element = _product(element, power_of_x(ORDER - _STEPS))
        steps.append(shortest + (element & ((1 << spread_log2) - 1)))
    return steps


def seed_before(number: int) -> int:
    """The seed whose first random number this is."""
    return _product(number, power_of_x(_STEPS))
