"""Which CSR an address names, and the value that it reads."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from ..isa import csr_addresses

CSR = csr_addresses()


def is_one_of(address: Value, names: tuple[str, ...]) -> Value:
    """1 if the address is that of one of these CSRs."""
    return Cat(address == CSR[name] for name in names).any()


def halves(names: tuple[str, ...], counter: Value) -> dict[str, Value]:
    """A counter's lower and upper word under each of these names."""
    low, high = counter[:32], counter[32:]
    return dict.fromkeys(names, low) | dict.fromkeys((f"{name}h" for name in names), high)


def chosen(m: Module, address: Value, readable: dict[str, Value]) -> Value:
    """The value of the CSR that `address` named a cycle ago, 32 bits; 0 if it is none of these.

    One select for each value, registered in ``m``.
    """
    names: dict[int, list[str]] = {}
    for name, value in readable.items():
        names.setdefault(id(value), []).append(name)
    read: Value = Const(0, 32)
    for aliases in names.values():
        select = Signal(name=f"reads_{aliases[0]}")
        m.d.sync += select.eq(is_one_of(address, tuple(aliases)))
        read = read | Mux(select, Value.cast(readable[aliases[0]]), 0)
    return read
