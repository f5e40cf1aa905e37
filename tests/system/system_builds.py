"""The builds of the firmware that the tests of the whole system run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import slow_turns

from tierv.sim.elf import Program
from tierv.sim.firmware import Context, build_firmware
from tierv.sim.model import Model, ModelParams, build_model, simulation_params
from tierv.sim.run import Simulation

#: Cycles from reset: all builds but PicoRV32's answer by then, and have said what they are.
READY = 400_000
#: CPU, variant and context of each.
BUILDS = {
    "tiers": ("tierv", "standard", Context.TIERS),
    "single": ("tierv", "single", Context.SINGLE),
    "polled": ("tierv", "single", Context.POLLED),
    "vexriscv": ("vexriscv", "standard", Context.SINGLE),
    "picorv32": ("picorv32", "standard", Context.POLLED),
}
#: Those with the Ethernet DMA.
DMA_BUILDS = {
    "tiers, DMA": ("standard", Context.TIERS),
    "single, DMA": ("single", Context.SINGLE),
    "polled, DMA": ("single", Context.POLLED),
}
#: This project's core in every way.
OWN_BUILDS = ("tiers", "single", "polled", *DMA_BUILDS)
#: Take their turn with the slow tests. Of the DMA, one build is quick.
_SLOW = ("vexriscv", "single, DMA", "polled, DMA")


def pin(port: int) -> int:
    """Number of a serial port among the pins; the console is the first."""
    return 1 + port


def turns(*builds: str, slow: Sequence[str] = _SLOW) -> list:
    """``slow_turns.turns`` of builds."""
    return slow_turns.turns(builds, slow)


@dataclass(frozen=True)
class System:
    """The services on a SoC."""

    simulation: Simulation
    services: Program

    def run(self, **arguments):
        """``Simulation.run`` of the services."""
        return self.simulation.run(self.services, **arguments)


def make_dma_system(variant: str, context: Context) -> System:
    """This project's core with the Ethernet DMA."""
    soc = simulation_params(cpu_variant=variant, eth_dma=True)
    model = build_model(ModelParams(soc=soc, profile=False))
    return System(Simulation(model), build_firmware("services", model, context))


def make_model(build: str) -> tuple[Model, Context]:
    """The SoC of a build by its name in ``BUILDS``, and its context."""
    cpu, variant, context = BUILDS[build]
    return build_model(ModelParams(soc=simulation_params(cpu=cpu, cpu_variant=variant))), context


def make_system(build: str) -> System:
    """A build by its name in ``BUILDS`` or ``DMA_BUILDS``."""
    if build in DMA_BUILDS:
        return make_dma_system(*DMA_BUILDS[build])
    model, context = make_model(build)
    return System(Simulation(model), build_firmware("services", model, context))
