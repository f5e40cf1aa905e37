"""Building with the vendors' tools, which are not free to distribute: they are called if there."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tierv.sim.paths import BuildError, run_logged, step

from .board import Family
from .ecp5 import TimingError
from .project import Project


@dataclass(frozen=True)
class Tool:
    """A vendor's tool: the program by which it is found, and what to install."""

    program: str
    install: str
    #: Endings of the file that is loaded, and of the report on timing.
    bitstream: str
    timing_report: str


_QUARTUS = Tool(
    program="quartus_map",
    install="Intel Quartus Prime Lite Edition with {family} device support, from Intel's download"
    " page, and put its folder quartus/bin on PATH",
    bitstream=".sof",
    timing_report=".sta.summary",
)
TOOLS = {
    Family.ARTIX7: Tool(
        program="vivado",
        install="AMD Vivado ML Standard Edition with {family} device support, from AMD's download"
        " page, and source its settings64.sh",
        bitstream=".bit",
        timing_report="_timing.rpt",
    ),
    Family.CYCLONE4: _QUARTUS,
    Family.CYCLONE5: _QUARTUS,
}
_VIVADO_MET = "All user specified timing constraints are met."
_QUARTUS_SLACK = re.compile(r"^Type\s*: (.+?)\s*\nSlack : (-?[\d.]+)", re.M)


class MissingToolError(BuildError):
    """A program that a user has to install; says which, and where what it needs lies."""


def check_vivado_timing(text: str) -> None:
    """Raises ``TimingError`` unless Vivado's timing summary says that everything is met."""
    if _VIVADO_MET not in text:
        raise TimingError("timing is not met, says Vivado's timing summary")


def check_quartus_timing(text: str) -> None:
    """Raises ``TimingError`` for a negative slack in the summary of Quartus, or one without any."""
    slacks = _QUARTUS_SLACK.findall(text)
    missed = [f"{what} {slack} ns" for what, slack in slacks if float(slack) < 0]
    if missed or not slacks:
        raise TimingError(f"timing is not met: {', '.join(missed) or 'no slack is reported'}")


def bitstream(project: Project) -> Path:
    """The file that the vendor's tool makes."""
    return project.source(TOOLS[project.board.family].bitstream)


def _check_timing(project: Project) -> None:
    is_vivado = project.board.family is Family.ARTIX7
    check = check_vivado_timing if is_vivado else check_quartus_timing
    check(project.source(TOOLS[project.board.family].timing_report).read_text())


def _building(project: Project) -> Path:
    """A file that is there while the tool runs, and after that if it was killed."""
    return project.gateware / "building"


def check_as_made(project: Project) -> None:
    """Raises ``TimingError`` if there is a report of the tool by which a clock is missed.

    The bitstream beside it may be one of the project's script alone, which does not mind. Raises
    ``BuildError`` if the tool was killed, with which a bitstream may be there before the report.
    """
    tool = TOOLS.get(project.board.family)
    if tool is None:
        return
    building = _building(project)
    if building.exists():
        raise BuildError(
            f"{tool.program} has not come to its end, since {building} is there: the bitstream may"
            f" miss a clock or be cut off; make bitstream {project.board.make_arguments}"
        )
    if project.source(tool.timing_report).exists():
        _check_timing(project)


def build(project: Project) -> Path:
    """Run the vendor's tool on the project; returns the bitstream. There is none if this fails.

    Raises ``MissingToolError`` if it is not installed, ``BuildError`` if it fails and
    ``TimingError`` for a missed clock.
    """
    board = project.board
    tool = TOOLS[board.family]
    script = project.gateware / f"build_{board.name}.sh"
    if shutil.which(tool.program) is None:
        raise MissingToolError(
            f"the project for {board.title} is complete, in {project.gateware}, but"
            f" {tool.program} is not installed: install"
            f" {tool.install.format(family=board.family.value)}; then do this again, or run"
            f" {script.name} in that folder, which can be moved to another machine"
        )
    made, building = bitstream(project), _building(project)
    building.touch()
    try:
        with step(f"{board.name}: {tool.program}"):
            run_logged(["bash", script.name], project.gateware / "build.log", cwd=project.gateware)
        _check_timing(project)
    except BaseException:
        # The tools write it before they know that a clock is missed, or while they are interrupted.
        made.unlink(missing_ok=True)
        raise
    finally:
        building.unlink(missing_ok=True)
    return made
