"""The firmware's make file, as somebody calls it by hand."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tierv.sim.firmware import FIRMWARE, Context
from tierv.sim.model import Model


def make_switch(
    model: Model, folder: Path, context: Context, *words: str
) -> subprocess.CompletedProcess:
    """Run make for the benchmark ``switch``, with other words behind those that it needs."""
    needed = [f"SOC={model.include}", f"BUILD={folder}", "APP=switch", f"CONTEXT={context}"]
    command = ["make", "-s", "-C", FIRMWARE, *needed, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)
