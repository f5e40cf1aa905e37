"""Reading what has been emitted for a board: ports, pins and clocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tierv.boards.board import Board, Family, with_bios
from tierv.boards.project import Project, emit, fill, pattern_images
from tierv.boards.registry import BOARDS

#: The boards, and those with external memory once more with a BIOS.
VARIANTS = BOARDS | {
    variant.name: variant
    for variant in (with_bios(board) for board in BOARDS.values() if board.memory is not None)
}
#: With a BIOS, and in the size of their firmware, these are like other boards, and take their turn
#: with the slow tests.
LIKE_OTHERS = ("arty_a7_100", "de2_115", "de10_nano", "versa_ecp5")
_PORT = re.compile(r"^\s*(?:input|output|inout)\s+(?:wire|reg)\s+(?:\[(\d+):0\])?\s*(\w+),?$", re.M)
#: Clocks that are just another name: of registers at the pins of an SDRAM, of the oscillator.
_SAME = re.compile(r"^assign (sdrio_clk\w*|por_clk) = (\w+);$", re.M)
_CLOCK = re.compile(r"always @\(posedge (\w+)\)")
#: By suffix of the file: pins, then IO standards, then clocks with their numbers.
_PATTERNS = {
    ".lpf": (
        r'LOCATE COMP "([^"]+)" SITE "([^"]+)"',
        r'IOBUF PORT "([^"]+)" IO_TYPE=(\S+);',
        r'FREQUENCY PORT "([^"]+)" ([\d.]+) MHz',
    ),
    ".xdc": (
        r"set_property LOC (?P<value>\S+) \[get_ports \{(?P<name>[^}]+)\}",
        r"set_property IOSTANDARD (?P<value>\S+) \[get_ports \{(?P<name>[^}]+)\}",
        r"create_clock -name (\S+) -period ([\d.]+)",
    ),
    ".qsf": (
        r'set_location_assignment -comment "[^"]*" -to (\S+) Pin_(\S+)',
        r'-name io_standard -comment "[^"]*" "(?P<value>[^"]+)" -to (?P<name>\S+)',
        r"create_clock -name (\S+) -period ([\d.]+)",
    ),
}


@dataclass(frozen=True)
class Constraints:
    """What the files of constraints say: by name of a port, and of a clock."""

    pins: dict[str, str]
    standards: dict[str, str]
    #: Frequencies in MHz.
    clocks_mhz: dict[str, float]


@cache
def emitted(board: Board) -> Project:
    """The board's project, with a pattern in the local memories."""
    project = emit(board)
    fill(project, pattern_images(project.memory_bytes))
    return project


def ports(project: Project) -> set[str]:
    """Ports of the top module; those of a vector by bit."""
    text = project.source(".v").read_text()
    header = text[text.index(f"\nmodule {project.board.name} (") :].partition(");")[0]
    names = set()
    for last, name in _PORT.findall(header):
        names |= {f"{name}[{bit}]" for bit in range(int(last) + 1)} if last else {name}
    return names


def clocks(project: Project) -> set[str]:
    """Clocks of the top module's registers, by the name that is not just another's."""
    text = project.source(".v").read_text()
    same = dict(_SAME.findall(text))
    names = set(_CLOCK.findall(text))
    while others := names & same.keys():
        names = names - others | {same[name] for name in others}
    return names


def _pairs(pattern: str, text: str) -> list[tuple[str, str]]:
    found = re.finditer(pattern, text)
    return [(one["name"], one["value"]) if one.groupdict() else one.groups() for one in found]


def constraints(project: Project) -> Constraints:
    """Read the constraints, whichever tool they are for."""
    suffix = {Family.ARTIX7: ".xdc", Family.ECP5: ".lpf"}.get(project.board.family, ".qsf")
    text = project.source(suffix).read_text()
    clock_text = project.source(".sdc").read_text() if suffix == ".qsf" else text
    pins, standards, clock = _PATTERNS[suffix]
    numbers = {name: float(number) for name, number in _pairs(clock, clock_text)}
    if suffix != ".lpf":
        numbers = {name: 1e3 / period for name, period in numbers.items()}
    return Constraints(dict(_pairs(pins, text)), dict(_pairs(standards, text)), numbers)


def files_of(project: Project) -> set[Path]:
    """Files that the project's scripts and Verilog name."""
    named = set()
    for path in project.gateware.iterdir():
        text = path.read_text()
        if path.suffix == ".v":
            named |= set(re.findall(r'\$readmemh\("([^"]+)"', text))
            named |= set(re.findall(r'\.CONTENT\("([^"]+)"\)', text))
        elif path.suffix == ".tcl":
            named |= set(re.findall(r"^read_(?:verilog|xdc) \{?([^}\s]+)", text, re.M))
        elif path.suffix == ".qsf":
            named |= set(re.findall(r"_FILE (\S+)", text))
        elif path.suffix == ".ys":
            named |= set(re.findall(r"^read_verilog (\S+)", text, re.M))
    return {project.gateware / name for name in named}
