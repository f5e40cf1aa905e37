"""Histograms of latencies as text, in the form of cyclictest (rt-tests), one column a histogram."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_BIN = re.compile(r"^(\d{6,})((?:\s+\d{6,})+)$")
_TOTAL = re.compile(r"^# ([A-Z][A-Za-z ]+):((?:\s+\d+(?:\.\d+)?)+)$")
_NAMES = ("Total", "Min Latencies", "Avg Latencies", "Max Latencies", "Histogram Overflows")


@dataclass(frozen=True)
class Histogram:
    """Counts by latency in cycles; those beyond the last bin only in ``overflow``."""

    counts: Mapping[int, int]
    total: int
    minimum: int
    maximum: int
    mean: float
    deviation: float = math.nan
    overflow: int = 0

    def shifted(self, cycles: int) -> Mapping[int, int]:
        """The counts if every latency were so much longer."""
        return {latency + cycles: count for latency, count in self.counts.items()}


def from_sums(
    bins: Sequence[int],
    *,
    total: int,
    minimum: int,
    maximum: int,
    sum: int,
    squares: int,
    overflow: int,
) -> Histogram:
    """A histogram as the hardware and the firmware keep it: counts from 0 on, and exact sums."""
    mean = sum / total if total else math.nan
    # The numerator is exact.
    variance = (squares * total - sum * sum) / total**2 if total else math.nan
    return Histogram(
        counts={latency: int(count) for latency, count in enumerate(bins) if count},
        total=total,
        minimum=minimum,
        maximum=maximum,
        mean=mean,
        deviation=math.sqrt(variance),
        overflow=overflow,
    )


def to_text(columns: Sequence[Histogram], title: str) -> str:
    """Text with one line for each latency that any histogram has, the least first."""
    lines = [f"# Histogram, {title}"]
    for latency in sorted(set().union(*(column.counts for column in columns))):
        counts = " ".join(f"{column.counts.get(latency, 0):06d}" for column in columns)
        lines.append(f"{latency:06d} {counts}")
    rows = (
        ("Total", [f"{column.total:09d}" for column in columns]),
        ("Min Latencies", [f"{column.minimum:05d}" for column in columns]),
        ("Avg Latencies", [f"{column.mean:09.3f}" for column in columns]),
        ("Max Latencies", [f"{column.maximum:05d}" for column in columns]),
        ("Histogram Overflows", [f"{column.overflow:05d}" for column in columns]),
        ("Std Deviations", [f"{column.deviation:09.3f}" for column in columns]),
    )
    lines += [f"# {name}: {' '.join(values)}" for name, values in rows]
    return "\n".join(lines) + "\n"


def from_text(text: str) -> list[Histogram]:
    """The histograms in a text, of cyclictest itself too; other lines are left out.

    Raises ``ValueError`` naming what is missing, or a line with another number of columns.
    """
    bins: dict[int, list[int]] = {}
    totals: dict[str, list[float]] = {}
    for line in text.splitlines():
        if found := _BIN.match(line.strip()):
            bins[int(found[1])] = [int(word) for word in found[2].split()]
        elif found := _TOTAL.match(line.strip()):
            totals[found[1]] = [float(word) for word in found[2].split()]
    for name in _NAMES:
        if name not in totals:
            raise ValueError(f"the histogram has no line '# {name}:'")
    columns = len(totals["Total"])
    for what, values in [*bins.items(), *totals.items()]:
        if len(values) != columns:
            raise ValueError(f"{what!r} has {len(values)} columns, not {columns}")
    deviations = totals.get("Std Deviations", [math.nan] * columns)
    return [
        Histogram(
            counts={latency: counts[index] for latency, counts in bins.items() if counts[index]},
            total=int(totals["Total"][index]),
            minimum=int(totals["Min Latencies"][index]),
            maximum=int(totals["Max Latencies"][index]),
            mean=totals["Avg Latencies"][index],
            deviation=deviations[index],
            overflow=int(totals["Histogram Overflows"][index]),
        )
        for index in range(columns)
    ]
