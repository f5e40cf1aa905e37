"""Command line of the bench of cores: ``python -m tierv.sim.cores``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from ..commands import Commands
from ..experiments.report import check_folder, console
from . import extensions as bit_manipulation
from . import report
from .bench import Settings, measure_all
from .kernels import check_coremark, packaged_coremark
from .model import IBEX_PACKAGE
from .run import RunError


def _coremark(folder: Path | None) -> Path:
    """CoreMark in the folder or, without one, in the package."""
    folder = folder or packaged_coremark()
    check_coremark(folder)
    return folder


@click.group(cls=Commands)
def main() -> None:
    """Measure the core and its peers side by side."""


@main.command()
@click.option(
    "--coremark",
    type=click.Path(path_type=Path, resolve_path=True),
    help=f"A checkout of CoreMark, instead of the one in the package {IBEX_PACKAGE}.",
)
@click.option("--iterations", type=int, default=10, show_default=True, help="Of CoreMark.")
@click.option(
    "--interrupts", type=int, default=2_000, show_default=True, help="Arrivals in each case."
)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--update", is_flag=True, help="Make these the figures that the README shows.")
def bench(coremark: Path | None, iterations: int, interrupts: int, seed: int, update: bool) -> None:
    """Run everything; the exit status is 1 if a target does not hold."""
    coremark = _coremark(coremark)
    settings = Settings(interrupts=interrupts, seed=seed, coremark=coremark, iterations=iterations)
    check_folder()
    start = time.monotonic()

    def tell(text: str) -> None:
        click.echo(f"{time.monotonic() - start:6.1f} s: {text}", err=True)

    try:
        content = report.summary(measure_all(settings, tell), settings)
    except RunError as error:
        raise click.ClickException(str(error)) from error
    report.show(content, console())
    click.echo(f"JSON and plot: {report.write(content)}")
    if update:
        report.update(content)
    sys.exit(not content["passed"])


@main.command()
@click.option(
    "--coremark",
    type=click.Path(path_type=Path, resolve_path=True),
    help=f"A checkout of CoreMark, instead of the one in the package {IBEX_PACKAGE}.",
)
@click.option("--iterations", type=click.IntRange(1), default=10, show_default=True)
@click.option("--update", is_flag=True, help="Make these the figures that the manual shows.")
def extensions(coremark: Path | None, iterations: int, update: bool) -> None:
    """Show what Zba, Zbb and Zbs save."""
    try:
        gains = bit_manipulation.measure_gains(_coremark(coremark), iterations)
    except RunError as error:
        raise click.ClickException(str(error)) from error
    click.echo(gains.table())
    if update:
        bit_manipulation.update(gains)


@main.command()
def update_readme() -> None:
    """Make the README's tables anew from the golden figures."""
    report.update_readme()


if __name__ == "__main__":
    main(prog_name="python -m tierv.sim.cores")
