"""The complete project of a board for its FPGA's tools, with the firmware in it."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litex.build.generic_platform import GenericPlatform

from tierv.sim.elf import Program
from tierv.sim.firmware import compile_firmware
from tierv.sim.paths import BuildError, build_root
from tierv.soc import map as soc_map
from tierv.soc.cpu.filled import hex_files
from tierv.soc.export import export
from tierv.soc.soc import quiet_litex_logs

from .bios import build_bios
from .board import Board, Family
from .soc import BoardSoC

#: Files that the tools of a project read, beside Verilog and memory contents.
SCRIPTS = (".tcl", ".xdc", ".qsf", ".sdc", ".ys", ".lpf", ".sh")
#: Of LiteX's tool chains; nextpnr is to fail for a missed clock.
_TOOL_OPTIONS = {Family.ECP5: {"abc9": True, "timingstrict": True}}
#: Of the contents that stand for the firmware until it is put into a placed and routed design.
_PATTERN_SEED = 1


@dataclass(frozen=True)
class Project:
    """Where what belongs to a board is built."""

    board: Board

    @property
    def folder(self) -> Path:
        """Folder of everything about the board."""
        return build_root() / "boards" / self.board.name

    @property
    def memory_bytes(self) -> dict[str, int]:
        """Sizes of the local memories."""
        return {"itcm": self.board.soc.itcm_bytes, "dtcm": self.board.soc.dtcm_bytes}

    @property
    def gateware(self) -> Path:
        """Folder of the project: everything that the FPGA's tools read, by relative names."""
        return self.folder / "gateware"

    @property
    def include(self) -> Path:
        """Folder for firmware's include path."""
        return self.folder / "soc/include"

    @property
    def bios(self) -> Path:
        """Folder in which the BIOS is built."""
        return self.folder / "bios"

    @property
    def program(self) -> Path:
        """The firmware that is built for the board."""
        return self.folder / "firmware" / f"{self.board.app}.elf"

    def source(self, suffix: str) -> Path:
        """The file of the project with this suffix."""
        return self.gateware / f"{self.board.name}{suffix}"


def _quiet() -> None:
    quiet_litex_logs()
    for name in ("S7PLL", "ECP5PLL", "CycloneIVPLL", "CycloneVPLL"):
        logging.getLogger(name).setLevel(logging.WARNING)


def _make_relative(gateware: Path) -> None:
    """Name files of the project without its folder, so that it can be moved."""
    for path in gateware.iterdir():
        if path.suffix in SCRIPTS:
            text = path.read_text()
            path.write_text(text.replace(f"{gateware.resolve()}{os.sep}", ""))


def _copy_sources(platform: GenericPlatform, gateware: Path) -> None:
    """Take sources that are files of this package into the project."""
    platform.sources = [
        (str(shutil.copy(path, gateware.resolve())), *rest) for path, *rest in platform.sources
    ]


def emit(board: Board, rom: Sequence[int] = ()) -> Project:
    """Write the board's project, without firmware, to a folder that is emptied before.

    ``rom`` are words for the memory of this name, if the board has it.
    """
    project = Project(board)
    folder, gateware = project.folder, project.gateware
    shutil.rmtree(gateware, ignore_errors=True)
    gateware.mkdir(parents=True)
    _quiet()
    here = Path.cwd()
    chatter = io.StringIO()
    try:
        with contextlib.redirect_stdout(chatter), contextlib.redirect_stderr(chatter):
            platform = board.platform()
            platform.output_dir = str(folder)
            soc = BoardSoC(board, platform)
            if rom:
                soc.init_rom("rom", list(rom), auto_size=False)
            _copy_sources(platform, gateware)
            options = _TOOL_OPTIONS.get(board.family, {})
            soc.build(build_dir=str(gateware), build_name=board.name, run=False, **options)
            export(soc, folder / "soc")
    finally:
        os.chdir(here)
    _make_relative(gateware)
    return project


def build_program(project: Project) -> Program:
    """Compile the board's firmware. Raises ``BuildError`` without a project, or if that fails."""
    board = project.board
    if not project.include.exists():
        raise BuildError(
            f"there is no project in {project.folder}: make bitstream {board.make_arguments}"
        )
    return compile_firmware(
        board.app,
        board.soc,
        project.include,
        project.program.parent,
        defines=board.defines,
    )


def memory_images(program: Program, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """What the local memories contain for a program.

    Raises ``ValueError`` for a program with a part elsewhere, or that starts elsewhere.
    """
    images = {name: bytearray() for name in sizes}
    if program.entry != soc_map.ORIGINS["itcm"]:
        raise ValueError(
            f"firmware must start at {soc_map.ORIGINS['itcm']:#010x}, where the core does,"
            f" not at {program.entry:#010x}"
        )
    for segment in program.segments:
        first, last = segment.load_address, segment.load_address + len(segment.data)
        for name, image in images.items():
            base = soc_map.ORIGINS[name]
            if base <= first and last <= base + sizes[name]:
                image.extend(bytes(max(0, last - base - len(image))))
                image[first - base : last - base] = segment.data
                break
        else:
            raise ValueError(
                f"firmware must lie in the local memories, not at {first:#010x} to {last:#010x}"
            )
    return {name: bytes(image) for name, image in images.items()}


def pattern_images(sizes: Mapping[str, int]) -> dict[str, bytes]:
    """Contents that no two parts of the block RAMs share, by which they are found later."""
    numbers = random.Random(_PATTERN_SEED)
    return {name: numbers.randbytes(size) for name, size in sizes.items()}


def fill(project: Project, images: Mapping[str, bytes]) -> None:
    """Write what the local memories contain into the project, as files that its Verilog reads."""
    for name, text in hex_files(project.memory_bytes, images).items():
        (project.gateware / name).write_text(text)


def complete(board: Board) -> Project:
    """Emit the board's project with its firmware in it.

    For an ECP5 the memories of the project hold a pattern in its place: the firmware is put into
    the placed and routed design, which therefore does not depend on it. With a BIOS they hold
    nothing: what it loads fills them.
    """
    if board.soc.bios:
        project = emit(board, build_bios(board, Project(board).bios))
        fill(project, dict.fromkeys(project.memory_bytes, b""))
        return project
    project = emit(board)
    sizes = project.memory_bytes
    images = memory_images(build_program(project), sizes)
    fill(project, pattern_images(sizes) if board.family is Family.ECP5 else images)
    return project
