"""The experiments of the bench, by their names."""

from __future__ import annotations

from .busy_ports import BusyPorts
from .contention import Contention
from .driver import DriverLayer
from .echo import Echo
from .experiment import Experiment
from .gigabit import Gigabit
from .goodput import Goodput
from .lin import Lin
from .many_sources import ManySources
from .overload import Overload
from .peers import Peers
from .rfc2544 import Rfc2544
from .rotation import Rotation
from .saturation import Saturation
from .shares import Shares
from .sixteen_ports import SixteenPorts
from .switch import Switch
from .terminal import TerminalServer
from .trace import Trace

#: Experiments that run together, in their order.
GROUPS: dict[str, tuple[Experiment, ...]] = {
    "stack": (Switch(), DriverLayer(), Trace(), Saturation()),
    "net": (Shares(), Rfc2544(), Peers(), Overload(), BusyPorts(), Gigabit()),
    "serial": (
        ManySources(),
        TerminalServer(),
        SixteenPorts(),
        Contention(),
        Rotation(),
        Goodput(),
        Echo(),
        Lin(),
    ),
}

EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment for group in GROUPS.values() for experiment in group
}
