"""A critical path in words that a designer knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: What yosys and abc add to a net's name for each cell that they put behind it.
_MADE = re.compile(r"_(?:LUT4|PFUMX|L6MUX21|CCU2C|TRELLIS_FF|TRELLIS_DPR16X4|DP16KD|MULT18X18D)_.*")
_INSTANCE = re.compile(r"^dut\.")


@dataclass(frozen=True)
class Hop:
    """A cell and the net behind it."""

    #: Delay of the cell and of the net, and both with everything before them; nanoseconds.
    cell_ns: float
    net_ns: float
    total_ns: float
    #: Name in the source of the net, or of the nearest one from which it was made.
    name: str
    #: The net's own name in the netlist.
    net: str


def source_name(net: str) -> str:
    """The part of a net's name that comes from the source."""
    return _MADE.sub("", _INSTANCE.sub("", net))


def hops(path: Sequence[Mapping[str, Any]]) -> Iterator[Hop]:
    """The path that nextpnr's report gives step by step, one hop for each cell."""
    total = cell = 0.0
    for step in path:
        total += step["delay"]
        if step["type"] == "routing":
            net = step["net"]
            yield Hop(cell, step["delay"], total, source_name(net), net)
            cell = 0.0
        else:
            cell += step["delay"]
    end = path[-1]["to"]
    name = f"{end['cell']}.{end['port']}"
    yield Hop(cell, 0.0, total, source_name(end["cell"]), name)
