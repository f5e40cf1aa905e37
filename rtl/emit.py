"""Writing components as Verilog."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence

from amaranth.back import verilog
from amaranth.hdl import Value
from amaranth.lib.wiring import Component


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Python's garbage collector stands still meanwhile.

    All that Amaranth makes of a design stays until it is written: looking through it for garbage
    finds none and takes a third of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def to_verilog(
    component: Component, name: str, *, ports: Sequence[Value] | None = None, sources: bool = False
) -> str:
    """The component as a Verilog module, and those within it.

    ``ports`` are those of its interface if not given. With ``sources``, attributes tell which line
    of the Amaranth source each signal comes from.
    """
    with without_collector():
        return verilog.convert(component, name=name, ports=ports, strip_internal_attrs=not sources)
