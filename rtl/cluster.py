"""The core with its tightly coupled memories beside it."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring

from .cache.port import memory_port_members
from .debug.layout import debug_members
from .params import CoreParams
from .rvfi import port_members
from .tcm import TightlyCoupledMemory
from .tierv import Core
from .util import join_ports
from .wishbone import master_ports

#: Ports that the core has in common with the cluster.
CORE_PORTS = (
    "lines",
    "timer",
    *master_ports("wb_"),
    "wake",
    "issue_valid",
    "issue_tier",
    "retire_valid",
    "retire_tier",
    "retire_pc",
)
#: Ports of each memory's Wishbone side, prefixed with `imem_` or `dmem_`.
MEMORY_PORTS = ("wb_cyc", "wb_stb", "wb_we", "wb_adr", "wb_sel", "wb_dat_w", "wb_dat_r", "wb_ack")


class Cluster(wiring.Component):
    """Core, instruction memory and data memory; every memory has a port on the bus as well."""

    def __init__(self, params: CoreParams) -> None:
        self.params = params
        self._core = Core(params)
        self._imem = TightlyCoupledMemory(size_bytes=params.imem.size_bytes, columns=2)
        self._dmem = TightlyCoupledMemory(
            size_bytes=params.dmem.size_bytes, pipelined=params.dmem_pipelined
        )
        self._shared_ports = CORE_PORTS
        if params.has_caches:
            self._shared_ports += tuple(memory_port_members())
        if params.rvfi:
            self._shared_ports += tuple(port_members(params))
        if params.debug:
            self._shared_ports += tuple(debug_members(params))
        members = {name: self._core.signature.members[name] for name in self._shared_ports}
        for prefix, memory in (("imem", self._imem), ("dmem", self._dmem)):
            for name in MEMORY_PORTS:
                members[f"{prefix}_{name}"] = memory.signature.members[name]
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        m = Module()
        core = m.submodules.core = self._core
        imem = m.submodules.imem = self._imem
        dmem = m.submodules.dmem = self._dmem

        join_ports(m, self, core, {name: name for name in self._shared_ports})
        for prefix, memory in (("imem", imem), ("dmem", dmem)):
            join_ports(m, self, memory, {f"{prefix}_{name}": name for name in MEMORY_PORTS})
        m.d.comb += [
            imem.address.eq(core.imem_address),
            core.imem_read_data.eq(imem.read_data),
            dmem.address.eq(core.dmem_address),
            dmem.write_mask.eq(core.dmem_write_mask),
            dmem.write_data.eq(core.dmem_write_data),
            core.dmem_read_data.eq(dmem.read_data),
        ]
        return m
