"""The counters of the firmware's UDP/IP stack (``firmware/net/counters.h``) by their names."""

from __future__ import annotations

import numpy as np

from .debug_info import enumerators
from .elf import Program
from .result import RunResult

#: The variable to get from a run.
COUNTERS = "network.counters"
_PREFIX = "COUNT_"
_FIRST = "COUNT_ETHERNET_DROP_SHORT"


def stack_counters(program: Program, result: RunResult) -> dict[str, int]:
    """Every counter by its name in a run that got ``COUNTERS``."""
    names = [name for name in enumerators(program.path, _FIRST) if name.startswith(_PREFIX)]
    counts = np.frombuffer(result.values[COUNTERS], "<u4")
    return {
        name.removeprefix(_PREFIX): int(count) for name, count in zip(names, counts, strict=True)
    }
