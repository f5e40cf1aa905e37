"""What the core's parameters cost: cells of the core alone on an ECP5, before placement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tierv.rtl.debug.top import DEBUG_MODULE, debug_verilog
from tierv.rtl.document import MANUAL
from tierv.rtl.params import EXTENSIONS, CoreParams

from ..pages import keep, markdown
from .cells import cell_types, ecp5_counts
from .flow import Flow, tool_versions, tools_text
from .harness import HARNESS_MODULE
from .subjects import Subject, core_subject

#: The results that the manual shows, kept with the sources.
GOLDEN = Path(__file__).resolve().parent / "options.json"
#: Of the manual's table.
MARKER = "options"
#: The core that the others are compared with.
BASE: Mapping[str, Any] = {"tiers": 3, "lines": 8}
COLUMNS = ("COMB", "RAMW", "FF", "EBR", "MULT")


@dataclass(frozen=True)
class Option:
    """Parameters that are another way; ``name`` is what the table calls them."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


OPTIONS: Sequence[Option] = (
    Option("32 lines", {"lines": 32}),
    Option("no performance monitors (`counters`)", {"counters": False}),
    Option("no time stamps of lines (`line_stamps`)", {"line_stamps": False}),
    Option("no branch history (`branch_history_log2` 0)", {"branch_history_log2": 0}),
    Option("one return address (`return_stack_log2` 0)", {"return_stack_log2": 0}),
    *(Option(name.capitalize(), {name: True}) for name in EXTENSIONS),
    Option("Zba, Zbb and Zbs", dict.fromkeys(EXTENSIONS, True)),
    Option("data cache, 8 KiB", {"dcache_bytes": 8 << 10}),
    Option("both caches, 8 KiB each", {"icache_bytes": 8 << 10, "dcache_bytes": 8 << 10}),
    Option("debug mode and two triggers a tier", {"debug": True}),
)


def subjects() -> list[Subject]:
    """The core as it is compared with, with each option, and the debug module."""
    designs = [
        core_subject(
            CoreParams(**(BASE | option.parameters)), with_memories=False, name=option.name
        )
        for option in (Option("the core: three tiers, eight lines"), *OPTIONS)
    ]
    debugged = CoreParams(**BASE, debug=True)
    debug = Subject(
        name=f"`{DEBUG_MODULE}`, TAP of an FPGA",
        module=DEBUG_MODULE,
        verilog=debug_verilog(debugged, fpga_tap=True),
    )
    return [*designs, debug]


def row(flow: Flow) -> dict[str, Any]:
    """Cells of a subject without the harness's."""
    counts = ecp5_counts(cell_types(flow.netlist["modules"][HARNESS_MODULE]))
    harness = flow.harness_cells
    counts["COMB"] -= harness.luts
    counts["FF"] -= harness.flip_flops
    return {"design": flow.subject.name, **{name: counts[name] for name in COLUMNS}}


def content(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is kept."""
    return {"config": {"core": dict(BASE), "tools": tool_versions()}, "rows": list(rows)}


def table(kept: Mapping[str, Any]) -> str:
    """Markdown: the core as it is, and what the others have more than that."""
    base, *options, debug = kept["rows"]
    more = [
        [option["design"], *(_change(option[name] - base[name]) for name in COLUMNS)]
        for option in options
    ]
    lines = [
        ["", *COLUMNS],
        [base["design"], *(f"{base[name]:,}" for name in COLUMNS)],
        *more,
        [debug["design"], *(_change(debug[name]) for name in COLUMNS)],
    ]
    return "\n".join([*markdown(lines), "", f"{tools_text(kept['config']['tools'])}.", ""])


def _change(cells: int) -> str:
    return f"{cells:+,}" if cells else ""


def update(kept: Mapping[str, Any]) -> None:
    """Keep the results, and write them into the manual's table."""
    keep(kept, GOLDEN, MANUAL, {MARKER: table(kept)})
