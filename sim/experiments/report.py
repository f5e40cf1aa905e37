"""Results as JSON files, as tables on the terminal and as plots."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tierv.soc.params import SocParams

from .. import verilator
from ..firmware import compiler
from ..json_files import write_json
from ..model import generator_digest
from ..paths import build_root
from .experiment import Experiment, Outcome, Settings

#: Folders of what is measured.
_SOURCES = ("rtl", "soc", "firmware")
#: Of headlines and table cells.
_DIGITS = 4
#: So few rows with more columns than that are shown side by side.
_MOST_ROWS_ASIDE = 9
#: Of tables that go to a file.
_WIDTH = 120


def console() -> Console:
    """The terminal, or a wide enough page."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH)


def results_folder() -> Path:
    """Where results go."""
    return build_root() / "results"


def check_folder() -> None:
    """Make the folder of results. Raises ``OSError`` that names it if they can't be written."""
    folder = results_folder()
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _plain(value: Any) -> Any:
    """JSON's idea of what numpy made."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a result can't be of {type(value)}")


def _recorded(settings: Settings) -> dict[str, str]:
    """Which recorded trace was used, if one was."""
    if settings.trace is None:
        return {}
    digest = hashlib.sha256(settings.trace.read_bytes()).hexdigest()
    return {"trace": settings.trace.name, "trace_sha256": digest}


def configuration(
    experiment: Experiment, settings: Settings, socs: Iterable[SocParams]
) -> dict[str, Any]:
    """Everything that a run on these SoCs depends on."""
    return _recorded(settings) | {
        "seed": settings.seed,
        "clock_hz": settings.clock_hz,
        "length": settings.length,
        "length_unit": experiment.length_unit,
        "socs": [dataclasses.asdict(soc) for soc in socs],
        "sources": generator_digest(None, _SOURCES),
        "compiler": compiler(),
        "verilator": verilator.version(),
        "python": platform.python_version(),
    }


def write(
    experiment: Experiment, settings: Settings, outcome: Outcome, socs: Iterable[SocParams]
) -> Path:
    """Write ``<id>.json`` and ``<id>.png`` to the folder of results; returns the former.

    ``socs`` are those that it was measured on. With a recorded trace its name follows the identity.
    """
    check_folder()
    name = f"{experiment.id}-{settings.trace.stem}" if settings.trace else experiment.id
    path = results_folder() / f"{name}.json"
    content = {
        "experiment": experiment.id,
        "title": experiment.title,
        "reference": experiment.reference,
        "config": configuration(experiment, settings, socs) | dict(outcome.config),
        "rows": outcome.rows,
        "headline": outcome.headline,
        "pass_line": experiment.pass_line,
        "passed": bool(outcome.passed),
    }
    write_json(path, content, indent=2, default=_plain)
    experiment.plot(outcome, path.with_suffix(".png"))
    return path


def cell(value: Any) -> str:
    """A value as tables show it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}" if abs(value) < 10**_DIGITS else f"{value:.0f}"
    return str(value)


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(row)
    return list(names)


def show(experiment: Experiment, settings: Settings, outcome: Outcome, console: Console) -> None:
    """Print the rows, the headline and the verdict."""
    table = Table(title=f"{experiment.id} {experiment.title}", title_justify="left")
    names = _columns(outcome.rows)
    cells = [names] + [[cell(row.get(name, "")) for name in names] for row in outcome.rows]
    if len(outcome.rows) <= _MOST_ROWS_ASIDE < len(names):
        cells = [list(line) for line in zip(*cells, strict=True)]
    for name in cells[0]:
        table.add_column(name, justify="right", overflow="fold")
    for line in cells[1:]:
        table.add_row(*line)
    console.print(table)
    for name, value in outcome.headline.items():
        console.print(f"  {name}: {cell(value)}", highlight=False)
    verdict = "[green]passed[/]" if outcome.passed else "[red]failed[/]"
    console.print(f"  {verdict}: {experiment.pass_line}", highlight=False)
    clock_hz = outcome.config.get("clock_hz", settings.clock_hz)
    console.print(
        f"  published: {experiment.reference}; seed {settings.seed},"
        f" {clock_hz / 1e6:g} MHz, {settings.length:,} {experiment.length_unit}\n",
        highlight=False,
    )


def summarize(outcomes: Mapping[str, tuple[Experiment, Outcome]], console: Console) -> None:
    """One table of all headlines."""
    table = Table(title="Summary", title_justify="left")
    for name in ("experiment", "figure", "value", "pass line"):
        table.add_column(name)
    for identity, (_, outcome) in outcomes.items():
        for index, (name, value) in enumerate(outcome.headline.items()):
            verdict = "passed" if outcome.passed else "FAILED"
            first = index == 0
            table.add_row(identity if first else "", name, cell(value), verdict if first else "")
        table.add_section()
    console.print(table)
    console.print(f"JSON and plots: {results_folder()}", highlight=False)
