"""What of a word in memory a load takes."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Mux, Value
from amaranth.lib import data

#: One of the word's octets or halves, or all of it; a sign fills the rest.
PARTS = data.StructLayout({"octets": 4, "halves": 2, "whole": 1, "signed": 1})


def parts_of(funct3: Value, place: Value) -> tuple[Value, Value, Value]:
    """What a load with this funct3 takes, but for the sign, from bits 1:0 of its address."""
    octets = Mux(funct3[:2] == 0, (1 << place)[:4], 0)
    halves = Mux(funct3[:2] == 1, Mux(place[1], 0b10, 0b01), 0)
    return octets, halves, funct3[:2] == 2


def octets_of(word: Value) -> list[Value]:
    """The four octets, the lowest first."""
    return [word[lsb : lsb + 8] for lsb in range(0, 32, 8)]


def selected(selects: Value, items: list[Value]) -> Value:
    """The item whose bit is set in ``selects``, 0 if none is."""
    gated = (
        item & select.replicate(len(item)) for item, select in zip(items, selects, strict=True)
    )
    return reduce(or_, gated)
