"""Which tests find planted faults."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import click
from planted_faults import Mutant, Planted, idle_mutants
from worker_pool import WORKERS, run_in_workers

from tierv.sim.core_model import BenchError
from tierv.sim.paths import BuildError

#: Tests by name: each says what it found in a mutant, or None.
Tests = Mapping[str, Callable[[Mutant], str | None]]
#: What the description of a fault begins with, and why it changes nothing that matters.
Explanations = Mapping[str, str]

_SOUND = Mutant(0, "none", "", "", "", 0, ())


@dataclass(frozen=True)
class Verdict:
    """Which test found a fault, if any did."""

    mutant: Mutant
    #: The test and what it said.
    killer: str | None
    #: Why no test can find it.
    excuse: str | None = None

    @property
    def survives(self) -> bool:
        """Neither found nor explained."""
        return not self.killer and not self.excuse


def first_line(text: object) -> str:
    """The first line of what is said, or the name of an error without words."""
    return str(text).splitlines()[0] if str(text) else type(text).__name__


def first_failure(module: str, results: Mapping[str, str | None]) -> str | None:
    """The first test of a cocotb module that failed, and what it said, or None."""
    for test, failure in results.items():
        if failure:
            return f"{module}, {test}: {first_line(failure)}"
    return None


def explanation(explanations: Explanations, mutant: Mutant) -> str | None:
    """Why the fault changes nothing that matters; None if that is not known."""
    for beginning, reason in explanations.items():
        if str(mutant).startswith(beginning):
            return reason
    return None


def unused_explanations(explanations: Explanations, mutants: Iterable[Mutant]) -> list[str]:
    """Explanations of faults that are none of these."""
    names = [str(mutant) for mutant in mutants]
    return [
        beginning
        for beginning in explanations
        if not any(name.startswith(beginning) for name in names)
    ]


def judge(mutant: Mutant, tests: Tests) -> Verdict:
    """Run the tests until one fails; a bench that gives up has failed, too."""
    for name, test in tests.items():
        try:
            killer = test(mutant)
        except (BenchError, BuildError, subprocess.TimeoutExpired) as error:
            killer = f"{name}: {type(error).__name__}: {first_line(error)}"
        if killer:
            return Verdict(mutant, killer)
    return Verdict(mutant, None)


def judge_faults(
    faults: Planted, explanations: Explanations, first: Tests, then: Tests, workers: int = WORKERS
) -> Iterator[Verdict]:
    """A verdict on each planted fault, in any order.

    Those that are explained are not run, nor are those that turn out to be idle when the first
    tests have not found them. Raises ``AssertionError`` if what has no fault does not survive, or
    an explanation is of no fault.
    """
    unused = unused_explanations(explanations, faults.mutants)
    assert not unused, f"explanations of faults that are not planted: {unused}"
    remaining = [_SOUND]
    for mutant in faults.mutants:
        reason = explanation(explanations, mutant)
        if reason:
            yield Verdict(mutant, None, reason)
        else:
            remaining.append(mutant)
    remaining = yield from _run(first, remaining, workers)
    idle = idle_mutants(faults, [mutant for mutant in remaining if mutant != _SOUND])
    for mutant in remaining:
        if mutant.number in idle:
            yield Verdict(mutant, None, "nothing depends on it: the netlist is the same without it")
    remaining = [mutant for mutant in remaining if mutant.number not in idle]
    remaining = yield from _run(then, remaining, workers)
    yield from (Verdict(mutant, None) for mutant in remaining if mutant != _SOUND)


def _run(
    tests: Tests, mutants: Sequence[Mutant], workers: int
) -> Generator[Verdict, None, list[Mutant]]:
    """What the tests find; returns the others."""
    remaining = []
    for verdict in run_in_workers(lambda mutant: judge(mutant, tests), mutants, workers):
        if not verdict.killer:
            remaining.append(verdict.mutant)
            continue
        assert verdict.mutant != _SOUND, f"what has no fault fails: {verdict.killer}"
        yield verdict
    return remaining


def show(verdicts: Iterable[Verdict]) -> int:
    """Print verdicts as they come, and how many of each kind; returns the number of survivors."""
    shown = []
    for verdict in verdicts:
        shown.append(verdict)
        what = verdict.killer or f"SURVIVES: {verdict.excuse or 'not explained'}"
        click.echo(f"{verdict.mutant.number:3d} {verdict.mutant}\n        {what}")
    killed = sum(verdict.killer is not None for verdict in shown)
    survivors = sum(verdict.survives for verdict in shown)
    excused = len(shown) - killed - survivors
    click.echo(f"{len(shown)} faults: {killed} found, {excused} explained, {survivors} neither")
    return survivors
