"""Which CSR an address names, and the value that it reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache

from amaranth.hdl import Cat, Const, Mux, Value

from ..isa import csr_addresses

CSR = csr_addresses()
ADDRESS_BITS = 12


def is_one_of(address: Value, names: tuple[str, ...]) -> Value:
    """1 if the address is that of one of these CSRs."""
    return Cat(address == CSR[name] for name in names).any()


def _telling_bits(address: int, others: Collection[int], order: Sequence[int]) -> int:
    """A mask of bits that tell the address from the others; the rest is left out in this order."""
    counting = (1 << ADDRESS_BITS) - 1
    for place in order:
        fewer = counting & ~(1 << place)
        if all((other ^ address) & fewer for other in others):
            counting = fewer
    return counting


@cache
def patterns(names: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns that the addresses of these CSRs match, and those of no others."""
    wanted = {CSR[name] for name in names}
    others = {*CSR.values()} - wanted
    places = range(ADDRESS_BITS - 1, -1, -1)
    orders = [[(place - first) % ADDRESS_BITS for place in places] for first in range(ADDRESS_BITS)]
    orders += [order[::-1] for order in orders]
    found: list[tuple[int, int]] = []
    for address in sorted(wanted):
        if all((address ^ one) & counting for one, counting in found):
            candidates = (_telling_bits(address, others, order) for order in orders)
            found.append((address, min(candidates, key=int.bit_count)))
    return tuple(
        "".join(str(one >> place & 1) if counting >> place & 1 else "-" for place in places)
        for one, counting in found
    )


def names_one_of(address: Value, *names: str) -> Value:
    """1 if the address, which is that of some CSR, is that of one of these.

    What it gives for an address that is no CSR's is not said, so that few bits have to be compared.
    """
    return address.matches(*patterns(names))


def halves(names: tuple[str, ...], counter: Value) -> dict[str, Value]:
    """A counter's lower and upper word under each of these names."""
    low, high = counter[:32], counter[32:]
    return dict.fromkeys(names, low) | dict.fromkeys((f"{name}h" for name in names), high)


def chosen(named: Callable[..., Value], readable: dict[str, Value]) -> Value:
    """The value of the CSR that is read, 32 bits; 0 if it is none of these.

    ``named`` says of names whether that CSR has one of them; it is asked once for each value.
    """
    names: dict[int, list[str]] = {}
    for name, value in readable.items():
        names.setdefault(id(value), []).append(name)
    read: Value = Const(0, 32)
    for aliases in names.values():
        read = read | Mux(named(*aliases), Value.cast(readable[aliases[0]]), 0)
    return read
