"""Putting a bitstream into an FPGA or its flash."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tierv.sim.paths import BuildError

from .board import Board, Family
from .flash_image import flash_of
from .vendor import MissingToolError

_OPEN_LOADER = "openFPGALoader"
_INSTALL = {
    _OPEN_LOADER: "apt-get install openfpgaloader",
    "quartus_pgm": "Intel Quartus Prime Programmer, and put its folder on PATH",
    "quartus_cpf": "Intel Quartus Prime, and put its folder on PATH",
}


def load_commands(board: Board, bitstream: Path) -> list[list[str]]:
    """What loads a bitstream into the FPGA, until it loses power."""
    if board.family in (Family.CYCLONE4, Family.CYCLONE5):
        # The hard processor of a Cyclone V SoC comes first in the chain.
        position = "@2" if board.family is Family.CYCLONE5 else ""
        return [["quartus_pgm", "-m", "jtag", "-o", f"p;{bitstream}{position}"]]
    return [[_OPEN_LOADER, *board.loader, str(bitstream)]]


def flash_commands(board: Board, bitstream: Path) -> list[list[str]]:
    """What writes a bitstream to the flash from which the FPGA starts.

    Raises ``ValueError`` for a board without such a flash.
    """
    if board.family in (Family.CYCLONE4, Family.CYCLONE5):
        if board.jic is None:
            raise ValueError(f"board must have a flash to write to, which {board.name} has not")
        flash, device = board.jic
        image = bitstream.with_suffix(".jic")
        position = "@2" if board.family is Family.CYCLONE5 else ""
        return [
            ["quartus_cpf", "-c", "-d", flash, "-s", device, str(bitstream), str(image)],
            ["quartus_pgm", "-m", "jtag", "-o", f"ipv;{image}{position}"],
        ]
    return [[_OPEN_LOADER, *board.loader, "--write-flash", str(bitstream)]]


def program_commands(board: Board, image: Path) -> list[list[str]]:
    """What writes a program that the BIOS boots to the same flash.

    Raises ``ValueError`` for a board without a flash that a BIOS reads.
    """
    offset = f"{flash_of(board).program_offset:#x}"
    return [[_OPEN_LOADER, *board.loader, "--write-flash", "--offset", offset, str(image)]]


def run(commands: Sequence[Sequence[str]], board: Board, bitstream: Path) -> None:
    """Run the commands with the user watching.

    Raises ``BuildError`` without a bitstream or if one fails, ``MissingToolError`` for a program
    that is not installed.
    """
    if not bitstream.exists():
        raise BuildError(f"there is no {bitstream}: make bitstream {board.make_arguments}")
    for command in commands:
        program = command[0]
        if shutil.which(program) is None:
            raise MissingToolError(f"{program} is not installed; install: {_INSTALL[program]}")
    for command in commands:
        status = subprocess.run(command, check=False).returncode
        if status:
            raise BuildError(
                f"{command[0]} failed ({status}): is {board.title} connected and switched on,"
                " and may you use its USB device?"
            )
