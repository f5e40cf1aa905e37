"""The cores that the cocotb tests run on, and running a module of tests on one of them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from cocotb_tools.runner import get_runner

from tierv.rtl.params import CoreParams
from tierv.rtl.tierv import Core
from tierv.sim.core_model import core_verilog
from tierv.sim.paths import BuildError, build_root, locked, step
from tierv.sim.verilator import JOBS, verilator_env

HERE = Path(__file__).resolve().parent
MODULE = "core"
#: Tells the simulation which core it is.
CORE_VARIABLE = "TIERV_CORE"
#: Tells the simulation which planted fault is active; 0: none.
MUTATION_VARIABLE = "TIERV_MUTATION"
CORES = {
    "one": CoreParams(
        tiers=1, lines=1, reset_address=0x2000_0000, counters=False, line_stamps=False
    ),
    "three": CoreParams(tiers=3, lines=8, reset_address=0x2000_0000),
    "bits": CoreParams(tiers=2, lines=4, reset_address=0x2000_0000, zba=True, zbb=True, zbs=True),
    "eight": CoreParams(tiers=8, lines=32, reset_address=0x2000_0000),
}
#: cocotb needs the ports only; without the rest the model is smaller and faster.
_BUILD_FLAGS = (
    *("--no-public-flat-rw", "--public-depth", "1", "-O3", "--x-assign", "fast"),
    *("--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
)
#: A flat core is one large function, which optimisation takes minutes for.
_CXX_LEVEL, _FLAT_CXX_LEVEL = "-O1", "-O0"
_TEST = re.compile(r"@cocotb\.test\([^)]*\)\nasync def (\w+)\(dut\)")


def cocotb_tests(module: str) -> list[str]:
    """Names of a module's cocotb tests."""
    return _TEST.findall((HERE / f"{module}.py").read_text())


def build_core(core: str, source: Path | None = None) -> Path:
    """The model of a core for cocotb, or of another Verilog for it, built once; its folder."""
    level = _FLAT_CXX_LEVEL if source else _CXX_LEVEL
    source = source or core_verilog(Core, CORES[core], MODULE)
    flags = (*_BUILD_FLAGS, "-CFLAGS", level)
    digest = hashlib.sha256(source.read_bytes() + repr(flags).encode()).hexdigest()
    folder = build_root() / "core" / f"cocotb-{core}-{digest[:12]}"
    with locked(folder):
        if not (folder / ".complete").exists():
            log = folder / "build.log"
            with step(f"building the core for cocotb, {CORES[core].tiers} tiers"):
                os.environ |= verilator_env() | {"MAKEFLAGS": f"-j{JOBS}"}
                try:
                    get_runner("verilator").build(
                        sources=[source],
                        hdl_toplevel=MODULE,
                        build_dir=folder,
                        build_args=flags,
                        log_file=log,
                    )
                except SystemExit as error:
                    tail = "\n".join(log.read_text().splitlines()[-25:])
                    raise BuildError(f"{error}; the end of {log}:\n{tail}") from None
                (folder / ".complete").touch()
    return folder


def run_module(
    module: str,
    core: str,
    tests: list[str] | None = None,
    *,
    source: Path | None = None,
    mutation: int = 0,
) -> dict[str, str | None]:
    """Run a module's tests, or some of them; for each, what failed, or None.

    ``source`` is another Verilog of the core, in which ``mutation`` chooses a planted fault. The
    log is ``<module>.log`` in the model's folder.
    """
    folder = build_core(core, source)
    name = f"{module}-{os.getpid()}"
    results = folder / f"{name}.xml"
    results.unlink(missing_ok=True)
    log = folder / f"{name}.log"
    # Which tests failed, the results say.
    with contextlib.suppress(SystemExit, RuntimeError):
        get_runner("verilator").test(
            test_module=module,
            testcase=tests,
            hdl_toplevel=MODULE,
            hdl_toplevel_lang="verilog",
            build_dir=folder,
            test_dir=folder,
            results_xml=str(results),
            extra_env={
                CORE_VARIABLE: core,
                MUTATION_VARIABLE: str(mutation),
                "COCOTB_ANSI_OUTPUT": "0",
            },
            log_file=log,
        )
    if not results.exists():
        tail = "\n".join(log.read_text().splitlines()[-25:])
        raise BuildError(f"{module} did not run; the end of {log}:\n{tail}")
    outcome: dict[str, str | None] = {}
    for case in ElementTree.parse(results).iter("testcase"):
        bad = case.find("failure")
        if bad is None:
            bad = case.find("error")
        outcome[case.get("name", "")] = (
            None if bad is None else f"{bad.get('error_msg') or bad.get('message')}\nlog: {log}"
        )
    return outcome
