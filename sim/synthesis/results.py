"""What the runs say: rows, the figures that matter, the verdict, and the README's table."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..cores.report import GOLDEN as CORE_GOLDEN
from ..experiments.report import cell, check_folder, results_folder
from ..json_files import read_json, write_json
from ..pages import README, keep, markdown
from .flow import DEVICE, OPTIMISED_BEFORE, PLACEMENT, Flow, Routed, tool_versions, tools_text
from .subjects import CORE, PLAIN_CORE, Subject

#: The results that the README shows, kept with the sources.
GOLDEN = Path(__file__).resolve().parent / "golden.json"
#: Name of the README's table.
MARKER = "synthesis"
#: N = 3 may be so much slower than N = 1.
LEAST_RATIO = 0.95
TITLE = "Size and clock"
REFERENCE = (
    "VexRiscv standard 3,416 COMB and 80.2 MHz, full 3,994 and 80.9, Lite 2,960 and 82.3,"
    " PicoRV32 3,602 and 85.6, on the same device"
)
#: CoreMark at the ECP5 clock that others have found for cores of one issue a cycle.
KNOWN_COREMARKS = {"VexRiscv": 182, "Hazard3": 132}
PASS_LINE = (
    "the clock of three tiers with memories is not below VexRiscv standard's, nor is CoreMark at"
    " it, which is above what is known of VexRiscv and Hazard3, and within 5 % of one tier's; three"
    " are below VexRiscv full in area; eight take no more block RAM than one"
)
#: Columns of other families in the README.
_COUNTED = ("Artix-7 LUT + RAM / FF", "Cyclone V ALUT")
_FAMILY_TITLES = {"xilinx": "Artix-7", "intel_alm": "Cyclone V"}

#: What of a result's configuration is the flow's, not the core's.
_FLOW = ("device", "placement", "seeds", "tools")
#: Parameters of the cores that the README shows, beside tiers and what "plain" is without.
USUAL: Mapping[str, Any] = {"lines": 8, "counters": True}

Row = Mapping[str, Any]


def row(flow: Flow, routed: Sequence[Routed], families: Sequence[str]) -> dict[str, Any]:
    """Everything measured of one subject. COMB, LUT and FF are without the harness's."""
    subject: Subject = flow.subject
    harness = flow.harness_cells
    middle = sorted(routed, key=lambda one: one.mhz)[(len(routed) - 1) // 2]
    result = {
        "design": subject.name,
        "tiers": subject.tiers,
        "memories": subject.with_memories,
        OPTIMISED_BEFORE: flow.optimised_before,
        "MHz": round(statistics.median(one.mhz for one in routed), 2),
        "MHz of each seed": [round(one.mhz, 2) for one in routed],
        "COMB": middle.used["COMB"] - harness.luts,
        "RAMW": middle.used["RAMW"],
        "FF": middle.used["FF"] - harness.flip_flops,
        "EBR": middle.used["EBR"],
        "MULT": middle.used["MULT"],
        "harness COMB": harness.luts,
        "harness FF": harness.flip_flops,
    }
    for family in families:
        for name, count in flow.counts(family).items():
            result[f"{_FAMILY_TITLES[family]} {name}"] = count
    return result


def _find(rows: Sequence[Row], column: str, design: str, **keys: Any) -> float | None:
    for one in rows:
        if one["design"] == design and all(one[name] == value for name, value in keys.items()):
            return one[column]
    return None


@dataclass(frozen=True)
class Condition:
    """A part of the pass line; ``holds`` is None if it has not been measured."""

    text: str
    holds: bool | None


def conditions(rows: Sequence[Row], speeds: Mapping[str, float]) -> list[Condition]:
    """The parts of the pass line, as far as these rows, and speeds at the clock, tell."""

    def compared(text: str, one: float | None, other: float | None, most: bool) -> Condition:
        if one is None or other is None:
            return Condition(f"{text}: not measured", None)
        holds = one <= other if most else one >= other
        return Condition(f"{text}: {cell(one)} and {cell(other)}", holds)

    def core(column: str, tiers: int, memories: bool) -> float | None:
        return _find(rows, column, CORE, tiers=tiers, memories=memories)

    full = _find(rows, "COMB", "VexRiscv full")
    one = core("MHz", 1, True)
    least = None if one is None else LEAST_RATIO * one
    three = core("MHz", 3, True)
    coremark = speeds.get(_at_clock_name("TierV N=3", "CoreMark"))
    return [
        compared(
            "clock of three tiers with memories not below VexRiscv standard's (MHz)",
            three,
            _find(rows, "MHz", "VexRiscv standard"),
            False,
        ),
        compared(
            "clock of three tiers with memories not below 95 % of one's (MHz)", three, least, False
        ),
        compared(
            "CoreMark of three tiers with memories at their clock not below VexRiscv standard's at"
            " its",
            coremark,
            speeds.get(_at_clock_name("VexRiscv standard", "CoreMark")),
            False,
        ),
        *(
            compared(f"the same not below {name}'s in another bench", coremark, known, False)
            for name, known in KNOWN_COREMARKS.items()
        ),
        compared("three tiers not above VexRiscv full (COMB)", core("COMB", 3, False), full, True),
        compared(
            "three tiers without monitors and time stamps not above VexRiscv full (COMB)",
            _find(rows, "COMB", PLAIN_CORE, tiers=3, memories=False),
            full,
            True,
        ),
        compared(
            "eight tiers with no more block RAM than one",
            core("EBR", 8, True),
            core("EBR", 1, True),
            True,
        ),
    ]


def label(one: Row) -> str:
    """What headlines call a row; without the memories, what ``make bench-core`` calls the core."""
    tiers = "" if one["tiers"] is None else f" N={one['tiers']}"
    return f"{one['design']}{tiers}{' with memories' if one['memories'] else ''}"


def core_results() -> Mapping[str, Any]:
    """The content of the last ``make bench-core`` here, or else of what the README shows of it.

    Raises ``ValueError`` naming a file that is damaged.
    """
    path = results_folder() / "core.json"
    return read_json(path if path.exists() else CORE_GOLDEN)


def at_clock(rows: Sequence[Row], core: Mapping[str, Any]) -> dict[str, float]:
    """CoreMark and Dhrystone MIPS at the ECP5 clock: each figure per MHz times the clock.

    ``core`` is the content of the result of ``make bench-core``. The core's clock is that with its
    memories, for the cycles were counted with them.
    """
    clocks = {
        label(one | {"memories": False}): one["MHz"]
        for one in rows
        if one["memories"] or one["tiers"] is None
    }
    result = {}
    for figure in ("CoreMark", "DMIPS"):
        for one in core["rows"]:
            if f"{figure}/MHz" in one and one["core"] in clocks:
                result[_at_clock_name(one["core"], figure)] = (
                    one[f"{figure}/MHz"] * clocks[one["core"]]
                )
    return result


def _at_clock_name(core: str, figure: str) -> str:
    return f"{core} {figure} at the ECP5 clock"


def configuration(seeds: Sequence[int], options: Mapping[str, Any]) -> dict[str, Any]:
    """What is measured with: the flow as it is here, and the parameters that are ``options``."""
    return {
        "device": " ".join(DEVICE),
        "placement": " ".join(PLACEMENT),
        "seeds": list(seeds),
        "tools": tool_versions(),
        **options,
    }


def outcome(rows: Sequence[Row], config: Mapping[str, Any]) -> dict:
    """The content of ``synth.json``: the form of the experiments' results."""
    speeds = at_clock(rows, core_results())
    judged = conditions(rows, speeds)
    headline = {f"{label(one)} (MHz)": one["MHz"] for one in rows}
    return {
        "experiment": "synth",
        "title": TITLE,
        "reference": REFERENCE,
        "config": config,
        "rows": rows,
        "headline": headline | speeds,
        "pass_line": PASS_LINE,
        "conditions": {one.text: one.holds for one in judged},
        "passed": all(one.holds for one in judged),
    }


def write(content: Mapping[str, Any]) -> Path:
    """Write ``synth.json`` to the folder of results; returns its path."""
    check_folder()
    path = results_folder() / "synth.json"
    write_json(path, content, indent=2)
    return path


def table(content: Mapping[str, Any]) -> str:
    """Markdown for the README."""
    lines = [["", "MHz", "COMB", "RAMW", "FF", "EBR", *_COUNTED]]
    for one in content["rows"]:
        artix = alut = ""
        if "Artix-7 LUT" in one:
            luts, rams, flip_flops = (one[f"Artix-7 {name}"] for name in ("LUT", "LUT RAM", "FF"))
            artix = f"{luts:,} + {rams} / {flip_flops:,}"
            alut = f"{one['Cyclone V ALUT'] + one['Cyclone V ALUT arithmetic']:,}"
        used = (f"{one['COMB']:,}", str(one["RAMW"]), f"{one['FF']:,}", str(one["EBR"]))
        name = label(one) + (f", {OPTIMISED_BEFORE}" if one.get(OPTIMISED_BEFORE) else "")
        lines.append([name, f"{one['MHz']:.1f}", *used, artix, alut])
    config = content["config"]
    seeds = len(config["seeds"])
    below = f"{tools_text(config['tools'])}; {seeds} seed{'s' if seeds > 1 else ''}, median."
    text = [*markdown(lines), "", below]
    for condition, holds in content["conditions"].items():
        verdict = {True: "holds", False: "**does not hold**", None: "open"}[holds]
        text.append(f"- {condition}: {verdict}")
    return "\n".join([*text, ""])


def _listed(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in options.items())


def with_known_peers(content: Mapping[str, Any], known: Mapping[str, Any]) -> dict:
    """The results, with the rows of peers that were not measured, if these were so before with the
    same tools, device, placement and seeds: peers do not change."""
    config, before = content["config"], known["config"]
    if any(config[name] != before[name] for name in _FLOW):
        return dict(content)
    measured = {one["design"] for one in content["rows"]}
    peers = [one for one in known["rows"] if one["tiers"] is None and one["design"] not in measured]
    return outcome([*content["rows"], *peers], config)


def update_readme() -> None:
    """Keep the last results, and write them into the README's table.

    Raises ``ValueError`` if there are none, if some that are shown there are missing, or if they
    are of other cores than those: the table does not tell.
    """
    path = results_folder() / "synth.json"
    if not path.exists():
        raise ValueError(f"there is no result in {path}: run make synth")
    measured = read_json(path)
    options = {name: value for name, value in measured["config"].items() if name not in _FLOW}
    if options != USUAL:
        raise ValueError(
            f"the results in {path} are of cores with {_listed(options)}; the README's have"
            f" {_listed(USUAL)}: run make synth without options for parameters"
        )
    kept = read_json(GOLDEN)
    content = with_known_peers(measured, kept)
    missing = sorted({label(one) for one in kept["rows"]} - {label(one) for one in content["rows"]})
    if missing:
        raise ValueError(f"{path} must have a row of {', '.join(missing)} too: run make synth")
    keep(content, GOLDEN, README, {MARKER: table(content)})
