"""The experiments of the bench, by their names."""

from __future__ import annotations

from .driver import DriverLayer
from .experiment import Experiment
from .rfc2544 import Rfc2544
from .saturation import Saturation
from .switch import Switch
from .trace import Trace

EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in (Switch(), DriverLayer(), Trace(), Saturation(), Rfc2544())
}
