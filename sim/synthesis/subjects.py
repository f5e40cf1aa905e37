"""What is measured: the core, and its peers as LiteX 2024.12 instantiates them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from litex.soc.cores.cpu.picorv32 import PicoRV32
from litex.soc.cores.cpu.vexriscv import VexRiscv

from tierv.rtl.params import CoreParams
from tierv.rtl.verilog import CLUSTER_MODULE, CORE_MODULE, cluster_verilog, core_verilog

#: Outputs that tell a simulation or a logic analyser what the core does; open on a board.
_MONITORS = (
    "wake",
    "issue_valid",
    "issue_tier",
    "retire_valid",
    "retire_tier",
    "retire_pc",
)
_PICORV32_OPEN = (
    *("trap", "eoi", "trace_valid", "trace_data"),
    *("mem_la_read", "mem_la_write", "mem_la_addr", "mem_la_wdata", "mem_la_wstrb"),
    *("pcpi_valid", "pcpi_insn", "pcpi_rs1", "pcpi_rs2"),
)


#: Names of the core: as it is, and with no more than VexRiscv full has.
CORE, PLAIN_CORE = "TierV", "TierV plain"
#: What the plain core is built without.
PLAIN = {"counters": False, "line_stamps": False}


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A design to synthesise."""

    #: As tables call it.
    name: str
    module: str
    verilog: str
    #: Of the core; a peer has none.
    tiers: int | None = None
    #: The tightly coupled memories are part of it.
    with_memories: bool = False
    parameters: Mapping[str, int] = field(default_factory=dict)
    #: Inputs that the SoC ties to a value.
    constants: Mapping[str, int] = field(default_factory=dict)
    #: Outputs that the SoC leaves open.
    unused: tuple[str, ...] = ()


def core_subject(params: CoreParams, *, with_memories: bool, name: str = CORE) -> Subject:
    """The core, alone or with its local memories."""
    return Subject(
        name=name,
        module=CLUSTER_MODULE if with_memories else CORE_MODULE,
        verilog=cluster_verilog(params) if with_memories else core_verilog(params),
        tiers=params.tiers,
        with_memories=with_memories,
        unused=_MONITORS,
    )


class _Platform:
    """Takes the place of LiteX's platform: remembers the source."""

    def add_source(self, path: str) -> None:
        self.source = Path(path)


def _vexriscv(name: str, variant: str) -> Subject:
    """As LiteX instantiates it without a timer of its own."""
    platform = _Platform()
    VexRiscv.add_sources(platform, variant)
    return Subject(
        name=name,
        module="VexRiscv",
        verilog=platform.source.read_text(),
        constants={"externalResetVector": 0, "timerInterrupt": 0, "softwareInterrupt": 0},
        # Undefined, for nothing is ever written there.
        unused=("iBusWishbone_DAT_MOSI",),
    )


def _picorv32() -> Subject:
    """With the parameters that LiteX gives the variant standard."""
    platform = _Platform()
    cpu = PicoRV32(platform)
    cpu.set_reset_address(0)
    parameters = {
        name.removeprefix("p_"): value
        for name, value in cpu.cpu_params.items()
        if name.startswith("p_")
    }
    return Subject(
        name="PicoRV32",
        module="picorv32",
        verilog=platform.source.read_text(),
        parameters=parameters,
        constants={"pcpi_wr": 0, "pcpi_rd": 0, "pcpi_wait": 0, "pcpi_ready": 0},
        unused=_PICORV32_OPEN,
    )


#: Makes each peer, by the name that the command line knows it by.
PEERS = {
    "vexriscv": lambda: _vexriscv("VexRiscv standard", "standard"),
    "vexriscv-full": lambda: _vexriscv("VexRiscv full", "full"),
    "vexriscv-lite": lambda: _vexriscv("VexRiscv Lite", "lite"),
    "picorv32": _picorv32,
}
