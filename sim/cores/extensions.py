"""What the bit manipulation extensions save: the same programs compiled with and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tierv.rtl.document import MANUAL
from tierv.rtl.params import EXTENSIONS

from ..json_files import read_json
from ..pages import keep, markdown
from . import cores
from .kernels import march_flags, run_coremark, run_kernels
from .program import compiler
from .stack import run_echo

#: The gains that the manual shows, kept with the sources.
GOLDEN = Path(__file__).resolve().parent / "extensions.json"
#: Of the manual's table.
MARKER = "extensions"
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
    #: Name and version.
    compiler: str
    #: 0 if CoreMark was not run.
    coremark_iterations: int

    def percent(self, program: str, extensions: Sequence[str]) -> float:
        """Cycles saved, of those without any extension."""
        return 100 * (1 - self.cycles[extensions][program] / self.cycles[()][program])

    def table(self) -> str:
        """Markdown of the cycles saved, in per cent."""
        lines = [["", *(", ".join(name.capitalize() for name in choice) for choice in CHOICES)]]
        for program in self.cycles[()]:
            # Rounded first, for a little below zero is no "-0.0".
            cells = (f"{round(self.percent(program, choice), 1) + 0.0:.1f} %" for choice in CHOICES)
            lines.append([program, *cells])
        run = f"{self.compiler}."
        if self.coremark_iterations:
            run += f" CoreMark: {self.coremark_iterations} iterations."
        return "\n".join([*markdown(lines), "", run, ""])


def update(gains: Gains) -> None:
    """Make these the gains that the manual shows."""
    rows = [{"extensions": choice, **cycles} for choice, cycles in gains.cycles.items()]
    kept = {
        "compiler": gains.compiler,
        "coremark_iterations": gains.coremark_iterations,
        "cycles": rows,
    }
    keep(kept, GOLDEN, MANUAL, {MARKER: gains.table()})


def read() -> Gains:
    """The gains that the manual shows."""
    kept = read_json(GOLDEN)
    cycles = {tuple(row.pop("extensions")): row for row in kept["cycles"]}
    return Gains(cycles, kept["compiler"], kept["coremark_iterations"])


def measure_gains(coremark: Path | None, iterations: int) -> Gains:
    """Run the kernels, the UDP stack, and CoreMark if its folder is given, on a core of one tier
    that has all.

    Raises ``RunError`` if a program finds something else than it must.
    """
    core = cores.tierv(1, EXTENSIONS)
    cycles = {}
    for choice in ((), *CHOICES):
        times = run_kernels(core, choice) | run_echo(core, choice)
        if coremark:
            times["coremark"] = run_coremark(core, coremark, iterations, march_flags(choice))
        cycles[choice] = {name: time.cycles for name, time in times.items()}
    return Gains(cycles, compiler(), iterations if coremark else 0)
