"""All ports of the terminal server at their fastest, for longer than FIFOs hide a late service."""

from __future__ import annotations

import pytest

from tierv.sim.experiments import sixteen_ports
from tierv.sim.experiments.bench import Build, Setup
from tierv.sim.experiments.serial_link import SERIAL_SOC
from tierv.sim.firmware import Context, build_firmware
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.run import Simulation

BAUD, BYTES = 921_600, 4_096


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "variant", "context"),
    [
        (Build.BANKED, "standard", Context.TIERS),
        (Build.SINGLE, "single", Context.SINGLE),
    ],
)
def test_nothing_is_lost_at_the_fastest_speed(build, variant, context):
    soc = simulation_params(cpu_variant=variant, **SERIAL_SOC)
    model = build_model(ModelParams(soc=soc, profile=False))
    setup = Setup(build_firmware("serial", model, context), Simulation(model))
    data = sixteen_ports._Data.make(1, BYTES)
    row = sixteen_ports._run(setup, build, BAUD, data, soc.sys_clk_hz)
    assert row["exact"]
    assert (row["lost up"], row["lost down"], row["overruns"], row["refused"]) == (0, 0, 0, 0)
