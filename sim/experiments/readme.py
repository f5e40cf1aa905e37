"""The README's tables of the experiments, made from their results."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..json_files import read_json, write_whole
from ..pages import README, fill
from . import GROUPS
from .experiment import Experiment
from .report import cell, results_folder


def read_results(folder: Path, experiments: Sequence[Experiment]) -> list[Mapping[str, Any]]:
    """Results of the experiments that have been run.

    Raises ``ValueError`` if none has, and naming a file that is damaged.
    """
    paths = [folder / f"{experiment.id}.json" for experiment in experiments]
    results = [read_json(path) for path in paths if path.exists()]
    if not results:
        names = ", ".join(experiment.id for experiment in experiments)
        raise ValueError(f"there is no result of {names} in {folder}: run one first")
    return results


def results_table(results: Sequence[Mapping[str, Any]], experiments: Sequence[Experiment]) -> str:
    """Markdown with every headline and pass line, and with what of all has not been run.

    Raises ``ValueError`` for results of another seed, compiler or state of the sources than the
    first one's.
    """
    lines = ["| | figure | measured | published; what must hold |", "|---|---|---:|---|"]
    for result in results:
        verdict = "passed" if result["passed"] else "**failed**"
        notes = [result["reference"], f"{result['pass_line']}: {verdict}"]
        for index, (name, value) in enumerate(result["headline"].items()):
            first = f"{result['experiment']} {result['title'].lower()}" if index == 0 else ""
            note = notes[index] if index < len(notes) else ""
            lines.append(f"| {first} | {name} | {cell(value)} | {note} |")
    run = {result["experiment"] for result in results}
    for experiment in experiments:
        if experiment.id not in run:
            title = f"{experiment.id} {experiment.title.lower()}"
            lines.append(f"| {title} | not measured | | {experiment.reference} |")
    config = results[0]["config"]
    for result, name in itertools.product(results, ("seed", "compiler", "sources")):
        # One that an older version has written may lack it.
        found, wanted = result["config"].get(name), config.get(name)
        if found != wanted or found is None:
            raise ValueError(
                f"{result['experiment']} must have the {name} of {results[0]['experiment']},"
                f" {wanted}, not {found}: run it again"
            )
    lengths = ", ".join(_length(result, config["clock_hz"]) for result in results)
    clock = config["clock_hz"] / 1e6
    lines += ["", f"Seed {config['seed']}, {clock:g} MHz, {config['compiler']}; {lengths}."]
    return "\n".join(lines) + "\n"


def _length(result: Mapping[str, Any], usual_hz: int) -> str:
    """How long an experiment was, and its clock if that is another."""
    config = result["config"]
    text = f"{result['experiment']} {config['length']:,} {config['length_unit']}"
    return text if config["clock_hz"] == usual_hz else f"{text} at {config['clock_hz'] / 1e6:g} MHz"


def update(groups: Sequence[str]) -> None:
    """Write the results of groups of experiments, which must be there, into the README."""
    text = README.read_text()
    for group in groups:
        results = read_results(results_folder(), GROUPS[group])
        text = fill(text, results_table(results, GROUPS[group]), f"results of {group}")
    write_whole(README, text)
