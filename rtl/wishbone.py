"""Ports of a Wishbone B4 master: 32 bits of data, word addresses."""

from __future__ import annotations

from amaranth.lib.wiring import In, Member, Out


def master_ports(prefix: str = "", *, bursts: bool = False) -> dict[str, Member]:
    """The ports by name, each with ``prefix`` before it; ``cti`` if the master has ``bursts``."""
    ports = {
        "cyc": Out(1),
        "stb": Out(1),
        "we": Out(1),
        "adr": Out(30),
        "sel": Out(4),
        **({"cti": Out(3)} if bursts else {}),
        "dat_w": Out(32),
        "dat_r": In(32),
        "ack": In(1),
        "err": In(1),
    }
    return {f"{prefix}{name}": member for name, member in ports.items()}
