"""Throughput against the size of the frames."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from tierv.soc.params import FAST_ETHERNET

from .frames import wire_cycles
from .plots import figure
from .rfc2544_trial import SIZES


@dataclass(frozen=True)
class Curve:
    """Rows of one case, and how they are drawn; without a colour, in the next one."""

    label: str
    rows: list[dict[str, Any]]
    colour: str | None = None
    style: str = "-"


def plot_throughput(
    path: Path, title: str, curves: Iterable[Curve], bits_per_second: int = FAST_ETHERNET
) -> None:
    """Write a plot of the curves, with what the wire carries of frames of each size."""
    line = [
        size * 8 / wire_cycles(size, bits_per_second, bits_per_second) * bits_per_second / 1e6
        for size in SIZES
    ]
    with figure(path, title, xlabel="frame (bytes)", ylabel="Mbit/s") as axes:
        for curve in curves:
            axes.plot(
                [row["bytes"] for row in curve.rows],
                [row["throughput (Mbit/s)"] for row in curve.rows],
                curve.style,
                marker="o",
                color=curve.colour,
                label=curve.label,
            )
        axes.plot(SIZES, line, color="gray", label="line rate")
        size_axis(axes)


def size_axis(axes: Axes) -> None:
    """Make the x axis that of the sizes, when all has been drawn."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES, SIZES)
    axes.legend(fontsize="small")
