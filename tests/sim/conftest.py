"""Models and test programs for the tests of the simulation, built once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from serial_stand_in import StandIn
from soc_firmware import build_firmware

from tierv.sim.elf import Program
from tierv.sim.model import Model, ModelParams, build_model, simulation_params
from tierv.sim.run import Simulation

#: LiteX has it ready made, so that these tests don't depend on the core.
CPU = "vexriscv"


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    """A board with a serial port, as far as the host sees it."""
    board = StandIn()
    board.start()
    yield board
    board.end()


@pytest.fixture(scope="session")
def model() -> Model:
    """The usual SoC."""
    return build_model(ModelParams(soc=simulation_params(cpu=CPU)))


@pytest.fixture(scope="session")
def simulation(model: Model) -> Simulation:
    """The usual SoC, ready to run."""
    return Simulation(model)


@pytest.fixture(scope="session")
def firmware(model: Model) -> Callable[[str], Program]:
    """Compiles a program of ``tests/soc/firmware`` by name."""
    return lambda name: build_firmware(name, model.include)
