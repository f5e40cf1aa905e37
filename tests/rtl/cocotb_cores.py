"""The cores that the cocotb tests run on, and running a module of tests on one of them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cocotb_run import CXX_FLAGS, MODEL_FLAGS, build_model, run_tests
from planted_faults import MUTATION_VARIABLE

from tierv.rtl.params import CachedRegion, CoreParams
from tierv.rtl.tierv import Core
from tierv.sim import verilator
from tierv.sim.core_model import core_verilog
from tierv.sim.paths import build_root, locked, step

MODULE = "core"
#: Tells the simulation which core it is.
CORE_VARIABLE = "TIERV_CORE"
CORES = {
    "one": CoreParams(
        tiers=1, lines=1, reset_address=0x2000_0000, counters=False, line_stamps=False
    ),
    "three": CoreParams(tiers=3, lines=8, reset_address=0x2000_0000),
    # What is off by default.
    "bits": CoreParams(
        tiers=3,
        lines=4,
        reset_address=0x2000_0000,
        zba=True,
        zbb=True,
        zbs=True,
        icache_bytes=1 << 10,
        dcache_bytes=1 << 10,
        cache_line_bytes=16,
        cached=CachedRegion(base=0x4800_0000, size_bytes=1 << 17),
        debug=True,
    ),
    "eight": CoreParams(tiers=8, lines=32, reset_address=0x2000_0000),
}
#: A flat core is one large function, which optimisation takes minutes for.
_FLAT_CXX_FLAGS = ("-CFLAGS", "-O0")


def build_core(core: str, source: Path | None = None) -> Path:
    """The model of a core for cocotb, or of another Verilog for it, built once; its folder."""
    flags = (*MODEL_FLAGS, *(_FLAT_CXX_FLAGS if source else CXX_FLAGS))
    source = source or core_verilog(Core, CORES[core], MODULE)
    made_by = (verilator.version(), flags)
    digest = hashlib.sha256(source.read_bytes() + repr(made_by).encode()).hexdigest()
    folder = build_root() / "core" / f"cocotb-{core}-{digest[:12]}"
    with locked(folder):
        if not (folder / ".complete").exists():
            with step(f"building the core for cocotb, {CORES[core].tiers} tiers"):
                build_model([source], MODULE, folder, flags)
            (folder / ".complete").touch()
    return folder


def run_module(
    module: str,
    core: str,
    *,
    source: Path | None = None,
    mutation: int = 0,
) -> dict[str, str | None]:
    """Run a module's tests; for each, what failed, or None.

    ``source`` is another Verilog of the core, in which ``mutation`` chooses a planted fault.
    """
    variables = {CORE_VARIABLE: core, MUTATION_VARIABLE: str(mutation)}
    return run_tests(module, build_core(core, source), MODULE, variables=variables)
