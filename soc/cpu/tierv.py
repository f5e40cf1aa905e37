"""The LiteX CPU class. LiteX finds the assembler and C files beside this one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from litedram.common import LiteDRAMNativePort
from litedram.frontend.adapter import LiteDRAMNativePortConverter
from litex.soc.cores.cpu import CPU, CPU_GCC_TRIPLE_RISCV32
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect import wishbone
from migen import ClockSignal, Instance, ResetSignal, Signal

from tierv.rtl.document import c_header
from tierv.rtl.isa import MAX_LINES, MAX_TIERS
from tierv.rtl.params import CachedRegion, CoreParams, Region
from tierv.rtl.verilog import CLUSTER_MODULE, cluster_verilog

from ..debug import ExternalDebug, Jtag
from ..dma.port import SharedPort
from ..instance_ports import wishbone_ports
from ..line_reader import WORD_BITS, LineReader
from ..map import ORIGINS, SIZES
from ..whole_words import WholeWords
from .filled import filled_cluster_verilog, room_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from litex.soc.integration.builder import Builder

#: Tiers of each variant.
VARIANTS = {"standard": 3, "single": 1} | {f"tiers{n}": n for n in range(1, MAX_TIERS + 1)}
#: The firmware's branches are many: with a history for 256 words, as the core has it by itself,
#: 64-byte datagrams are echoed a sixth slower by driver tiers, for a block RAM less.
_BRANCH_HISTORY_LOG2 = 10
#: Memories of LiteX that every SoC has; the others are where the SoC puts them.
_LITEX_MEMORIES = ("rom", "sram", "main_ram", "csr")


class TierV(CPU):
    """The core with its tightly coupled memories, which are also slaves of the SoC's bus.

    ``parameters`` may be replaced before the SoC is finalized; tiers, reset address and the
    places of the memories are set from the variant and the SoC's map. A SoC that wants memories
    of other sizes than the map's has an attribute ``local_memory_bytes``, the sizes by name, and
    one that wants them elsewhere has ``itcm`` and ``dtcm`` in its ``mem_map``. Caches are of
    memory that LiteX's ``add_sdram`` adds, without a cache of LiteX's (``l2_cache_size=0``).
    Raises ``ValueError`` naming what can't be built: a place that is no multiple of the memory's
    size, and, when the SoC is finalized, caches without such memory.
    """

    category = "softcore"
    family = "riscv"
    name = "tierv"
    human_name = "TierV"
    variants = VARIANTS
    data_width = 32
    endianness = "little"
    gcc_triple = CPU_GCC_TRIPLE_RISCV32
    linker_output_format = "elf32-littleriscv"
    nop = "nop"
    io_regions = {0x8000_0000: 0x8000_0000}
    #: Verilog module and array of each column of the memories, for a simulation to load.
    backdoor_memories = {
        "itcm": [(f"{CLUSTER_MODULE}.imem", f"column{n}") for n in range(2)],
        "dtcm": [(f"{CLUSTER_MODULE}.dmem", "column0")],
    }

    @property
    def mem_map(self) -> dict[str, int]:
        return {name: ORIGINS[name] for name in _LITEX_MEMORIES}

    @property
    def gcc_flags(self) -> str:
        march = "_".join(("rv32i2p0_m", *self.parameters.extensions))
        return f"-march={march} -mabi=ilp32 -D__tierv__"

    def __init__(self, platform, variant: str = "standard") -> None:
        self.platform = platform
        self.variant = variant
        self.parameters = CoreParams(
            tiers=VARIANTS[variant],
            lines=MAX_LINES,
            branch_history_log2=_BRANCH_HISTORY_LOG2,
        )
        #: Whether the memories have the content of files from configuration on (``filled.py``).
        self.filled_memories = False
        #: Whether external memory takes whole words only (``WholeWords``).
        self.whole_words = False
        self._debug: ExternalDebug | None = None
        #: LiteX's builder of the SoC, if there is one when it is called. (An attribute with the SoC
        #: would be taken for a part of the CPU.)
        self._builder: Callable[[], Builder | None] = lambda: None
        self.reset = Signal()
        self.interrupt = Signal(MAX_LINES)
        self.bus = _bus()
        self.itcm_bus = _bus()
        self.dtcm_bus = _bus()
        self.memory_bus = _bus()
        #: ``reset``, put off while the core is at external memory: a line that it has asked for
        #: comes in any case, and would be taken for part of the next one.
        self.core_reset = Signal()
        asked, owed = Signal(), Signal()
        self.comb += [
            asked.eq(self.reset | owed),
            self.core_reset.eq(asked & ~self.memory_bus.cyc),
        ]
        # LiteX's reset of a SoC lasts a cycle.
        self.sync += owed.eq(asked & self.memory_bus.cyc)
        self._dtcm_port = self.dtcm_bus
        self.periph_buses = [self.bus]
        self.memory_buses = []
        # What the core does, for simulation and logic analysers.
        self.timer = Signal(MAX_TIERS)
        self.wake = Signal(MAX_TIERS)
        self.issue_valid = Signal()
        self.issue_tier = Signal(3)
        self.retire_valid = Signal()
        self.retire_tier = Signal(3)
        self.retire_pc = Signal(32)

    def set_reset_address(self, reset_address: int) -> None:
        self.reset_address = reset_address
        self.parameters = replace(self.parameters, reset_address=reset_address)

    def generated_headers(self) -> dict[str, str]:
        """Name and text of the headers about the core that software needs."""
        return {"tierv.h": c_header(self.parameters)}

    def add_soc_components(self, soc) -> None:
        """Put the memories on the bus and tell the software about the core."""
        self._builder = lambda: getattr(soc, "builder", None)
        self._sizes = sizes = getattr(soc, "local_memory_bytes", SIZES)
        imem, dmem = (
            Region(
                base=soc.mem_map.get(name, ORIGINS[name]),
                size_bytes=room_bytes(sizes[name]),
            )
            for name in ("itcm", "dtcm")
        )
        self.parameters = replace(self.parameters, imem=imem, dmem=dmem)
        for name, bus, region in (
            ("itcm", self.itcm_bus, self.parameters.imem),
            ("dtcm", self.dtcm_bus, self.parameters.dmem),
        ):
            soc.bus.add_slave(
                name=name,
                slave=bus,
                region=SoCRegion(origin=region.base, size=sizes[name], mode="rwx", cached=True),
            )
        soc.add_config("CPU_TIERS", self.parameters.tiers)

    def add_debug(self, jtag: Jtag) -> ExternalDebug:
        """Have a debug module beside the core; its master is not on the bus yet."""
        self.parameters = replace(self.parameters, debug=True)
        self._debug = ExternalDebug(self.parameters, jtag)
        self.submodules += self._debug
        return self._debug

    def add_memory_buses(self, address_width: int, data_width: int) -> None:
        """Give LiteDRAM a port for the caches, if there are any; LiteX calls it."""
        if not self.parameters.has_caches:
            return
        port = LiteDRAMNativePort("both", address_width=address_width, data_width=data_width)
        wide = port
        if data_width < WORD_BITS:
            narrower = (WORD_BITS // data_width).bit_length() - 1
            wide = LiteDRAMNativePort(
                "both", address_width=address_width - narrower, data_width=WORD_BITS
            )
            self.port_converter = LiteDRAMNativePortConverter(wide, port)
        lines = self.memory_bus
        if self.whole_words:
            lines = _bus()
            self.cached_words = WholeWords(lines)
            self.comb += self.memory_bus.connect(self.cached_words.bus)
        self.line_reader = LineReader(
            lines,
            wide,
            base=ORIGINS["main_ram"],
            line_bytes=self.parameters.cache_line_bytes,
        )
        self.memory_buses.append(port)

    def cache(self, size_bytes: int) -> None:
        """Cache so many bytes of external memory, a power of two."""
        cached = CachedRegion(base=ORIGINS["main_ram"], size_bytes=size_bytes)
        self.parameters = replace(self.parameters, cached=cached)

    def share_dtcm(self, port: SharedPort) -> None:
        """Let others than the bus at the data memory: ``port`` is part of whoever is another."""
        self.parameters = replace(self.parameters, dmem_pipelined=True)
        self._dtcm_port = port.memory
        self.comb += self.dtcm_bus.connect(port.bus)

    def _instance(self) -> Instance:
        p = self.parameters
        ports = {
            "i_clk": ClockSignal("sys"),
            "i_rst": ResetSignal("sys") | self.core_reset,
            "i_lines": self.interrupt[: p.lines],
            "i_timer": self.timer[: p.tiers],
            "o_wake": self.wake[: p.tiers],
            "o_issue_valid": self.issue_valid,
            "o_issue_tier": self.issue_tier[: p.tier_bits],
            "o_retire_valid": self.retire_valid,
            "o_retire_tier": self.retire_tier[: p.tier_bits],
            "o_retire_pc": self.retire_pc,
            **wishbone_ports("wb_", self.bus),
            **wishbone_ports("imem_wb_", self.itcm_bus, slave=True, without=("err",)),
            **wishbone_ports("dmem_wb_", self._dtcm_port, slave=True, without=("err",)),
        }
        if self._debug:
            ports |= self._debug.core_ports()
        if p.has_caches:
            ports |= wishbone_ports("mem_", self.memory_bus, bursts=True)
        return Instance(CLUSTER_MODULE, **ports)

    def _folders(self) -> tuple[Path, Path]:
        """Where Verilog and headers belong: where LiteX's builder wants them, if there is one."""
        builder = self._builder()
        if builder is not None:
            return Path(builder.gateware_dir), Path(builder.generated_dir)
        folder = Path(self.platform.output_dir)
        return folder / "gateware", folder / "software" / "include" / "generated"

    def do_finalize(self) -> None:
        p = self.parameters
        if p.has_caches and not self.memory_buses:
            raise ValueError(
                "icache_bytes and dcache_bytes must be 0 without external memory,"
                f" not {p.icache_bytes} and {p.dcache_bytes}"
            )
        gateware, headers = self._folders()
        source = (gateware / f"{CLUSTER_MODULE}.v").resolve()
        source.parent.mkdir(parents=True, exist_ok=True)
        if self.filled_memories:
            sizes = (self._sizes["itcm"], self._sizes["dtcm"])
            source.write_text(filled_cluster_verilog(self.parameters, *sizes))
        else:
            source.write_text(cluster_verilog(self.parameters))
        self.platform.add_source(str(source))
        if self._debug:
            self._debug.write_verilog(self.platform, source.parent)
        headers.mkdir(parents=True, exist_ok=True)
        for name, text in self.generated_headers().items():
            (headers / name).write_text(text)
        self.specials += self._instance()


def _bus() -> wishbone.Interface:
    return wishbone.Interface(data_width=32, address_width=32, addressing="word")
