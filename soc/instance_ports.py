"""Wishbone ports of Verilog modules that ``rtl`` writes, as Migen's ``Instance`` wants them."""

from __future__ import annotations

from collections.abc import Collection

from amaranth.lib.wiring import Out
from litex.soc.interconnect import wishbone
from migen import Signal

from tierv.rtl.wishbone import master_ports


def wishbone_ports(
    prefix: str,
    bus: wishbone.Interface,
    *,
    slave: bool = False,
    bursts: bool = False,
    without: Collection[str] = (),
) -> dict[str, Signal]:
    """The ports of a master, or of a slave, whose names begin with ``prefix``, on this bus."""
    return {
        f"{'o' if (member.flow is Out) != slave else 'i'}_{prefix}{name}": getattr(bus, name)
        for name, member in master_ports(bursts=bursts).items()
        if name not in without
    }
