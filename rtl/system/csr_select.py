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


def _wider(pattern: str, others: Collection[str], order: Sequence[int]) -> str:
    """The pattern with as many bits as possible that do not count, tried in this order."""
    for place in order:
        wider = pattern[:place] + "-" + pattern[place + 1 :]
        counting = [n for n, bit in enumerate(wider) if bit != "-"]
        if not any(all(other[n] == wider[n] for n in counting) for other in others):
            pattern = wider
    return pattern


@cache
def patterns(names: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns that the addresses of these CSRs match, and those of no others."""
    wanted = {f"{CSR[name]:0{ADDRESS_BITS}b}" for name in names}
    others = {f"{address:0{ADDRESS_BITS}b}" for address in CSR.values()} - wanted
    places = range(ADDRESS_BITS)
    orders = [[(place + first) % ADDRESS_BITS for place in places] for first in places]
    orders += [order[::-1] for order in orders]
    found: list[str] = []
    for address in sorted(wanted):
        if not any(
            all(bit in ("-", its) for bit, its in zip(pattern, address, strict=True))
            for pattern in found
        ):
            candidates = (_wider(address, others, order) for order in orders)
            found.append(max(candidates, key=lambda pattern: pattern.count("-")))
    return tuple(found)


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
