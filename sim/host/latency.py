"""The host's command for a board's latency instrument."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from ..cyclictest import Histogram, from_text
from ..file_arguments import NEW_FILE, check_outputs, write_text
from .board_commands import answer_of, board_options

_COLUMNS = ("hardware", "software")


def _table(histograms: list[Histogram]) -> Table:
    table = Table(title="latency, cycles", title_justify="left")
    for name in ("seen by", "samples", "min", "mean", "max", "s.d.", "beyond the bins"):
        table.add_column(name, justify="right", overflow="fold")
    for name, found in zip(_COLUMNS, histograms, strict=True):
        numbers = (found.total, found.minimum, f"{found.mean:.3f}", found.maximum)
        table.add_row(
            name,
            *map(str, numbers),
            f"{found.deviation:.3f}",
            str(found.overflow),
            end_section=True,
        )
    return table


def _draw(histograms: list[Histogram], path: Path) -> None:
    from ..experiments.plots import figure

    with figure(path, "Latency", xlabel="cycles", ylabel="samples") as axes:
        for index, (name, found) in enumerate(zip(_COLUMNS, histograms, strict=True)):
            colour = f"C{index}"
            axes.plot(
                *zip(*sorted(found.counts.items()), strict=True), ".-", color=colour, label=name
            )
            for extreme in (found.minimum, found.maximum):
                axes.axvline(extreme, linestyle="--", color=colour, linewidth=0.7)
        axes.set_yscale("log")
        axes.legend()


def _drawable(context, parameter, path: Path | None) -> Path | None:
    if path is not None:
        from ..experiments.plots import SUFFIXES

        if path.suffix.lower() not in SUFFIXES:
            raise click.BadParameter(f"{path} must end in one of {', '.join(SUFFIXES)}")
    return path


@click.command()
@board_options
@click.option("--text", type=NEW_FILE, help="Write the board's text here.")
@click.option(
    "--plot", type=NEW_FILE, callback=_drawable, help="Draw the histograms here: .png, .svg, ..."
)
def latency(ip: str, udp_port: int, text: Path | None, plot: Path | None) -> None:
    """Show what a board's latency instrument has measured.

    The text has the form of cyclictest's histograms. `ask latency start ...` begins a run; while it
    lasts each line of the text is of its own moment, so that counts and sums differ a little.
    """
    check_outputs([], [text, plot])
    found = answer_of(ip, udp_port, ("latency", "show"))
    try:
        histograms = from_text(found)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if len(histograms) != len(_COLUMNS):
        raise click.ClickException(f"the board has {len(histograms)} histograms, not 2")
    if text is not None:
        write_text(text, found)
    if plot is not None:
        if not all(histogram.counts for histogram in histograms):
            raise click.ClickException("there is nothing to draw: no samples yet")
        _draw(histograms, plot)
    Console().print(_table(histograms))
