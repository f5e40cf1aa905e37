"""The README's tables of boards, made from the boards themselves and from what was routed."""

from __future__ import annotations

import json
from pathlib import Path

from tierv.sim.json_files import read_json
from tierv.sim.pages import README, keep
from tierv.sim.synthesis.flow import OPTIMISED_BEFORE

from .board import Board, Family, Phy, with_bios
from .ecp5 import SEEDS_TEXT, Ecp5Flow, Routed, read_report
from .project import Project
from .registry import BOARDS, find_variant, variants

GOLDEN = Path(__file__).resolve().parent / "golden.json"
_KIB, _MIB = 1 << 10, 1 << 20
#: What LiteDRAM's types are called.
_TYPES = {"SDR": "SDRAM", "DDR3": "DDR3"}


def _what_works(board: Board) -> str:
    if board.phy is Phy.NONE:
        return "no Ethernet"
    return f"{board.phy.value}; {board.soc.local_ip}"


def _memories(board: Board) -> str:
    soc = board.soc
    sizes = [soc.itcm_bytes, soc.dtcm_bytes, *([soc.main_ram_bytes] if soc.main_ram_bytes else [])]
    return " + ".join(str(size // _KIB) for size in sizes)


def boards_table() -> str:
    """Markdown with what works on each board and what goes where."""
    lines = [
        "| `BOARD=` | board, FPGA, clock | Ethernet | console | serial ports: transmit, receive"
        " | code + data + main memory, KiB | set on the board |",
        "|---|---|---|---|---|---|---|",
    ]
    for board in BOARDS.values():
        ports = "; ".join(f"{index}: {pins.where}" for index, pins in enumerate(board.serial))
        clock = f"{board.soc.sys_clk_hz / 1e6:g} MHz"
        lines.append(
            f"| `{board.name}` | {board.title}, {board.family.value}, {clock} |"
            f" {_what_works(board)} | {board.console_where} | {ports} | {_memories(board)} |"
            f" {board.jumpers} |"
        )
    return "\n".join(lines) + "\n"


def _flash(board: Board) -> str:
    if board.flash is None:
        return "no"
    program = board.flash.program_offset // _MIB
    return f"{board.flash.module().total_size // _MIB} MiB, program at {program}"


def bios_table() -> str:
    """Markdown with what each board is with a BIOS: memory, caches, local memories, flash."""
    lines = [
        "| `BOARD=` | clock | `main_ram` | caches, local memories: code + data, KiB | SPI flash |",
        "|---|---:|---|---|---|",
    ]
    for board in map(with_bios, (board for board in BOARDS.values() if board.memory is not None)):
        soc, memory = board.soc, board.memory
        added = "" if memory.where is None else f": {memory.where}"
        lines.append(
            f"| `{board.base_name}` | {soc.sys_clk_hz / 1e6:g} MHz |"
            f" {memory.total_bytes // _MIB} MiB, {_TYPES[memory.module.memtype]}{added} |"
            f" {soc.icache_bytes // _KIB} + {soc.dcache_bytes // _KIB},"
            f" {soc.itcm_bytes // _KIB} + {soc.dtcm_bytes // _KIB} | {_flash(board)} |"
        )
    return "\n".join(lines) + "\n"


def routed_table(results: dict[str, dict]) -> str:
    """Markdown with the clocks and cells of boards that have been placed and routed."""
    if not results:
        return "None so far.\n"
    lines = [
        "| built with | clocks, reached of wanted (MHz) | COMB | RAMW | FF | EBR | MULT |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, result in results.items():
        clocks = ", ".join(
            f"{clock} {reached:.1f} of {wanted:.1f}"
            for clock, (reached, wanted) in result["clocks"].items()
        )
        cells = " | ".join(
            f"{result['cells'][cell][0]:,} of {result['cells'][cell][1]:,}"
            for cell in ("COMB", "RAMW", "FF", "EBR", "MULT")
        )
        mark = f", {OPTIMISED_BEFORE}" if result.get(OPTIMISED_BEFORE) else ""
        lines.append(f"| `{find_variant(name).make_arguments}`{mark} | {clocks} | {cells} |")
    tools = {tool for result in results.values() for tool in result["tools"]}
    return "\n".join([*lines, "", f"{', '.join(sorted(tools))}; {SEEDS_TEXT}."]) + "\n"


def _result(flow: Ecp5Flow, routed: Routed) -> dict:
    versions = json.loads(flow.tools.read_text())
    return {
        "clocks": {clock.name: (clock.reached, clock.wanted) for clock in routed.clocks},
        "cells": dict(routed.cells),
        OPTIMISED_BEFORE: flow.optimised_before,
        "tools": [f"{name} {version}" for name, version in versions.items()],
    }


def update() -> None:
    """Keep the reports of the boards that have been routed, and write the README's tables."""
    results = read_json(GOLDEN) if GOLDEN.exists() else {}
    for way in (way for board in BOARDS.values() for way in variants(board)):
        flow = Ecp5Flow(Project(way))
        # Without the tools' versions it is not known what a report is of.
        if way.family is Family.ECP5 and flow.report.exists() and flow.tools.exists():
            routed = read_report(flow.report.read_text())
            # What misses a clock has no bitstream.
            if not routed.missed:
                results[way.name] = _result(flow, routed)
    tables = {
        "boards": boards_table(),
        "boards with a BIOS": bios_table(),
        "routed boards": routed_table(results),
    }
    keep(results, GOLDEN, README, tables)
