"""Command line of the experiments: ``python -m tierv.sim.experiments``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from ..capture import some_packets
from ..commands import Commands
from ..file_arguments import NEW_FILE, OLD_FILE, check_outputs
from ..replay import Address
from ..replay_command import ADDRESS
from . import EXPERIMENTS, GROUPS, readme, report
from .bench import Bench
from .experiment import Experiment, Outcome, Progress, Settings
from .trace_file import write_trace

_DEFAULT_SEED = 1
_DEFAULT_CLOCK_HZ = 100_000_000


def _progress_of(experiment: Experiment) -> Progress:
    start = time.monotonic()

    def tell(text: str) -> None:
        seconds = time.monotonic() - start
        click.echo(f"{experiment.id} {seconds:5.1f} s: {text}", err=True)

    return tell


def _run(experiment: Experiment, bench: Bench, settings: Settings, console: Console) -> Outcome:
    if settings.length < experiment.least_length:
        raise ValueError(
            f"length of {experiment.id} must be at least {experiment.least_length}"
            f" {experiment.length_unit}, not {settings.length}"
        )
    if experiment.most_length is not None and settings.length > experiment.most_length:
        raise ValueError(
            f"length of {experiment.id} must be at most {experiment.most_length}"
            f" {experiment.length_unit}, not {settings.length}"
        )
    report.check_folder()
    bench.socs.clear()
    outcome = experiment.run(bench, settings, _progress_of(experiment))
    # What took long to measure is shown even if there is no room for it on the disk.
    report.show(experiment, settings, outcome, console)
    report.write(experiment, settings, outcome, bench.socs)
    return outcome


def _options(command):
    for option in (
        click.option("--clock-hz", type=int, default=_DEFAULT_CLOCK_HZ, show_default=True),
        click.option("--seed", type=int, default=_DEFAULT_SEED, show_default=True),
    ):
        command = option(command)
    return command


@click.group(cls=Commands)
def main() -> None:
    """Compare the banked build with the builds that have one context."""


@main.command()
@_options
@click.option("--full", is_flag=True, help="At full length.")
@click.argument("groups", type=click.Choice(list(GROUPS)), nargs=-1)
def bench(seed: int, clock_hz: int, full: bool, groups: tuple[str, ...]) -> None:
    """Run the experiments of groups, or all; the exit status is 1 if one fails its pass line."""
    console = report.console()
    builds = Bench(clock_hz)
    outcomes = {}
    for experiment in (one for group in groups or GROUPS for one in GROUPS[group]):
        length = experiment.full_length if full else experiment.short_length
        settings = Settings(seed=seed, clock_hz=clock_hz, length=length)
        outcomes[experiment.id] = experiment, _run(experiment, builds, settings, console)
    report.summarize(outcomes, console)
    sys.exit(not all(outcome.passed for _, outcome in outcomes.values()))


@main.command()
@click.argument("groups", type=click.Choice(list(GROUPS)), nargs=-1)
def update_readme(groups: tuple[str, ...]) -> None:
    """Write the results of the last runs of some groups, or all, into the README's tables."""
    readme.update(groups or tuple(GROUPS))


@main.command()
@click.argument("capture", type=OLD_FILE)
@click.argument("board", type=ADDRESS)
@click.argument("output", type=NEW_FILE)
def trace_csv(capture: Path, board: Address, output: Path) -> None:
    """Make a trace for E4 and E5 of a capture (pcap or pcapng): frames to and from BOARD.

    BOARD is the MAC or IPv4 address in the capture whose part the simulated board shall take.
    """
    check_outputs([capture], [output])
    counts = write_trace(output, some_packets(capture), board)
    if not any(counts.values()):
        raise ValueError(f"{capture} has no frame to or from {board}")
    words = ", ".join(f"{count} {direction}" for direction, count in counts.items())
    click.echo(f"{output}: {words}")


def _trace_option(chosen: Experiment) -> Callable:
    if not chosen.takes_trace:
        return lambda command: command
    return click.option(
        "--trace",
        type=OLD_FILE,
        help="CSV with time (s), direction (in or out) and length (bytes without check sequence) of"
        " frames, whose busiest second is replayed, at full length unless --length says otherwise.",
    )


def _command(chosen: Experiment) -> click.Command:
    length_help = (
        f"Number of {chosen.length_unit}; {chosen.short_length:,} unless given,"
        f" {chosen.full_length:,} with --full."
    )

    @click.command(chosen.id, help=f"{chosen.title}. {type(chosen).__doc__}")
    @_options
    @click.option("--length", type=int, help=length_help)
    @click.option("--full", is_flag=True, help="At full length.")
    @_trace_option(chosen)
    def command(
        seed: int, clock_hz: int, length: int | None, full: bool, trace: Path | None = None
    ) -> None:
        usual = chosen.full_length if full or trace else chosen.short_length
        settings = Settings(
            seed=seed,
            clock_hz=clock_hz,
            length=usual if length is None else length,
            trace=trace,
        )
        outcome = _run(chosen, Bench(clock_hz), settings, report.console())
        sys.exit(not outcome.passed)

    return command


for _chosen in EXPERIMENTS.values():
    main.add_command(_command(_chosen))


if __name__ == "__main__":
    main(prog_name="python -m tierv.sim.experiments")
