"""Figures of the peers from another bench of cores, which ours must come near to.

There: GCC 12.2 ``-O3 -march=rv32im``, 2,000 random arrivals, another interrupted program and
another handler of the same kind; real Dhrystone 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Spread = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Of one core; spreads are minimum, median and maximum in cycles."""

    #: CoreMark/MHz, and with the flags of ``COREMARK_TUNED_FLAGS``.
    coremark: float | None = None
    coremark_tuned: float | None = None
    dmips: float | None = None
    first: Spread | None = None
    #: Of a handler that saves 16 registers.
    store: Spread | None = None
    taken_leaf: Spread | None = None
    taken_calls: Spread | None = None
    #: Cycles that are not part of what was taken there: the jump in the table of vectors counted as
    #: the interrupted program's, and with it what came before.
    beside_taken: int = 0


REFERENCES: Mapping[str, Reference] = {
    "VexRiscv standard": Reference(
        coremark=2.275,
        coremark_tuned=2.686,
        dmips=1.055,
        first=(10, 10, 43),
        store=(35, 35, 71),
        taken_leaf=(21, 21, 54),
        taken_calls=(60, 60, 153),
    ),
    "VexRiscv standard, LiteX bus": Reference(
        coremark=2.253,
        coremark_tuned=2.602,
        dmips=1.017,
        first=(10, 18, 67),
        store=(50, 61, 194),
        taken_leaf=(21, 41, 138),
        taken_calls=(75, 96, 459),
    ),
    "VexRiscv full": Reference(coremark=2.275, dmips=1.055),
    "PicoRV32": Reference(
        coremark=0.648,
        dmips=0.342,
        first=(6, 8, 45),
        store=(105, 107, 144),
        taken_leaf=(44, 46, 81),
        taken_calls=(209, 211, 246),
    ),
    "Ibex maxperf": Reference(
        coremark=2.837,
        coremark_tuned=3.507,
        dmips=1.173,
        first=(5, 6, 42),
        store=(27, 28, 64),
        taken_leaf=(13, 13, 49),
        taken_calls=(49, 49, 85),
        beside_taken=4,
    ),
}
#: How near: of what one program measures, of what depends on details of the program, and of what
#: depends on where it is interrupted.
COREMARK_TOLERANCE, TOLERANCE, SPREAD_TOLERANCE = 0.02, 0.05, 0.1
