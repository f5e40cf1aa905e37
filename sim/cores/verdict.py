"""What must hold, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import cores, reference
from .interrupts import BUS_CYCLES, ISSUE_TO_X_CYCLES, Background, Handler
from .kernels import COREMARKS, EXPECTED, SPEEDS

Rows = Sequence[Mapping[str, Any]]
#: Cycles from a line to an output pin whose device acknowledges at once, and those that are aimed
#: at.
PIN_CYCLES, PIN_GOAL_CYCLES = 6, 5
#: In the handler that calls: between a load and its use, which no tier can have.
CALLS_BUBBLES = 1


#: What of a spread the reference is compared with, and how near it must be. Behind LiteX's bus only
#: the least does not depend on what is in the caches.
_COMPARED: Mapping[str, Mapping[str, float]] = {
    Background.LOCAL: {
        "min": reference.TOLERANCE,
        "median": reference.SPREAD_TOLERANCE,
        "max": reference.SPREAD_TOLERANCE,
    },
    Background.MISSES: {"min": reference.TOLERANCE},
}


@dataclass(frozen=True)
class Target:
    """A figure with a limit."""

    name: str
    measured: Any
    limit: str
    passed: bool
    #: It says something about the bench, not about the core.
    of_bench: bool = False


def of_part(rows: Rows, part: str, **wanted: Any) -> list[Mapping[str, Any]]:
    """Rows of a part of the results in which the columns have such values."""
    return [
        row
        for row in rows
        if row["part"] == part and all(row.get(key) == value for key, value in wanted.items())
    ]


def _tiered(rows: Rows) -> list[Mapping[str, Any]]:
    """Interrupt rows of the builds whose handler is a tier."""
    return [row for row in of_part(rows, "interrupts") if row["idiom"] == "tier"]


def _interrupt_targets(rows: Rows) -> Iterator[Target]:
    tiered = _tiered(rows)
    issue = max(row["first max"] for row in tiered) - ISSUE_TO_X_CYCLES
    yield Target("first handler instruction issues, cycles after the line", issue, "1", issue == 1)
    jitter = max(row["first max"] - row["first min"] for row in tiered)
    yield Target("jitter of the first handler instruction, cycles", jitter, "0", jitter == 0)
    leaf = [row for row in tiered if row["handler"] == Handler.LEAF]
    alone, beside = (
        [row for row in leaf if row["background"] == background]
        for background in (Background.LOCAL, Background.BUS)
    )
    calls = of_part(tiered, "interrupts", handler=Handler.CALLS, background=Background.LOCAL)
    name = "slots lost to a program in local memory beyond a {} handler's own instructions"
    for handler, chosen, own in (("leaf", alone, 0), ("calling", calls, CALLS_BUBBLES)):
        lost = max(row["lost max"] - row["instructions"] for row in chosen)
        why = f": it waits {own} cycle for what it has loaded" if own else ""
        yield Target(name.format(handler), lost, f"{own} or fewer{why}", lost <= own)
    # What is on the bus ends first; then the handler's own access takes as much longer.
    for chosen, wait, name in (
        (alone, 0, "line pin to output pin, leaf handler in C, cycles"),
        (
            beside,
            2 * (BUS_CYCLES - 1),
            f"the same if accesses to the bus take {BUS_CYCLES} cycles, a program's and the"
            " handler's",
        ),
    ):
        pins, most = max(row["pin max"] for row in chosen), PIN_CYCLES + wait
        limit = f"{most} or fewer (goal {PIN_GOAL_CYCLES + wait})"
        yield Target(name, pins, limit, pins <= most)
    nested = of_part(rows, "nested", core=f"TierV N={max(cores.TIER_COUNTS)}")
    deepest = max(row["first max"] for row in nested) - ISSUE_TO_X_CYCLES
    name = "nested eight deep: each level issues, cycles after its line"
    yield Target(name, deepest, "1", deepest == 1)


def _speed_targets(rows: Rows) -> Iterator[Target]:
    few, many = (f"TierV N={count}" for count in (min(cores.TIER_COUNTS), max(cores.TIER_COUNTS)))
    for kernel in (*EXPECTED, *COREMARKS):
        by_core = {row["core"]: row for row in of_part(rows, "kernels", kernel=kernel)}
        if not by_core:
            continue
        one, other = by_core[few]["cycles"], by_core[many]["cycles"]
        yield Target(
            f"{kernel}: cycles of {many} less those of {few}", other - one, "0", one == other
        )
    for kernel, figure in SPEEDS.items():
        by_core = {row["core"]: row for row in of_part(rows, "kernels", kernel=kernel)}
        if by_core:
            peer = by_core["VexRiscv full"][figure]
            own = by_core[many][figure]
            yield Target(f"{figure} of {many}", own, f"above VexRiscv's {peer:.3f}", own > peer)
    slots = of_part(rows, "slots")
    single = next(row["total IPC"] for row in slots if row["core"] == few)
    tiers = max(row["total IPC"] for row in slots if row["idiom"].startswith("tier"))
    gain = 100 * (tiers / single - 1)
    name = "driver and application, with SHARING or without, instructions over S (%)"
    yield Target(name, gain, "above 0", gain > 0)


def _count_targets(rows: Rows) -> Iterator[Target]:
    """All cores run the same program: what they retire of a kernel is as much, but for the mark."""
    counts = {kernel: [] for kernel in (*EXPECTED, *COREMARKS)}
    for row in of_part(rows, "kernels"):
        counts[row["kernel"]].append(row["instructions"])
    apart = max((max(found) - min(found) for found in counts.values() if found), default=0)
    name = "instructions of a kernel by which two cores differ"
    yield Target(name, apart, "1 or fewer", apart <= 1)


def _near(name: str, measured: float, wanted: float, tolerance: float) -> Target:
    # A cycle is as near as a cycle count can be.
    near = abs(measured - wanted) <= max(tolerance * wanted, 1 if isinstance(wanted, int) else 0)
    name = f"{name}, reference {wanted}"
    return Target(name, measured, f"within {tolerance:.0%}", near, of_bench=True)


def _reference_targets(rows: Rows) -> Iterator[Target]:
    """The bench finds for the peers what another bench has found."""
    for core, known in reference.REFERENCES.items():
        yield from _reference_speeds(rows, core, known)
        yield from _reference_spreads(rows, core, known)


def _reference_speeds(rows: Rows, core: str, known: reference.Reference) -> Iterator[Target]:
    for kernel, wanted, tolerance in (
        ("dhrystone", known.dmips, reference.TOLERANCE),
        ("coremark", known.coremark, reference.COREMARK_TOLERANCE),
        # Unrolled it fills VexRiscv's cache, so that it matters where in memory it lies.
        ("coremark tuned", known.coremark_tuned, reference.TOLERANCE),
    ):
        figure = SPEEDS[kernel]
        for row in of_part(rows, "kernels", kernel=kernel, core=core) if wanted else []:
            yield _near(f"{core}: {figure}", row[figure], wanted, tolerance)


def _reference_spreads(rows: Rows, core: str, known: reference.Reference) -> Iterator[Target]:
    for handler, column, spread in (
        ("leaf", "first", known.first),
        ("calls", "store", known.store),
        ("leaf", "taken", known.taken_leaf),
        ("calls", "taken", known.taken_calls),
    ):
        beside = known.beside_taken if column == "taken" else 0
        for row in of_part(rows, "interrupts", core=core, handler=handler) if spread else []:
            compared = _COMPARED.get(row["background"], {})
            for (kind, tolerance), cycles in zip(compared.items(), spread, strict=False):
                name = f"{core}: {column} of a handler ({handler}), {kind}"
                yield _near(name, row[f"{column} {kind}"] - beside, cycles, tolerance)


def targets(rows: Rows) -> list[Target]:
    """Every target with its verdict."""
    parts = (_interrupt_targets, _speed_targets, _count_targets, _reference_targets)
    return [target for part in parts for target in part(rows)]
