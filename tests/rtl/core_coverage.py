"""Line and toggle coverage of the core: ``python tests/rtl/core_coverage.py --help``.

The core runs the random programs of the lock-step tests, the sweep's programs with random lines,
and a tier that is held back for long. What they do is checked elsewhere.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from coverage_exclusions import exclusion
from lockstep import CORES, case_of_seed, run_core
from rich.console import Console
from rich.table import Table
from sweep_programs import RAM, RAM_BYTES, SweepProgram, classes
from verilator_coverage import Point, module_sources, read_coverage

from tierv.sim.core_model import CoreModel

CORE = "3"
SEEDS = range(30)
PIECES = 400
#: What must be reached, in per cent.
LEAST = 95.0


@dataclass
class Share:
    """Points covered, of those that count."""

    covered: int = 0
    total: int = 0

    def add(self, covered: bool) -> None:
        self.covered += covered
        self.total += 1

    @property
    def percent(self) -> float:
        """100 where there is nothing to cover."""
        return 100 * self.covered / self.total if self.total else 100.0

    def __str__(self) -> str:
        return f"{self.percent:.1f} % of {self.total:,}" if self.total else "-"


@dataclass(frozen=True)
class Report:
    """Coverage of the core's modules, and what does not count."""

    #: By file of the Amaranth source: of statements, and of changes of bits.
    lines: dict[str, Share]
    toggles: dict[str, Share]
    #: Points left out, by reason.
    excluded: Counter[str]
    missing: list[Point]

    @property
    def line(self) -> Share:
        return _sum(self.lines)

    @property
    def toggle(self) -> Share:
        return _sum(self.toggles)


def _sum(shares: dict[str, Share]) -> Share:
    return Share(
        sum(share.covered for share in shares.values()),
        sum(share.total for share in shares.values()),
    )


def report(points: Counter[Point], verilog: Path) -> Report:
    """Sort points by source file; leave out what ``coverage_exclusions`` explains."""
    text = verilog.read_text().splitlines()
    sources = module_sources(verilog)
    lines: dict[str, Share] = defaultdict(Share)
    toggles: dict[str, Share] = defaultdict(Share)
    excluded: Counter[str] = Counter()
    missing = []
    for point, count in sorted(points.items()):
        reason = exclusion(point, text[point.line - 1])
        if reason:
            excluded[reason] += 1
            continue
        shares = toggles if point.is_toggle else lines
        shares[sources[point.module]].add(count > 0)
        if not count:
            missing.append(point)
    return Report(dict(lines), dict(toggles), excluded, missing)


def _runs(model: CoreModel, folder: Path) -> Iterator[Path]:
    """Coverage files of all runs, each there until the next one is asked for."""
    for seed in SEEDS:
        file = folder / f"random{seed}.dat"
        case = case_of_seed(CORE, seed, PIECES)
        run_core(case, model, folder, "--coverage", str(file))
        yield file
        file.unlink()
    for name in classes(model.params):
        elf, file = folder / f"{name}.elf", folder / f"{name}.dat"
        elf.write_bytes(SweepProgram(name, model.params, thorough=True).elf())
        options = ("--memory", f"{RAM:#x}:{RAM_BYTES:#x}", "--cycles", "20000")
        lines = ("--line-period", "50", "--pulse", "1", "--coverage", str(file))
        model.run(elf, *options, *lines)
        yield file
        file.unlink()


def measure() -> Report:
    """Run everything."""
    model = CoreModel(CORES[CORE], coverage=True)
    with tempfile.TemporaryDirectory() as folder:
        points = read_coverage(_runs(model, Path(folder)))
    return report(points, model.verilog)


def show(found: Report) -> None:
    """Print the tables."""
    console = Console()
    table = Table("file", "lines", "bits changed both ways", title="Coverage of the core")
    for file in sorted({*found.lines, *found.toggles}):
        shares = (found.lines.get(file, Share()), found.toggles.get(file, Share()))
        table.add_row(file, *map(str, shares))
    table.add_section()
    table.add_row("all", str(found.line), str(found.toggle))
    console.print(table)
    table = Table("left out", "why")
    for reason, count in found.excluded.most_common():
        table.add_row(f"{count:,}", reason)
    console.print(table)


@click.command()
@click.option("--missing", is_flag=True, help="List what was not covered.")
def main(missing: bool) -> None:
    """Measure line and toggle coverage of the core; fails below 95 %."""
    found = measure()
    show(found)
    if missing:
        for point in found.missing:
            where = f"{point.module}, line {point.line}: {point.name}"
            click.echo(f"{where}[{point.bit}] to {point.value}" if point.is_toggle else where)
    sys.exit(int(min(found.line.percent, found.toggle.percent) < LEAST))


if __name__ == "__main__":
    main()
