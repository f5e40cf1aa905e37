"""What does not count in the core's coverage, and why."""

from __future__ import annotations

import re

from verilator_coverage import Point

#: The instance of the core among its memories; its parts begin with this.
CORE = "cluster.core"
MONITOR = f"{CORE}.rvfi"
#: Rows of a memory with one row a tier, or two; the fourth tier is not there.
_ABSENT_TIER = re.compile(
    r"(counters|results|sequential|redirect|target|predicted)\[3\]"
    r"|(scratch|vectors|return_stack)\[[67]\]"
)
#: Addresses of words in local instruction memory, 32 KiB; the bits above are its base.
_LOCAL_TARGET = re.compile(r"(checked_|predicted_)?target(\[\d\])?")
_LOCAL_TARGET_BITS = 13
#: The performance monitors' values, of 64 bits where CSRs read them.
_MONITOR_VALUE = re.compile(r"(values|events)\[\d\]")
_MONITOR_BITS = 40
_SERIAL = re.compile(r"\$\d+")


def exclusion(point: Point, text: str) -> str | None:
    """Why the point does not count, ``text`` being its line of Verilog; None if it does."""
    if point.module != CORE and not point.module.startswith(f"{CORE}."):
        return "not the core: local memories and what surrounds it in simulation"
    if point.module == MONITOR or point.name.startswith(("rvfi_", "packets")):
        return "the RVFI monitor, which a core for hardware has not"
    if not point.is_toggle:
        empty = "$verilog_backend" in text
        return "an empty statement that yosys writes for simulators" if empty else None
    if point.name.startswith("$"):
        return "part of an expression, without a name in the source"
    # Of several wires of one name, yosys numbers all but one.
    name = _SERIAL.sub("", point.name)
    if _ABSENT_TIER.fullmatch(name):
        return "a row of a memory for a fourth tier: the core that is measured has three"
    if _LOCAL_TARGET.fullmatch(name) and point.bit >= _LOCAL_TARGET_BITS:
        return "base address of local memory, a constant, in the target of a local jump"
    monitor = point.module.startswith(f"{CORE}.monitor") and name == "value"
    if (monitor or _MONITOR_VALUE.fullmatch(name)) and point.bit >= _MONITOR_BITS:
        return "bit 40 and above of a performance monitor, which has 40 bits"
    return None
