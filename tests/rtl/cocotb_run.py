"""Cocotb on Verilated models: building one, running a module of tests on it, each test an item."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from cocotb_tools.runner import get_runner

from tierv.sim.paths import LOG_TAIL_LINES, BuildError, build_root
from tierv.sim.verilator import JOBS, verilator_env

#: cocotb needs the ports only; without the rest a model is smaller and faster. One file compiles in
#: less time than several and the precompiled header that Verilator has for them.
MODEL_FLAGS = (
    *("--no-public-flat-rw", "--public-depth", "1", "--output-split", "0"),
    *("-O3", "--x-assign", "fast"),
    *("--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
)
CXX_FLAGS = ("-CFLAGS", "-O1")
_TEST = re.compile(r"@cocotb\.test\([^)]*\)\nasync def (\w+)\(dut\)")
#: What failed in each test of a module, or None.
Outcomes = Mapping[str, str | None]


def _end_of(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join([f"the end of {log}:", *lines[-LOG_TAIL_LINES:]])


def build_model(
    sources: Sequence[Path],
    toplevel: str,
    folder: Path,
    flags: Sequence[str] = (*MODEL_FLAGS, *CXX_FLAGS),
) -> None:
    """Build the model of a module of Verilog in the folder.

    Raises ``BuildError`` with the end of ``build.log`` if that fails.
    """
    # Most of the time goes into Verilator's library, which is the same for all models.
    cache = {"OBJCACHE": "ccache", "CCACHE_DIR": str(build_root() / "ccache")}
    os.environ |= verilator_env() | cache | {"MAKEFLAGS": f"-j{JOBS}"}
    log = folder / "build.log"
    try:
        get_runner("verilator").build(
            sources=sources,
            hdl_toplevel=toplevel,
            build_dir=folder,
            build_args=flags,
            always=True,
            log_file=log,
        )
    except (SystemExit, RuntimeError) as error:
        raise BuildError(f"{error}; {_end_of(log)}") from None


def cocotb_tests(module: str) -> list[str]:
    """Names of a module's cocotb tests, which is not imported."""
    return _TEST.findall(Path(importlib.util.find_spec(module).origin).read_text())


def cocotb_items(modules: Mapping[str, Iterable[str]], slow: Container[str] = ()) -> list:
    """For ``parametrize``: module, model and test, of the models that each module runs on.

    The models in ``slow`` take their turn with the slow tests.
    """
    return [
        pytest.param(
            *(module, model, test),
            id=f"{model}-{module.removeprefix('cocotb_')}-{test}",
            marks=[pytest.mark.slow] if model in slow else [],
        )
        for module, models in modules.items()
        for model in models
        for test in cocotb_tests(module)
    ]


def run_tests(
    module: str,
    folder: Path,
    toplevel: str,
    tests: Sequence[str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> dict[str, str | None]:
    """Run a module's tests, or some of them, on the folder's model; for each, what failed, or None.

    ``variables`` of the environment tell the tests which model it is. Raises ``BuildError`` with
    the end of the log if they did not run at all.
    """
    # Others may run the same module on the same model.
    name = f"{module}-{os.getpid()}"
    results, log = folder / f"{name}.xml", folder / f"{name}.log"
    results.unlink(missing_ok=True)
    # Which tests failed, the results say.
    with contextlib.suppress(SystemExit, RuntimeError):
        get_runner("verilator").test(
            test_module=module,
            testcase=tests,
            hdl_toplevel=toplevel,
            hdl_toplevel_lang="verilog",
            build_dir=folder,
            test_dir=folder,
            results_xml=str(results),
            extra_env={"COCOTB_ANSI_OUTPUT": "0", **(variables or {})},
            log_file=log,
        )
    if not results.exists():
        raise BuildError(f"{module} did not run; {_end_of(log)}")
    outcomes: dict[str, str | None] = {}
    for case in ElementTree.parse(results).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        text = bad[0].get("error_msg") or bad[0].get("message") if bad else None
        outcomes[case.get("name", "")] = f"{text}\nlog: {log}" if bad else None
    return outcomes


def report(outcomes: Outcomes, module: str, test: str) -> None:
    """Fail the present item if its test failed, or did not run."""
    assert test in outcomes, f"{module} ended before {test}"
    if outcomes[test]:
        pytest.fail(outcomes[test], pytrace=False)
