"""The experiments of the bench, by their names."""

from __future__ import annotations

from .driver import DriverLayer
from .experiment import Experiment
from .rfc2544 import Rfc2544
from .saturation import Saturation
from .switch import Switch
from .trace import Trace

#: Experiments that run together, in their order.
GROUPS: dict[str, tuple[Experiment, ...]] = {
    "stack": (Switch(), DriverLayer(), Trace(), Saturation(), Rfc2544()),
    "serial": (),
}

EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment for group in GROUPS.values() for experiment in group
}
