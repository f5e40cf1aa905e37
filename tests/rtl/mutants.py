"""Faults planted in the core, and the tests that find them: ``python tests/rtl/mutants.py --help``.

Each is active in runs of its own: random programs in lock-step with Spike, the cocotb tests, then
lines at every cycle of the sweep's programs, until one fails.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from lockstep import CORES, case_of_seed, run_case, run_core
from mutants_explained import explanation, unused_explanations
from mutated_core import Mutant, MutatedCore, idle_mutants, mutated_core
from sweep import sweep
from sweep_programs import SweepProgram, classes
from worker_pool import WORKERS, run_in_workers

from tierv.rtl.params import CoreParams
from tierv.sim.core_model import BenchError
from tierv.sim.paths import BuildError

#: The same core in the lock-step and the cocotb tests.
LOCKSTEP_CORE, COCOTB_CORE = "3", "three"
SEEDS = range(12)
PIECES = 200
#: The sound core needs less than half of them.
CYCLES = 60_000
PAIRS = 29


@dataclass(frozen=True)
class Verdict:
    """Which test found a fault, if any did."""

    mutant: Mutant
    #: The test and what it said.
    killer: str | None
    #: Why no test can find it.
    excuse: str | None = None


def _first_line(text: object) -> str:
    return str(text).splitlines()[0] if str(text) else type(text).__name__


def _lockstep(core: MutatedCore, mutant: Mutant) -> str | None:
    for seed in SEEDS:
        case = case_of_seed(LOCKSTEP_CORE, seed, PIECES)
        # Programs that go round and round would take Spike for ever.
        options = ("--mutation", str(mutant.number), "--cycles", str(CYCLES))
        with tempfile.TemporaryDirectory() as folder:
            run = run_core(case, core.model, Path(folder), *options)
        if run.status:
            return f"lock-step, seed {seed}: the programs did not end ({run.status})"
        problem = run_case(case, core.model, *options).problem
        if problem:
            return f"lock-step, seed {seed}: {problem}"
    return None


def _sweep(core: MutatedCore, mutant: Mutant) -> str | None:
    for name in classes(core.params):
        program = SweepProgram(name, core.params)
        with tempfile.TemporaryDirectory() as folder:
            try:
                option = ("--mutation", str(mutant.number))
                sweep(program, Path(folder), *option, pairs=PAIRS, model=core.model)
            except AssertionError as error:
                return f"sweep: {_first_line(error)}"
    return None


def _cocotb(core: MutatedCore, mutant: Mutant) -> str | None:
    # cocotb's own modules are not wanted in a process that has Spike.
    from cocotb_cores import run_module
    from test_core import MODULES

    for module, cores in MODULES.items():
        if COCOTB_CORE not in cores:
            continue
        results = run_module(module, COCOTB_CORE, source=core.core, mutation=mutant.number)
        for test, failure in results.items():
            if failure:
                return f"{module}, {test}: {_first_line(failure)}"
    return None


def judge(core: MutatedCore, mutant: Mutant, *tests: Callable) -> Verdict:
    """Run the tests until one fails; a bench that gives up has failed, too."""
    for test in tests:
        try:
            killer = test(core, mutant)
        except (BenchError, BuildError, subprocess.TimeoutExpired) as error:
            killer = f"{test.__name__[1:]}: {type(error).__name__}: {_first_line(error)}"
        if killer:
            return Verdict(mutant, killer)
    return Verdict(mutant, None)


def judge_all(params: CoreParams, workers: int = WORKERS) -> Iterator[Verdict]:
    """A verdict on each planted fault, in any order.

    Those that are explained are not run, nor are those that turn out to be idle when the first of
    the tests has not found them. Raises ``AssertionError`` if the core without a fault does not
    survive, or an explanation is of no fault.
    """
    core = mutated_core(params)
    from cocotb_cores import build_core

    build_core(COCOTB_CORE, core.core)
    unused = unused_explanations(core.mutants)
    assert not unused, f"explanations of faults that are not planted: {unused}"
    sound = Mutant(0, "none", "", "", "", 0, ())
    remaining = [sound]
    for mutant in core.mutants:
        reason = explanation(mutant)
        if reason:
            yield Verdict(mutant, None, reason)
        else:
            remaining.append(mutant)

    def run(*tests: Callable) -> Iterator[Verdict]:
        """What the tests find; the others remain."""
        nonlocal remaining
        candidates, remaining = remaining, []
        for verdict in run_in_workers(
            lambda mutant: judge(core, mutant, *tests), candidates, workers
        ):
            if not verdict.killer:
                remaining.append(verdict.mutant)
                continue
            assert verdict.mutant != sound, f"the core without a fault fails: {verdict.killer}"
            yield verdict

    yield from run(_lockstep)
    idle = idle_mutants(core, [mutant for mutant in remaining if mutant != sound])
    for mutant in remaining:
        if mutant.number in idle:
            yield Verdict(mutant, None, "nothing depends on it: the netlist is the same without it")
    remaining = [mutant for mutant in remaining if mutant.number not in idle]
    yield from run(_cocotb, _sweep)
    yield from (Verdict(mutant, None) for mutant in remaining if mutant != sound)


@click.command()
@click.option("--workers", type=click.IntRange(1), default=WORKERS, show_default=True)
def main(workers: int) -> None:
    """Plant faults in the core, one at a time, and show which test finds each."""
    survivors = 0
    verdicts = []
    for verdict in judge_all(CORES[LOCKSTEP_CORE], workers):
        verdicts.append(verdict)
        shown = verdict.killer or f"SURVIVES: {verdict.excuse or 'not explained'}"
        click.echo(f"{verdict.mutant.number:3d} {verdict.mutant}\n        {shown}")
        survivors += not verdict.killer and not verdict.excuse
    killed = sum(verdict.killer is not None for verdict in verdicts)
    excused = len(verdicts) - killed - survivors
    click.echo(f"{len(verdicts)} faults: {killed} found, {excused} explained, {survivors} neither")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
