"""What an experiment is: settings in, rows and a verdict out."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .bench import Bench

#: The clock at which the reference of most experiments gives its figures.
REFERENCE_HZ = 200_000_000

#: Called with what has just been done: an experiment tells its progress.
Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user may choose about a run.

    Raises ``ValueError`` naming the value for a length or clock that is impossible.
    """

    #: Start of everything random.
    seed: int
    #: System clock of the simulated SoC; it sets the ratio to the Ethernet's clock.
    clock_hz: int
    #: Trial length, in the unit that the experiment states.
    length: int
    #: A recorded trace instead of a random one, for experiments that take it.
    trace: Path | None = None

    def __post_init__(self) -> None:
        for name in ("clock_hz", "length"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)!r}")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an experiment has found."""

    #: One result a row; all rows have the same keys or leave some out.
    rows: Sequence[Mapping[str, Any]]
    #: The figures that matter, by name.
    headline: Mapping[str, float]
    passed: bool
    #: What was run, beyond the settings.
    config: Mapping[str, Any] = field(default_factory=dict)


def megabits_per_second(bits: float, cycles: float, clock_hz: int = REFERENCE_HZ) -> float:
    """Rate of so many bits in so many cycles of a clock, by default the reference's."""
    return bits * clock_hz / cycles * 1e-6


class Experiment(abc.ABC):
    """An experiment of the bench; its class attributes describe it."""

    #: ``E1`` and so on.
    id: str
    title: str
    #: The published figure that it answers.
    reference: str
    #: What must hold for ``passed``.
    pass_line: str
    #: What ``length`` counts, and its values for the short and the full run.
    length_unit: str
    short_length: int
    full_length: int
    #: Below it there is nothing to measure.
    least_length: int = 1
    #: Above it there is no room for what is to be measured; None: there always is.
    most_length: int | None = None
    #: Whether ``Settings.trace`` is of use.
    takes_trace: bool = False

    def is_short(self, settings: Settings) -> bool:
        """Whether a run is less than the full one, so that it may leave cases out."""
        return settings.length < self.full_length

    @abc.abstractmethod
    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Run it on the builds of ``bench``."""

    @abc.abstractmethod
    def plot(self, outcome: Outcome, path: Path) -> None:
        """Draw the outcome as a PNG file."""
