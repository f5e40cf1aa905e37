"""Small combinational helpers shared by the whole core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from .params import Region


def apart(m: Module, name: str, value: ValueLike) -> Signal:
    """``value`` in a signal that synthesis keeps: what is known later joins behind it."""
    kept = Signal(Value.cast(value).shape(), name=name, attrs={"keep": 1})
    m.d.comb += kept.eq(value)
    return kept


def one_hot(index: Value, width: int) -> Value:
    """``width`` bits, bit n set where ``index`` is n; an index out of range sets none."""
    return Cat(index == n for n in range(width))


def pick(items: list, index: Value):
    """The item that ``index`` names; a list of one needs no index."""
    return items[0] if len(items) == 1 else Array(items)[index]


def bit(vector: ValueLike, index: Value) -> Value:
    """Bit ``index`` of ``vector``."""
    return pick(list(Value.cast(vector)), index)


def join_ports(
    m: Module, outer: wiring.Component, inner: wiring.Component, names: Mapping[str, str]
) -> None:
    """Connect ports of a component with those of a part within it: the part's names by its own."""
    for name, inner_name in names.items():
        mine, its = getattr(outer, name), getattr(inner, inner_name)
        inward = outer.signature.members[name].flow is In
        m.d.comb += its.eq(mine) if inward else mine.eq(its)


def applied(csr, live: Value, lsb: int = 0) -> Value:
    """What a CSR instruction (`layouts.csr_access_layout`) makes of a register.

    ``live`` are the register's bits from ``lsb`` on. Every register applies the instruction to
    itself, so that no write has to wait for the selection of what is read.
    """
    source = csr.source[lsb : lsb + len(live)]
    changed = Mux(csr.operation[0], live & ~source, live | source)
    return Mux(csr.operation[1], changed, source)


def in_region(word: Value, region: Region) -> Value:
    """1 if a word address lies in the region."""
    return word[region.size_log2 - 2 :] == region.base >> region.size_log2


def redirects(redirect, tier: Value | int) -> Value:
    """1 if the redirect (`layouts.redirect_layout`) is of this tier."""
    return (redirect.leaves.valid & (redirect.leaves.tier == tier)) | (
        redirect.begins.valid & (redirect.begins.tier == tier)
    )


def of_highest(vector: Value, items: Sequence[ValueLike]) -> Value:
    """The item of the highest set bit of ``vector``; the first one if none is set."""
    value: Value = Value.cast(items[0])
    for chosen, item in list(zip(vector, items, strict=True))[1:]:
        value = Mux(chosen, item, value)
    return value


def highest(vector: ValueLike) -> Value:
    """Index of the highest set bit of ``vector``; 0 if none is set."""
    bits = Value.cast(vector)
    return of_highest(bits, range(len(bits)))
