"""Random programs in every tier, the core against Spike: ``python tests/rtl/lockstep.py --help``.

A case is a core, a seed and what may happen; it can be repeated from its command line.
"""

from __future__ import annotations

import random
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click
import encoding as rv
from random_code import BUS_BASE, BUS_MEMORY_BYTES, CONSOLE, Mix
from random_program import code_base, random_segments
from spike_package import spike_problem
from worker_pool import WORKERS, run_in_workers

from tierv.rtl.params import CoreParams
from tierv.sim.core_model import CoreModel, CoreRun, read_trace

CONSOLE_BYTES = 0x1000

USUAL_MIX = Mix()
_USUAL = CoreParams(lines=8, reset_address=0x2000_0000)
#: Cores by name.
CORES = {
    "1": replace(_USUAL, tiers=1),
    "2": replace(_USUAL, tiers=2),
    "3": replace(_USUAL, tiers=3),
    "8": replace(_USUAL, tiers=8),
    "small": replace(
        _USUAL, tiers=2, lines=1, branch_history_log2=0, counters=False, line_stamps=False
    ),
    "bits": replace(_USUAL, tiers=2, zba=True, zbb=True, zbs=True),
    # These two with the debugger that is never asked for anything.
    "cached": replace(
        _USUAL,
        tiers=3,
        icache_bytes=1 << 10,
        dcache_bytes=1 << 10,
        cache_line_bytes=16,
        debug=True,
    ),
    "wide": replace(
        _USUAL, tiers=3, lines=32, return_stack_log2=0, line_settle_cycles=0, debug=True
    ),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One run of the core, and what it is to be compared with."""

    #: One of ``CORES``.
    core: str
    seed: int
    mix: Mix = USUAL_MIX
    #: Most wait states of a bus transfer.
    wait_states: int = 0
    #: Average cycles between rises of a line.
    line_period: int = 60
    #: Cycles for which a line stays high.
    pulse: int = 25
    #: Average cycles between rises of a timer, which stays high as long; 0: never.
    timer_period: int = 0

    @property
    def command(self) -> str:
        """The command line that repeats the case."""
        words = ["python", "tests/rtl/lockstep.py", "--core", self.core, "--seeds", str(self.seed)]
        words += ["--pieces", str(self.mix.pieces), "--wait-states", str(self.wait_states)]
        words += ["--line-period", str(self.line_period), "--pulse", str(self.pulse)]
        words += ["--timer-period", str(self.timer_period)]
        for kind in Mix.kinds():
            words += [] if getattr(self.mix, kind) else ["--without", kind]
        return shlex.join(words)


@dataclass(frozen=True)
class Outcome:
    """How a case went."""

    case: Case
    instructions: int
    #: What was wrong; None if nothing was.
    problem: str | None


def case_of_seed(core: str, seed: int, pieces: int) -> Case:
    """A case in which everything that is not given depends on the seed."""
    rng = random.Random(seed)
    interrupts = rng.random() < 0.8
    return Case(
        core=core,
        seed=seed,
        mix=Mix(pieces=pieces, interrupts=interrupts),
        wait_states=seed % 6,
        line_period=rng.choice((30, 60, 60, 200)) * CORES[core].tiers,
        pulse=rng.choice((1, 5, 25, 25, 100)),
        timer_period=rng.choice((0, 40, 100, 300)),
    )


def run_core(case: Case, model: CoreModel, folder: Path, *more_options: str) -> CoreRun:
    """Run the core alone, with its files in the folder."""
    params = CORES[case.core]
    elf = folder / "random.elf"
    elf.write_bytes(rv.elf(random_segments(case.seed, params, case.mix), params.reset_address))
    options = ["--seed", case.seed, "--wait-states", case.wait_states]
    cycles = 200_000 + 2_000 * case.mix.pieces * params.tiers
    options += ["--cycles", cycles]
    if case.mix.interrupts:
        options += ["--line-period", case.line_period, "--pulse", case.pulse]
        options += ["--timer-period", case.timer_period]
        # Lines that rise faster than handlers serve them may leave a program no time at all.
        options += ["--line-calm", cycles // 2]
    return model.run(elf, *map(str, options), *more_options)


def run_case(case: Case, model: CoreModel | None = None, *more_options: str) -> Outcome:
    """Run the core, or another model of it, then compare.

    Spike stays in memory: only in a process that is killed.
    """
    # Not in the process of the tests: Spike does not survive being taken down.
    from input_model import read_inputs
    from reference import Reference
    from spike_tiers import MismatchError, Range, SpikeTiers

    params = CORES[case.core]
    segments = random_segments(case.seed, params, case.mix)
    with tempfile.TemporaryDirectory() as folder:
        trace_file, events = Path(folder) / "trace", Path(folder) / "events"
        run = run_core(
            case,
            model or CoreModel(params),
            Path(folder),
            "--trace",
            str(trace_file),
            "--events",
            str(events),
            *more_options,
        )
        trace, (lines, timer) = read_trace(trace_file), read_inputs(events)
    ranges = [
        Range(params.imem.base, params.imem.size_bytes),
        Range(params.dmem.base, params.dmem.size_bytes),
        Range(BUS_BASE, BUS_MEMORY_BYTES),
        Range(CONSOLE, CONSOLE_BYTES),
    ]
    entries = [code_base(params, tier) for tier in range(params.tiers)]
    spike = SpikeTiers(params, ranges, segments, entries)
    try:
        instructions = Reference(params, spike, lines, timer).check(trace)
    except MismatchError as difference:
        return Outcome(case, len(trace), str(difference))
    if run.status:
        return Outcome(case, instructions, f"the programs did not end (exit status {run.status})")
    return Outcome(case, instructions, None)


def run_cases(cases: Iterable[Case], workers: int = WORKERS) -> Iterator[Outcome]:
    """Run cases in processes of their own, and give what came of them, in any order."""
    cases = list(cases)
    # Built before, so that no two processes want the same model.
    for core in sorted({case.core for case in cases}):
        CoreModel(CORES[core])
    yield from run_in_workers(run_case, cases, workers)


def shrink(outcome: Outcome) -> Outcome:
    """The smallest failing case that is found by halving it and leaving out kinds of pieces."""
    shrinking = True
    while shrinking:
        shrinking = False
        for smaller in _smaller(outcome.case):
            (tried,) = run_in_workers(run_case, [smaller])
            if tried.problem:
                outcome, shrinking = tried, True
                break
    return outcome


def _smaller(case: Case) -> Iterator[Case]:
    mix = case.mix
    if mix.pieces > 1:
        yield replace(case, mix=replace(mix, pieces=mix.pieces // 2))
        yield replace(case, mix=replace(mix, pieces=mix.pieces * 3 // 4))
    for kind in Mix.kinds():
        if getattr(mix, kind):
            yield replace(case, mix=replace(mix, **{kind: False}))
    if case.wait_states:
        yield replace(case, wait_states=0)
    if case.timer_period:
        yield replace(case, timer_period=0)


def describe(outcome: Outcome) -> str:
    """What failed, made small, and how to see it again."""
    small = shrink(outcome)
    return (
        f"{outcome.problem}\n    {outcome.case.command}\n"
        f"the smallest that fails: {small.problem}\n    {small.case.command}"
    )


class _Seeds(click.ParamType):
    name = "N or N-M"

    def convert(self, value, param, ctx) -> range:
        if isinstance(value, range):
            return value
        first, _, last = value.partition("-")
        try:
            return range(int(first), int(last or first) + 1)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor a range like 1-100", param, ctx)


@click.command()
@click.option(
    "--core",
    "--tiers",
    "cores",
    multiple=True,
    type=click.Choice([*CORES]),
    help="A number of tiers or a variant; may be repeated.",
)
@click.option("--seeds", type=_Seeds(), default="1-10", show_default=True)
@click.option("--pieces", type=click.IntRange(1), default=400, show_default=True)
@click.option("--wait-states", type=click.IntRange(0), help="Instead of 0 to 5, by seed.")
@click.option(
    "--line-period", type=click.IntRange(1), help="Cycles, instead of what the seed says."
)
@click.option("--pulse", type=click.IntRange(1), help="Cycles, instead of what the seed says.")
@click.option(
    "--timer-period", type=click.IntRange(0), help="Cycles, instead of what the seed says."
)
@click.option("--without", multiple=True, type=click.Choice(Mix.kinds()), help="Leave out.")
@click.option("--workers", type=click.IntRange(1), default=WORKERS, show_default=True)
def main(
    cores: tuple[str, ...],
    seeds: range,
    pieces: int,
    wait_states: int | None,
    line_period: int | None,
    pulse: int | None,
    timer_period: int | None,
    without: tuple[str, ...],
    workers: int,
) -> None:
    """Compare the core with Spike on random programs; shrink the first one that fails."""
    if problem := spike_problem():
        raise click.ClickException(problem)
    given = {"wait_states": wait_states, "line_period": line_period, "pulse": pulse}
    given["timer_period"] = timer_period
    given = {name: value for name, value in given.items() if value is not None}
    cases = []
    for core in cores or ("3",):
        for seed in seeds:
            case = case_of_seed(core, seed, pieces)
            kinds = dict.fromkeys(without, False)
            if line_period is not None or pulse is not None:
                kinds.setdefault("interrupts", True)
            cases.append(replace(case, mix=replace(case.mix, **kinds), **given))
    instructions = 0
    for count, outcome in enumerate(run_cases(cases, workers), 1):
        if outcome.problem:
            click.echo()
            click.echo(describe(outcome))
            sys.exit(1)
        instructions += outcome.instructions
        click.echo(f"\r{count} of {len(cases)} cases, {instructions:,} instructions", nl=False)
    click.echo()


if __name__ == "__main__":
    main()
