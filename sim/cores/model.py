"""Verilated cores, each a program on the host that runs ELF files: built once, then found built."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pythondata_cpu_ibex
from litex.soc.cores.cpu.picorv32 import PicoRV32
from litex.soc.cores.cpu.vexriscv import VexRiscv

from tierv.rtl.cluster import Cluster
from tierv.rtl.params import CoreParams, Region

from ..core_model import SOURCES as CORE_SOURCES
from ..core_model import core_verilog
from ..paths import build_root, locked, step
from ..verilator import (
    HARNESS_FLAGS,
    SHARED_SOURCES,
    VERILATE_FAST,
    build_program,
    trace_defines,
    verilate,
    version,
)

#: Local memories, or what stands for them on a bus.
IMEM = Region(base=0x2000_0000, size_bytes=64 << 10)
DMEM = Region(base=0x3000_0000, size_bytes=64 << 10)
RESET_ADDRESS = IMEM.base
#: Where PicoRV32 jumps for an interrupt; LiteX has it 16 bytes behind the reset address.
PICORV32_VECTOR = RESET_ADDRESS + 0x10

#: Ibex, with CoreMark and suites of tests beside it.
IBEX_PACKAGE = "pythondata-cpu-ibex"
IBEX_SOURCES = Path(pythondata_cpu_ibex.data_location)

#: A retired instruction in the trace: when, where, who, and how long ago it was first in the
#: execute stage.
TRACE_FIELDS = (("cycle", "u4"), ("pc", "u4"), ("tier", "u2"), ("age", "u2"))
TRACE_DTYPE = np.dtype([(name, f"<{kind}") for name, kind in TRACE_FIELDS])


class DevicePage(enum.IntEnum):
    """Offsets of the words in the bench's page; loads give the cycle unless said."""

    #: Ends the run with this status.
    EXIT = 0
    PUTC = 4
    #: Raise and lower the lines whose bits are set.
    RAISE = 8
    LOWER = 12
    #: Written by a program at what the bench wants to know the time of.
    MARK = 16
    #: Stands for an output pin.
    OUTPUT = 20
    #: Loads give the number of instructions that have retired.
    INSTRUCTIONS = 24
    #: From here to the end of the page loads give data.
    DATA = 0x800


DEVICE_BASE = 0xF000_0000
#: The word that a load from ``DevicePage.DATA`` on gives is so many times its number in the page:
#: no pattern.
_DATA_FACTOR = 0x9E37_79B1

_HARNESS = Path(__file__).resolve().parent / "harness"
#: Sources in common with the bench of the core alone.
_SHARED = tuple(CORE_SOURCES / name for name in ("memory.cpp", "memory.h", "exit_status.h"))
_VERILATOR_FLAGS = (*VERILATE_FAST, "--public-ignore", "--prefix", "Vcore")


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What is Verilated."""

    #: Name of the folder, and of the core in tables.
    name: str
    #: The source in ``harness/`` that drives it.
    driver: str
    top: str
    sources: tuple[Path, ...]
    #: Where Verilator finds further modules and what is included.
    folders: tuple[Path, ...] = ()
    #: Values of the top module's parameters.
    parameters: tuple[tuple[str, int], ...] = ()
    #: Signals that the driver reads, inside this module if it is not the top.
    visible: tuple[str, ...] = ()
    visible_in: str = ""

    @property
    def digest(self) -> str:
        """Of everything that the program is made of."""
        total = hashlib.sha256(version().encode())
        options = (self.folders, self.parameters, self.visible, _VERILATOR_FLAGS, HARNESS_FLAGS)
        total.update(repr((options, device_header(), _trace_header())).encode())
        own = sorted([*_HARNESS.iterdir(), *SHARED_SOURCES.iterdir()])
        for path in (*self.sources, *own, *_SHARED):
            total.update(path.read_bytes())
        for path in sorted(path for folder in self.folders for path in folder.iterdir()):
            if path.is_file():
                total.update(path.name.encode() + b"\0" + path.read_bytes())
        return total.hexdigest()[:12]


def tierv_params(tiers: int, extensions: Sequence[str] = ()) -> CoreParams:
    """The core as it is measured: its defaults, with memories that hold the programs.

    ``extensions`` are names of parameters that are on besides.
    """
    chosen = dict.fromkeys(extensions, True)
    return CoreParams(tiers=tiers, reset_address=RESET_ADDRESS, imem=IMEM, dmem=DMEM, **chosen)


@cache
def tierv(tiers: int, extensions: Sequence[str] = ()) -> Hardware:
    """The core with its local memories."""
    source = core_verilog(Cluster, tierv_params(tiers, extensions), "cluster")
    name = "-".join(("tierv", str(tiers), *extensions))
    return Hardware(name=name, driver="core_tierv", top="cluster", sources=(source,))


class _Platform:
    """Takes the place of LiteX's platform: remembers the sources."""

    def __init__(self) -> None:
        self.sources: list[Path] = []

    def add_source(self, path: str) -> None:
        self.sources.append(Path(path))


@cache
def vexriscv(variant: str) -> Hardware:
    """A variant of VexRiscv as it comes with LiteX."""
    platform = _Platform()
    VexRiscv.add_sources(platform, variant)
    return Hardware(
        name=f"vexriscv-{variant}",
        driver="core_vexriscv",
        top="VexRiscv",
        sources=(platform.sources[0],),
        visible=(
            "execute_arbitration_isValid",
            "execute_arbitration_isStuck",
            "decode_to_execute_PC",
            "writeBack_arbitration_isFiring",
            "memory_to_writeBack_PC",
        ),
    )


@cache
def picorv32() -> Hardware:
    """PicoRV32 with the parameters that LiteX gives it, interrupt registers and all."""
    platform = _Platform()
    cpu = PicoRV32(platform)
    cpu.set_reset_address(RESET_ADDRESS)
    parameters = {
        name.removeprefix("p_"): int(value)
        for name, value in cpu.cpu_params.items()
        if name.startswith("p_")
    }
    assert parameters["PROGADDR_IRQ"] == PICORV32_VECTOR
    return Hardware(
        name="picorv32",
        driver="core_picorv32",
        top="picorv32",
        sources=(platform.sources[0],),
        parameters=tuple(sorted(parameters.items())),
        visible=("cpu_state", "launch_next_insn", "dbg_insn_addr"),
    )


@cache
def ibex() -> Hardware:
    """Ibex in its configuration `maxperf`: a third stage, a multiplier of one cycle, an adder of
    its own for the targets of branches."""
    rtl, vendor = IBEX_SOURCES / "rtl", IBEX_SOURCES / "vendor/lowrisc_ip"
    primitives = IBEX_SOURCES / "dv/uvm/core_ibex/common/prim"
    library = vendor / "ip/prim/rtl"
    packages = ("mubi", "ram_1p", "secded", "cipher", "count", "util")
    return Hardware(
        name="ibex-maxperf",
        driver="core_ibex",
        top="ibex_top",
        sources=(
            primitives / "prim_pkg.sv",
            *(library / f"prim_{name}_pkg.sv" for name in packages),
            rtl / "ibex_pkg.sv",
            *sorted(set(rtl.glob("*.sv")) - {*rtl.glob("*_pkg.sv"), *rtl.glob("*trac*.sv")}),
        ),
        folders=(
            library,
            primitives,
            vendor / "ip/prim_generic/rtl",
            vendor / "dv/sv/dv_utils",
        ),
        # ibex_pkg::RV32MSingleCycle
        parameters=(("BranchTargetALU", 1), ("RV32M", 3), ("WritebackStage", 1)),
        visible=("instr_valid_id", "pc_id", "instr_id_done", "instr_done_wb", "pc_wb"),
        visible_in="ibex_core",
    )


def device_words(count: int) -> list[int]:
    """What the first words of the page's data are."""
    first = DevicePage.DATA // 4
    return [number * _DATA_FACTOR & 0xFFFF_FFFF for number in range(first, first + count)]


def device_header() -> str:
    """``bench_device.h``, for the programs and for the bench."""
    offsets = "".join(f"#define DEVICE_{item.name} {item.value:#x}\n" for item in DevicePage)
    return f"""\
/* generated by sim/cores/model.py, do not edit */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H
#define DEVICE_BASE {DEVICE_BASE:#x}
#define DEVICE_DATA_FACTOR {_DATA_FACTOR:#x}
{offsets}
#define IMEM_BASE {IMEM.base:#x}
#define IMEM_BYTES {IMEM.size_bytes:#x}
#define DMEM_BASE {DMEM.base:#x}
#define DMEM_BYTES {DMEM.size_bytes:#x}
#define RESET_ADDRESS {RESET_ADDRESS:#x}
/* An instruction of TierV is in X so many cycles before it retires. */
#define X_TO_RETIRE_CYCLES 1
#endif
"""


def _trace_header() -> str:
    fields = "".join(f"    uint{int(kind[1]) * 8}_t {name};\n" for name, kind in TRACE_FIELDS)
    return f"""\
// generated by sim/cores/model.py, do not edit
#pragma once
#include <cstdint>
struct __attribute__((packed)) TraceRecord {{
{fields}}};
"""


def build(hardware: Hardware) -> Path:
    """The program that runs ELF files on the core; ``--help`` tells its options.

    Raises ``BuildError`` with the tool's last words if it can't be built.
    """
    folder = build_root() / "cores" / f"{hardware.name}-{hardware.digest}"
    program = folder / "core_run"
    with locked(folder):
        if not program.exists():
            with step(f"building the simulation of {hardware.name}"):
                _compile(hardware, folder, program)
    return program


def _compile(hardware: Hardware, folder: Path, program: Path) -> None:
    generated = folder / "verilated"
    settings = folder / "visible.vlt"
    module = hardware.visible_in or hardware.top
    lines = [f'public_flat_rd -module "{module}" -var "{name}"' for name in hardware.visible]
    settings.write_text("\n".join(["`verilator_config", *lines]) + "\n")
    parameters = [f"-G{name}=32'd{value}" for name, value in hardware.parameters]
    folders = [word for path in hardware.folders for word in ("-y", path)]
    arguments = [*_VERILATOR_FLAGS, "--top-module", hardware.top, *parameters, *folders]
    verilate([*arguments, settings, *hardware.sources], generated, folder / "verilate.log")
    (generated / "bench_device.h").write_text(device_header())
    (generated / "trace_record.h").write_text(_trace_header())
    include = (generated, _HARNESS, CORE_SOURCES, SHARED_SOURCES)
    flags = [*trace_defines(None), *(f"-I{path}" for path in include)]
    own = (_HARNESS / f"{name}.cpp" for name in ("main", "device", hardware.driver))
    build_program(generated, (*own, _SHARED[0]), program, flags, ("-O3",))
