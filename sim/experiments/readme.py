"""The table of results in the README, made from the results themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import EXPERIMENTS
from .report import cell, results_folder

README = Path(__file__).resolve().parent.parent.parent / "README.md"
_TABLE = re.compile(r"(<!-- results -->\n).*?(<!-- end -->)", re.DOTALL)


def read_results(folder: Path) -> list[Mapping[str, Any]]:
    """Results of all experiments. Raises ``ValueError`` naming one that has not been run."""
    results = []
    for identity in EXPERIMENTS:
        path = folder / f"{identity}.json"
        if not path.exists():
            raise ValueError(f"there is no result of {identity} in {folder}: run make bench")
        results.append(json.loads(path.read_text()))
    return results


def results_table(results: Sequence[Mapping[str, Any]]) -> str:
    """Markdown with every headline, its pass line, and what was run."""
    lines = ["| | figure | measured | published; what must hold |", "|---|---|---:|---|"]
    for result in results:
        verdict = "passed" if result["passed"] else "**failed**"
        notes = [result["reference"], f"{result['pass_line']}: {verdict}"]
        for index, (name, value) in enumerate(result["headline"].items()):
            first = f"{result['experiment']} {result['title'].lower()}" if index == 0 else ""
            note = notes[index] if index < len(notes) else ""
            lines.append(f"| {first} | {name} | {cell(value)} | {note} |")
    config = results[0]["config"]
    lengths = ", ".join(
        f"{result['experiment']} {result['config']['length']:,} {result['config']['length_unit']}"
        for result in results
    )
    clock = config["clock_hz"] / 1e6
    lines += ["", f"Seed {config['seed']}, {clock:g} MHz, {config['compiler']}; {lengths}."]
    return "\n".join(lines) + "\n"


def fill(text: str, table: str) -> str:
    """The README with another table. Raises ``ValueError`` if it has no place for one."""
    if not _TABLE.search(text):
        raise ValueError("the README has no table of results")
    return _TABLE.sub(lambda match: match[1] + table + match[2], text)


def update() -> None:
    """Write the results that are there into the README."""
    README.write_text(fill(README.read_text(), results_table(read_results(results_folder()))))
