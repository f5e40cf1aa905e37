"""What LiteX's BIOS boots from a flash: a program behind its length and its check sum."""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

from tierv.soc.map import ORIGINS

from .board import Board, SpiFlash

#: Bytes that the BIOS takes for a program.
MIN_BYTES, MAX_BYTES = 32, 16 << 20
_HEADER = struct.Struct("<II")
_OBJCOPY = "riscv64-unknown-elf-objcopy"
_TO_BINARY = f"{_OBJCOPY} {{}}-O binary FILE program.bin makes one of it"
#: How files begin that are no raw binaries, what they are called, and what helps.
_OTHERS = (
    (rb"\x7fELF", "an ELF file", _TO_BINARY.format("")),
    (rb"\s*:[0-9A-Fa-f]{10,}\s", "an Intel HEX file", _TO_BINARY.format("-I ihex ")),
    (
        rb"\s*S[0-9][0-9A-Fa-f]{6,}\s",
        "a file of Motorola S-records",
        _TO_BINARY.format("-I srec "),
    ),
    (
        rb"\s*@[0-9A-Fa-f]+\s",
        "words in hexadecimal for Verilog",
        f"{_OBJCOPY} -O binary makes one of the ELF file",
    ),
    # Vivado's header or its synchronisation word, ecppack's header, Quartus'.
    (
        rb"\x00\x09\x0f\xf0\x0f\xf0|[\s\S]{,255}\xaa\x99\x55\x66|\xff\x00|SOF\x00",
        "a bitstream",
        "make flash without --program writes the board's own",
    ),
)


def flash_of(board: Board) -> SpiFlash:
    """Raises ``ValueError`` for a board without a flash that a BIOS reads."""
    if board.flash is None:
        raise ValueError(f"board must have a flash for a program, which {board.name} has not")
    return board.flash


def read_program(path: Path) -> bytes:
    """A program as it is to be in ``main_ram``.

    Raises ``ValueError`` for a file that looks like something else, and for one that is too large
    for every board.
    """
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{path} must have at most {MAX_BYTES} bytes, not {size}")
    program = path.read_bytes()
    for start, name, help_ in _OTHERS:
        if re.match(start, program):
            raise ValueError(
                f"{path} must be a raw binary that begins at {ORIGINS['main_ram']:#x}, not {name}:"
                f" {help_}"
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
