"""The core with planted faults, of which an input chooses one: models for all of them at once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from cocotb_cores import MODULE
from planted_faults import PORT, PORT_BITS, Planted, Planting, planted

from tierv.rtl.cluster import Cluster
from tierv.rtl.emit import to_verilog
from tierv.rtl.params import CoreParams
from tierv.rtl.tierv import Core
from tierv.sim.core_model import CoreModel, core_verilog
from tierv.sim.paths import build_root, locked

#: Not the monitor, which is no part of the core proper.
_BEFORE = f"setattr -mod -set keep_hierarchy 1 {MODULE}.rvfi"
_PLANTING = Planting(f"read_verilog {MODULE}.v", MODULE, before=_BEFORE)
_LINE = r"rtl/[\w/]+\.py:\d+"


def _only_described(component: wiring.Component) -> wiring.Component:
    """A component of which nothing but its ports is wanted; Amaranth would warn of it."""
    component._MustUse__used = True
    return component


class _GivenCore(wiring.Component):
    """A core whose Verilog is elsewhere."""

    def __init__(self, params: CoreParams, mutation: Signal) -> None:
        super().__init__(_only_described(Core(params)).signature)
        self._mutation = mutation

    def elaborate(self, platform) -> Module:
        m = Module()
        ports = {
            ("i_" if member.flow is In else "o_") + name: getattr(self, name)
            for name, member in self.signature.members.items()
        }
        ports |= {"i_clk": ClockSignal(), "i_rst": ResetSignal(), f"i_{PORT}": self._mutation}
        m.submodules.given = Instance(MODULE, **ports)
        return m


class _MutatedCluster(Cluster):
    """Local memories around the core with the faults."""

    def __init__(self, params: CoreParams, mutation: Signal) -> None:
        super().__init__(params)
        _only_described(self._core)
        self._core = _GivenCore(params, mutation)


def _cluster_verilog(params: CoreParams) -> str:
    mutation = Signal(PORT_BITS, name=PORT)
    cluster = _MutatedCluster(params, mutation)
    ports = [mutation, *(value for _, _, value in cluster.signature.flatten(cluster))]
    return to_verilog(cluster, "cluster", ports=ports)


@dataclass(frozen=True)
class MutatedCore:
    """The core with all faults; its netlist is as the cocotb tests want it, with RVFI."""

    params: CoreParams
    faults: Planted
    model: CoreModel


def mutated_core(params: CoreParams) -> MutatedCore:
    """Plant the faults and build the model; raises ``BuildError`` as ``Planting.plant`` does."""
    params = replace(params, rvfi=True)
    source = core_verilog(Core, params, MODULE, sources=True)
    digest = hashlib.sha256(source.read_bytes() + _PLANTING.script.encode()).hexdigest()
    folder = build_root() / "core" / f"mutated-{digest[:12]}"
    both = folder / "both.v"
    with locked(folder):
        if not both.exists():
            (folder / f"{MODULE}.v").write_text(source.read_text())
            _PLANTING.plant(folder)
            both.write_text(_cluster_verilog(params) + (folder / "mutated.v").read_text())
    return MutatedCore(params, planted(MODULE, folder, _LINE), CoreModel(params, verilog=both))
