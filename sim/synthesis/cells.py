"""Counting what a synthesised netlist is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .harness import CAUGHT, DRIVEN, HARNESS_MODULE, SIGNATURE

#: Where the harness's Verilog is, next to the design's.
HARNESS_FILE = "ecp5.v"

#: ECP5: look-up tables, flip-flops, block RAMs and multipliers in a cell. A carry cell fills two
#: look-up tables; a distributed RAM four, and four more for its write port, which are counted
#: apart, as nextpnr does.
_ECP5 = {
    "LUT4": {"COMB": 1},
    "CCU2C": {"COMB": 2},
    "TRELLIS_DPR16X4": {"COMB": 4, "RAMW": 1},
    "TRELLIS_FF": {"FF": 1},
    "DP16KD": {"EBR": 1},
    "MULT18X18D": {"MULT": 1},
}
#: 7-series and Cyclone V: the cells that each column of the table adds up, by their first letters,
#: and what each counts for; distributed RAM counts for its look-up tables.
_ARTIX = {
    "LUT": {"LUT": 1},
    "LUT RAM": {
        **{"RAM32X1S": 1, "RAM64X1S": 1, "RAM32X2S": 2, "RAM128X1S": 2, "RAM256X1S": 4},
        **{"RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32M": 4, "RAM64M": 4},
    },
    "FF": {"FD": 1},
    "RAMB18": {"RAMB18": 1},
    "RAMB36": {"RAMB36": 1},
    "DSP": {"DSP48": 1},
}
_CYCLONE = {
    "ALUT": {f"MISTRAL_ALUT{inputs}": 1 for inputs in range(2, 7)},
    "ALUT arithmetic": {"MISTRAL_ALUT_ARITH": 1},
    "MLAB": {"MISTRAL_MLAB": 1},
    "FF": {"MISTRAL_FF": 1},
    "M10K": {"MISTRAL_M10K": 1},
    "DSP": {"MISTRAL_MUL": 1},
}
FAMILIES = {"xilinx": _ARTIX, "intel_alm": _CYCLONE}

#: A module of yosys' JSON netlist.
Netlist = Mapping[str, Any]


def cell_types(module: Netlist) -> Counter[str]:
    """How many cells of each type a module has."""
    return Counter(cell["type"] for cell in module["cells"].values())


def family_counts(types: Mapping[str, int], family: str) -> dict[str, int]:
    """Counts of a flat netlist for ``xilinx`` or ``intel_alm``, by the table's columns."""
    return {
        column: sum(
            number * weight
            for name, number in types.items()
            for letters, weight in cells.items()
            if name.startswith(letters)
        )
        for column, cells in FAMILIES[family].items()
    }


def ecp5_counts(types: Mapping[str, int]) -> Counter[str]:
    """COMB, RAMW, FF, EBR and MULT of a flat ECP5 netlist before placement."""
    total: Counter[str] = Counter()
    for name, number in types.items():
        for column, weight in _ECP5.get(name, {}).items():
            total[column] += number * weight
    return total


@dataclass(frozen=True)
class HarnessCells:
    """The harness's share of a netlist: its flip-flops and look-up tables."""

    flip_flops: int
    luts: int


def harness_cells(netlist: Netlist, observed_bits: int) -> HarnessCells:
    """Find the cells of the harness in the flat ECP5 netlist.

    Its flip-flops are those of its source file or with the names of its registers (yosys may lose
    either); its look-up tables those in front of the signature. Raises ``ValueError`` if the
    signature does not hold the outputs any more: then yosys has found one of them undefined, and
    what the netlist counts is not the design.
    """
    module = netlist["modules"][HARNESS_MODULE]
    owned = {
        name: set(module["netnames"][name]["bits"]) if name in module["netnames"] else set()
        for name in (DRIVEN, CAUGHT, SIGNATURE)
    }
    registers = set().union(*owned.values())
    flip_flops, summed, signatures = 0, set(), 0
    for cell in module["cells"].values():
        if cell["type"] == "TRELLIS_FF":
            out = cell["connections"]["Q"][0]
            source = cell["attributes"].get("src", "")
            flip_flops += out in registers or source.startswith(f"{HARNESS_FILE}:")
            if out in owned[SIGNATURE]:
                signatures += 1
                summed |= set(cell["connections"].get("DI", []))
    luts = sum(
        cell["type"] == "LUT4" and cell["connections"]["Z"][0] in summed
        for cell in module["cells"].values()
    )
    if signatures != observed_bits:
        raise ValueError(
            f"the netlist must keep {observed_bits} bits of the harness's signature,"
            f" not {signatures}: is an output undefined?"
        )
    return HarnessCells(flip_flops, luts)


def breakdown(netlist: Netlist) -> dict[tuple[str, ...], Counter[str]]:
    """What ``ecp5_counts`` counts of each instance with what it contains, by names from the top on.

    In the flat netlist a cell belongs to the instance after whose signal yosys named it. For
    flip-flops and memories that is where they are described; a look-up table on the border of two
    instances may be counted for either. The sums are those of the whole.
    """
    cells = netlist["modules"][HARNESS_MODULE]["cells"]
    scopes = {name for name, cell in cells.items() if cell["type"] == "$scopeinfo"}
    types = {tuple(name.split(".")): Counter() for name in sorted(scopes)}
    for name, cell in cells.items():
        words = tuple(name.split("."))
        for length in range(len(words)):
            if words[:length] in types:
                types[words[:length]][cell["type"]] += 1
    return {path: ecp5_counts(counts) for path, counts in types.items()}
