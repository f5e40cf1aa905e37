"""Whether Spike is there, of which ``pyproject.toml`` has a package for some versions of Python."""

from __future__ import annotations

import importlib.util
import sys


def spike_problem() -> str | None:
    """Why nothing can be compared with Spike; None if it is installed."""
    if importlib.util.find_spec("riscv") is not None:
        return None
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"no Spike: its package is built for Python 3.12 at the latest, and this is {version}"
