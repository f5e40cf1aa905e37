"""Faults planted in the core, and the tests that find them: ``python tests/rtl/mutants.py --help``.

Each is active in runs of its own: random programs in lock-step with Spike, the cocotb tests, then
lines at every cycle of the sweep's programs, until one fails.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
from fault_verdicts import Verdict, first_failure, first_line, judge_faults, show
from lockstep import CORES, case_of_seed, run_case, run_core
from mutants_explained import EXPLANATIONS
from mutated_core import MutatedCore, mutated_core
from planted_faults import Mutant
from spike_package import spike_problem
from sweep import sweep
from sweep_programs import SweepProgram, classes
from worker_pool import WORKERS

from tierv.rtl.params import CoreParams

#: The same core in the lock-step and the cocotb tests.
LOCKSTEP_CORE, COCOTB_CORE = "3", "three"
SEEDS = range(12)
PIECES = 200
#: The sound core needs less than half of them.
CYCLES = 60_000
PAIRS = 29


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
                return f"sweep: {first_line(error)}"
    return None


def _cocotb(core: MutatedCore, mutant: Mutant) -> str | None:
    # cocotb's own modules are not wanted in a process that has Spike.
    from cocotb_cores import run_module
    from test_core import MODULES

    for module, cores in MODULES.items():
        if COCOTB_CORE not in cores:
            continue
        results = run_module(
            module, COCOTB_CORE, source=core.faults.netlist, mutation=mutant.number
        )
        failure = first_failure(module, results)
        if failure:
            return failure
    return None


def judge_all(params: CoreParams, workers: int = WORKERS) -> Iterator[Verdict]:
    """A verdict on each planted fault, in any order; raises as ``judge_faults`` does."""
    core = mutated_core(params)
    from cocotb_cores import build_core

    build_core(COCOTB_CORE, core.faults.netlist)
    quick = {"lockstep": partial(_lockstep, core)}
    others = {"cocotb": partial(_cocotb, core), "sweep": partial(_sweep, core)}
    yield from judge_faults(core.faults, EXPLANATIONS, quick, others, workers=workers)


@click.command()
@click.option("--workers", type=click.IntRange(1), default=WORKERS, show_default=True)
def main(workers: int) -> None:
    """Plant faults in the core, one at a time, and show which test finds each."""
    if problem := spike_problem():
        raise click.ClickException(problem)
    sys.exit(1 if show(judge_all(CORES[LOCKSTEP_CORE], workers)) else 0)


if __name__ == "__main__":
    main()
