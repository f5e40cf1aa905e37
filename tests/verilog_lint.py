"""Verilator's opinion of Verilog."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tierv.sim.verilator import verilator_env


def check_verilog(
    top: str,
    sources: Iterable[Path],
    waived: Iterable[str],
    parameters: Mapping[str, int] | None = None,
) -> None:
    """Assert that Verilator has nothing against the module ``top`` with these parameters, but for
    warnings of the kinds that are waived."""
    command: list[str | Path] = ["verilator", "--lint-only", "-Wall", "--top-module", top]
    command += [f"-Wno-{kind}" for kind in waived]
    command += [f"-G{name}={value}" for name, value in (parameters or {}).items()]
    done = subprocess.run(
        [*command, *sources],
        env=os.environ | verilator_env(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[:2000]
