"""Plots of results, all of one form."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..paths import build_root, naming

# Its cache of fonts belongs to what is built, and there is no screen.
os.environ.setdefault("MPLCONFIGDIR", str(build_root() / "matplotlib"))

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase

#: Of files that can be drawn.
SUFFIXES = tuple(f".{name}" for name in FigureCanvasBase.get_supported_filetypes())

#: Colour of each build in all plots.
COLOURS = {"B": "tab:blue", "S": "tab:orange", "polled": "tab:green"}


@contextlib.contextmanager
def figure(path: Path, title: str, *, xlabel: str = "", ylabel: str = "") -> Iterator[Axes]:
    """A plot that is written to the file when all has been drawn.

    Raises ``OSError`` that names it, also when the disk is full.
    """
    fig, axes = plt.subplots(figsize=(7, 4.5), dpi=120)
    try:
        axes.set_title(title)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.grid(True, axis="y", alpha=0.3)
        yield axes
        fig.tight_layout()
        with naming(path):
            fig.savefig(path)
    finally:
        plt.close(fig)
