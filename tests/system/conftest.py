"""The builds of the firmware that the tests of the whole system run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tierv.sim.elf import Program
from tierv.sim.firmware import Context, build_firmware
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.run import Simulation

pytest.register_assert_rewrite("soak")

#: CPU, variant and context of each.
BUILDS = {
    "tiers": ("tierv", "standard", Context.TIERS),
    "single": ("tierv", "single", Context.SINGLE),
    "polled": ("tierv", "single", Context.POLLED),
    "vexriscv": ("vexriscv", "standard", Context.SINGLE),
    "picorv32": ("picorv32", "standard", Context.POLLED),
}
#: The slow one only where a test asks for it.
_USUAL = [build for build in BUILDS if build != "picorv32"]
#: Those with the Ethernet DMA.
DMA_BUILDS = {
    "tiers, DMA": ("standard", Context.TIERS),
    "single, DMA": ("single", Context.SINGLE),
    "polled, DMA": ("single", Context.POLLED),
}


@dataclass(frozen=True)
class System:
    """The services on a SoC."""

    simulation: Simulation
    services: Program

    def run(self, **arguments):
        """``Simulation.run`` of the services."""
        return self.simulation.run(self.services, **arguments)


def make_system(build: str) -> System:
    """A build by its name in ``BUILDS`` or ``DMA_BUILDS``."""
    if build in DMA_BUILDS:
        variant, context = DMA_BUILDS[build]
        soc = simulation_params(cpu_variant=variant, eth_dma=True)
        model = build_model(ModelParams(soc=soc, profile=False))
    else:
        cpu, variant, context = BUILDS[build]
        model = build_model(ModelParams(soc=simulation_params(cpu=cpu, cpu_variant=variant)))
    return System(Simulation(model), build_firmware("services", model, context))


@pytest.fixture(scope="session")
def systems() -> Callable[[str], System]:
    """Makes a build by its name in ``BUILDS`` or ``DMA_BUILDS``."""
    return make_system


@pytest.fixture(scope="session", params=_USUAL)
def system(request: pytest.FixtureRequest) -> System:
    """Each build in turn."""
    return make_system(request.param)
