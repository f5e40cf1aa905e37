"""What LiteX's BIOS boots from a flash: a program behind its length and its check sum."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from tierv.soc.map import ORIGINS

from .board import Board, SpiFlash

#: Bytes that the BIOS takes for a program.
MIN_BYTES, MAX_BYTES = 32, 16 << 20
_HEADER = struct.Struct("<II")


def flash_of(board: Board) -> SpiFlash:
    """Raises ``ValueError`` for a board without a flash that a BIOS reads."""
    if board.flash is None:
        raise ValueError(f"board must have a flash for a program, which {board.name} has not")
    return board.flash


def read_program(path: Path) -> bytes:
    """A program as it is to be in ``main_ram``. Raises ``ValueError`` for an ELF file."""
    program = path.read_bytes()
    if program.startswith(b"\x7fELF"):
        raise ValueError(
            f"{path} must be a raw binary that begins at {ORIGINS['main_ram']:#x}, not an ELF file:"
            " riscv64-unknown-elf-objcopy -O binary makes one of it"
        )
    return program


def flash_image(board: Board, program: bytes) -> bytes:
    """What is to be in the board's flash from ``program_offset`` on.

    ``program`` is copied to the beginning of ``main_ram`` and begins there. Raises ``ValueError``
    for a board without such a flash, and for a program that the BIOS would not take or that does
    not fit.
    """
    flash = flash_of(board)
    module = flash.module()
    # What lies behind the addresses of the core for the flash can't be read.
    reach = min(module.total_size, 1 << module.addr_bits)
    room = reach - flash.program_offset - _HEADER.size
    most = min(room, MAX_BYTES)
    if not MIN_BYTES <= len(program) <= most:
        raise ValueError(
            f"program must have from {MIN_BYTES} to {most} bytes for the flash of {board.name},"
            f" not {len(program)}"
        )
    return _HEADER.pack(len(program), zlib.crc32(program)) + program
