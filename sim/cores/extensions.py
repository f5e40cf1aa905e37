"""What the bit manipulation extensions save: the same programs compiled with and without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tierv.rtl.params import EXTENSIONS

from . import cores
from .kernels import run_coremark, run_kernels

#: What the compiler may use, in the order of the columns.
CHOICES: Sequence[Sequence[str]] = (
    ("zba",),
    ("zbb",),
    ("zba", "zbb"),
    ("zbs",),
    EXTENSIONS,
)


@dataclass(frozen=True)
class Gains:
    """Cycles of each program, by the extensions that the compiler could use."""

    cycles: Mapping[Sequence[str], Mapping[str, int]]

    def percent(self, program: str, extensions: Sequence[str]) -> float:
        """Cycles saved, of those without any extension."""
        return 100 * (1 - self.cycles[extensions][program] / self.cycles[()][program])

    def markdown(self) -> Iterator[str]:
        """A table of the cycles saved, in per cent."""
        titles = (", ".join(name.capitalize() for name in choice) for choice in CHOICES)
        yield f"| | {' | '.join(titles)} |"
        yield "|---" + "|---:" * len(CHOICES) + "|"
        for program in self.cycles[()]:
            # Rounded first, for a little below zero is no "-0.0".
            cells = (f"{round(self.percent(program, choice), 1) + 0.0:.1f} %" for choice in CHOICES)
            yield f"| {program} | {' | '.join(cells)} |"


def measure_gains(coremark: Path | None, iterations: int) -> Gains:
    """Run the kernels, and CoreMark if its folder is given, on a core of one tier that has all.

    Raises ``RunError`` if a program finds something else than it must.
    """
    core = cores.tierv(1, EXTENSIONS)
    cycles = {}
    for choice in ((), *CHOICES):
        times = run_kernels(core, choice)
        if coremark:
            times["coremark"] = run_coremark(core, coremark, iterations, choice)
        cycles[choice] = {name: time.cycles for name, time in times.items()}
    return Gains(cycles)
