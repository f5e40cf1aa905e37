"""Running a program on a core, and what it leaves behind."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..elf import Program
from ..paths import BuildError
from .model import TRACE_DTYPE, DevicePage, Hardware, build
from .program import Context

#: The bench's exit status if a program ran out of cycles, and if it was called wrongly.
_OUT_OF_CYCLES, _MISTAKE = 124, 125


class RunError(Exception):
    """A program ended as it should not."""


@dataclass(frozen=True, kw_only=True)
class Bus:
    """Cycles that an access takes on the ports of a core; 1 is acknowledged at once."""

    ram_cycles: int = 1
    device_cycles: int = 1
    #: Instructions and data share one bus, as in LiteX.
    shared: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """For the bench's command line."""
        cycles = ("--ram-cycles", self.ram_cycles, "--device-cycles", self.device_cycles)
        return (*map(str, cycles), *(["--shared"] if self.shared else []))


@dataclass(frozen=True, kw_only=True)
class Core:
    """A core in its surroundings, as one column of the results."""

    name: str
    hardware: Hardware
    context: Context
    #: Register contexts; 1 for the peers.
    tiers: int = 1
    bus: Bus = field(default_factory=Bus)
    #: Ours: its programs may use its CSRs.
    own: bool = False
    #: It remembers a line that has been high.
    latches_lines: bool = False


@dataclass(frozen=True, kw_only=True)
class Rises:
    """A line that rises at random, ``shortest`` to ``longest`` cycles apart."""

    line: int
    first: int
    count: int
    shortest: int
    longest: int
    #: Cycles for which it is high; 0 until the program lowers it.
    pulse: int = 0
    seed: int = 1

    @property
    def options(self) -> tuple[str, ...]:
        """For the bench's command line."""
        return tuple(
            word for name, value in vars(self).items() for word in (f"--{name}", str(value))
        )

    @property
    def last_cycle(self) -> int:
        """No rise comes later."""
        return self.first + self.count * self.longest


@dataclass(frozen=True)
class Run:
    """What a program did."""

    status: int
    output: str
    seconds: float
    #: (cycle, instructions retired by then, offset, value) of each store to the bench's page, in
    #: the cycle in which it is first on the core's port.
    stores: np.ndarray
    #: (cycle, offset) of each of them: the access's last cycle, behind which the page is changed.
    written: np.ndarray
    #: (cycle, line) of each rise.
    rises: np.ndarray
    #: Retired instructions (``TRACE_DTYPE``), empty unless asked for.
    trace: np.ndarray
    #: Words of the variable that was asked for, at the end.
    variable: np.ndarray

    @property
    def marks(self) -> list[tuple[int, int, int]]:
        """(cycle, instructions, value) of each mark."""
        chosen = self.stores[self.stores[:, 2] == DevicePage.MARK]
        return [(int(cycle), int(count), int(value)) for cycle, count, _, value in chosen]

    def stores_to(self, offset: DevicePage) -> np.ndarray:
        """Cycles of the stores to one word of the page."""
        return self.stores[self.stores[:, 2] == offset][:, 0]

    def written_to(self, offset: DevicePage) -> np.ndarray:
        """Last cycles of the same stores."""
        return self.written[self.written[:, 1] == offset][:, 0]


def _events(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    stores, written, rises, content = [], [], [], []
    for line in path.read_text().splitlines():
        kind, *words = line.split()
        cycle, instructions, first, second = map(int, words)
        if kind == "store":
            stores.append((cycle, instructions, first, second))
        elif kind == "written":
            written.append((cycle, first))
        elif kind == "rise":
            rises.append((cycle, first))
        elif kind == "word":
            content.append(second)
        else:
            raise RunError(f"line {first} rose in cycle {cycle} before it had been served")
    return (
        np.array(stores, np.int64).reshape(-1, 4),
        np.array(written, np.int64).reshape(-1, 2),
        np.array(rises, np.int64).reshape(-1, 2),
        np.array(content, np.int64),
    )


def run(
    core: Core,
    program: Program,
    *,
    cycles: int,
    rises: Rises | None = None,
    trace: bool = False,
    endless: bool = False,
    variable: str | None = None,
    options: Sequence[str] = (),
) -> Run:
    """Run a program until it ends, or for so many cycles if it is ``endless``.

    ``variable`` names an array whose words at the end are wanted.

    Raises ``RunError`` if it ends otherwise, with a status other than 0, or if a line rises again
    before it has been lowered; ``BuildError`` if the bench refuses the program.
    """
    executable = build(core.hardware)
    with tempfile.TemporaryDirectory() as folder:
        events, traced = Path(folder) / "events", Path(folder) / "trace"
        words = [*core.bus.options, "--cycles", str(cycles), "--events", str(events), *options]
        words += rises.options if rises else ()
        words += ["--trace", str(traced)] if trace else []
        if variable:
            symbol = program.symbol(variable)
            words += ["--address", str(symbol.address), "--words", str(symbol.size // 4)]
        start = time.monotonic()
        done = subprocess.run(
            [executable, *words, program.path], capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - start
        if done.returncode == _MISTAKE or done.returncode < 0:
            raise BuildError(f"{program.path.name} on {core.name}: {done.stderr.strip()}")
        if done.returncode != (_OUT_OF_CYCLES if endless else 0):
            raise RunError(
                f"{program.path.name} on {core.name} ended with {done.returncode}"
                f" after at most {cycles:,} cycles: {done.stdout.strip()}"
            )
        stores, written, risen, content = _events(events)
        records = np.fromfile(traced, TRACE_DTYPE) if trace else np.empty(0, TRACE_DTYPE)
    return Run(done.returncode, done.stdout, seconds, stores, written, risen, records, content)
