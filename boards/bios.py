"""LiteX's BIOS for a board with external memory.

Run as a program, with a board's name and addresses as JSON, and a folder, it does LiteX's part,
which talks a lot and may not return after an error.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
import struct
import sys
from pathlib import Path

from litex.soc.integration.builder import Builder

from tierv.sim.bios import check_tools, run_litex
from tierv.sim.paths import BuildError, step

from .board import Board
from .registry import find_variant
from .soc import BoardSoC

#: Parameters of the SoC that a board's name does not tell.
_ADDRESSES = ("mac_address", "local_ip")


def build_bios(board: Board, folder: Path) -> list[int]:
    """The words of the BIOS for a board that ``with_bios`` gave, built in a folder of its own.

    Raises ``BuildError`` if a tool is missing or fails, or if the BIOS does not fit its memory.
    """
    check_tools()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with step(f"LiteX BIOS for {board.name}"):
        addresses = {name: getattr(board.soc, name) for name in _ADDRESSES}
        run_litex(__name__, json.dumps({"name": board.name, **addresses}), folder)
    image = (folder / "software/bios/bios.bin").read_bytes()
    if len(image) > board.soc.rom_bytes:
        raise BuildError(
            f"the BIOS of {board.name} must fit into {board.soc.rom_bytes} bytes of ROM,"
            f" not take {len(image)}"
        )
    return [word for (word,) in struct.iter_unpack("<I", image + bytes(-len(image) % 4))]


def _build_here(name: str, folder: Path, **addresses: str) -> None:
    board = find_variant(name)
    board = dataclasses.replace(board, soc=dataclasses.replace(board.soc, **addresses))
    builder = Builder(
        BoardSoC(board, board.platform()), output_dir=str(folder), compile_gateware=False
    )
    builder.build(run=False)


if __name__ == "__main__":
    _build_here(folder=Path(sys.argv[2]), **json.loads(sys.argv[1]))
