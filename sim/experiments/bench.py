"""The builds that experiments compare, and running programs on them."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from tierv.soc.params import SocParams

from ..elf import Program
from ..firmware import Context, build_firmware
from ..model import Model, ModelParams, build_model, simulation_params
from ..result import RunResult
from ..run import Simulation

T = TypeVar("T")
R = TypeVar("R")


class Build(enum.StrEnum):
    """A build of the same core and the same firmware."""

    #: Banked: a tier for each service.
    BANKED = "B"
    #: One context with ordinary traps.
    SINGLE = "S"
    #: One context without interrupts.
    POLLED = "polled"


_VARIANTS = {Build.BANKED: "standard", Build.SINGLE: "single", Build.POLLED: "single"}
_CONTEXTS = {
    Build.BANKED: Context.TIERS,
    Build.SINGLE: Context.SINGLE,
    Build.POLLED: Context.POLLED,
}


@dataclass(frozen=True)
class Setup:
    """A program on a build, ready to run."""

    program: Program
    simulation: Simulation

    def run(self, **arguments) -> RunResult:
        """``Simulation.run`` with the program."""
        return self.simulation.run(self.program, **arguments)


class Bench:
    """Builds models and firmware when they are first wanted, and runs trials side by side."""

    def __init__(self, clock_hz: int) -> None:
        self.clock_hz = clock_hz
        #: Of all setups, each once.
        self.socs: list[SocParams] = []
        self._models: dict[SocParams, Model] = {}

    def setup(self, build: Build, app: str, **soc: Any) -> Setup:
        """A program of ``firmware/apps`` on a build, in a SoC with changes of ``SocParams``.

        Raises ``ValueError`` for a SoC that can't be, ``BuildError`` if a tool fails.
        """
        usual = {"cpu_variant": _VARIANTS[build], "sys_clk_hz": self.clock_hz}
        params = simulation_params(**usual | soc)
        if params not in self.socs:
            self.socs.append(params)
        model = self._model(params)
        program = build_firmware(app, model, _CONTEXTS[build])
        return Setup(program, Simulation(model))

    def setups(self, app: str, builds: Iterable[Build] = Build, **soc: Any) -> dict[Build, Setup]:
        """The program on several builds."""
        return {build: self.setup(build, app, **soc) for build in builds}

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Results of the function, whose time is spent in simulations, for all items in order."""
        return list(self._pool.map(function, items))

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(os.cpu_count() or 1)

    def _model(self, soc: SocParams) -> Model:
        if soc not in self._models:
            self._models[soc] = build_model(ModelParams(soc=soc))
        return self._models[soc]
