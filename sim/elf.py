"""Programs for the simulated SoC: segments to load, and symbols by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from .debug_info import NotInProgramError, member
from .records import DTYPES


@dataclass(frozen=True)
class Segment:
    """Bytes of a program: where they are loaded, and where the program expects them."""

    load_address: int
    run_address: int
    data: bytes


@dataclass(frozen=True)
class Symbol:
    """Address and size in bytes of a variable or function, and the section that it is in."""

    address: int
    size: int
    section: str


class Program:
    """An executable file.

    An ELF file has segments and symbols; with ``address`` the file is taken as plain bytes for
    there. Raises ``ValueError`` for an ELF file that is damaged or not for 32-bit RISC-V with the
    least significant byte first.
    """

    def __init__(self, path: Path | str, address: int | None = None) -> None:
        self.path = Path(path)
        self.symbols: dict[str, Symbol] = {}
        #: Names that several variables have.
        self._ambiguous: set[str] = set()
        #: What the segments occupy where they are loaded, zeros that follow them included.
        self.extents: list[range] = []
        if address is not None:
            self.entry = address
            self.segments = [Segment(address, address, self.path.read_bytes())]
            self.extents = [range(address, address + len(self.segments[0].data))]
            return
        with self.path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                raise ValueError(f"firmware must be an ELF file, not {self.path}")
            file.seek(0)
            try:
                self._read_elf(ELFFile(file))
            # The last is what a string table that is not there raises.
            except (ELFError, TypeError) as error:
                raise ValueError(f"firmware {self.path} is damaged: {error}") from error

    def _read_elf(self, elf: ELFFile) -> None:
        if elf["e_machine"] != "EM_RISCV" or elf.elfclass != 32 or not elf.little_endian:
            raise ValueError(f"firmware must be for little-endian 32-bit RISC-V, not {self.path}")
        self.entry = elf["e_entry"]
        self.segments = []
        for segment in elf.iter_segments("PT_LOAD"):
            data = segment.data()
            if len(data) != segment["p_filesz"]:
                raise ELFError(f"it ends within the segment for {segment['p_paddr']:#x}")
            if len(data) > segment["p_memsz"]:
                raise ELFError(f"the segment for {segment['p_paddr']:#x} exceeds its memory")
            if data:
                self.segments.append(Segment(segment["p_paddr"], segment["p_vaddr"], data))
        self.extents = [
            range(segment["p_paddr"], segment["p_paddr"] + segment["p_memsz"])
            for segment in elf.iter_segments("PT_LOAD")
            if segment["p_memsz"]
        ]
        if not self.extents:
            raise ValueError(f"firmware {self.path} has nothing to load")
        for section in elf.iter_sections():
            if isinstance(section, SymbolTableSection):
                self._read_symbols(elf, section)

    def _read_symbols(self, elf: ELFFile, table: SymbolTableSection) -> None:
        for symbol in table.iter_symbols():
            where = symbol["st_shndx"]
            if where == "SHN_UNDEF" or not symbol.name:
                continue
            section = elf.get_section(where).name if isinstance(where, int) else ""
            found = Symbol(symbol["st_value"], symbol["st_size"], section)
            is_data = symbol["st_info"]["type"] == "STT_OBJECT"
            if is_data and self.symbols.get(symbol.name, found) != found:
                self._ambiguous.add(symbol.name)
            self.symbols[symbol.name] = found

    def symbol(self, name: str) -> Symbol:
        """A variable or function, or ``variable.member.member`` of a structure.

        Raises ``NotInProgramError`` if the program has no such symbol, several variables of that
        name, or no such member.
        """
        variable, *members = name.split(".")
        whole = name if name in self.symbols else variable
        if whole in self._ambiguous:
            raise NotInProgramError(f"{self.path.name} has several variables {whole!r}")
        try:
            symbol = self.symbols[whole]
        except KeyError:
            raise NotInProgramError(f"{self.path.name} has no symbol {name!r}") from None
        if name in self.symbols:
            return symbol
        offset, size = member(self.path, variable, tuple(members))
        return Symbol(symbol.address + offset, size, symbol.section)

    def assignment(self, name: str, value: int | bytes) -> tuple[int, bytes]:
        """Where the initial value of a variable is loaded, and the bytes that set it to ``value``.

        A number is for a variable of 32 bits. Raises ``ValueError`` for a value that does not fit,
        and for a variable that start-up code clears (one in ``.bss``).
        """
        symbol = self.symbol(name)
        if isinstance(value, int) and not -(1 << 31) <= value < 1 << 32:
            raise ValueError(f"{name} must be from -2**31 to 2**32 - 1, not {value}")
        data = value if isinstance(value, bytes) else (value & 0xFFFF_FFFF).to_bytes(4, "little")
        fits = len(data) <= symbol.size if isinstance(value, bytes) else symbol.size in (0, 4)
        if not fits:
            raise ValueError(f"{name} has {symbol.size} bytes and can't be set to {len(data)}")
        if symbol.section == ".noinit":
            return symbol.address, data
        for segment in self.segments:
            offset = symbol.address - segment.run_address
            if 0 <= offset <= len(segment.data) - len(data):
                return segment.load_address + offset, data
        raise ValueError(f"{name} has no initial value to set: give it one other than 0")

    def word(self, address: int) -> int:
        """The 32 bits where the program expects them, or 0 if it has none there."""
        for segment in self.segments:
            offset = address - segment.run_address
            if 0 <= offset <= len(segment.data) - 4:
                return int.from_bytes(segment.data[offset : offset + 4], "little")
        return 0

    def covers(self, address: int) -> bool:
        """True if the program has a byte for the address."""
        return any(
            segment.load_address <= address < segment.load_address + len(segment.data)
            for segment in self.segments
        )


def jump_to(target: int) -> bytes:
    """RISC-V code, for any place, that jumps to an absolute address."""
    # lui t0, upper; jalr zero, lower(t0): the lower half is signed.
    upper = (target + 0x800) & 0xFFFF_F000
    lower = (target - upper) & 0xFFF
    words = (upper | 0x2B7, lower << 20 | 0x0002_8067)
    return b"".join(word.to_bytes(4, "little") for word in words)


def encode_image(segments: list[tuple[int, bytes]]) -> bytes:
    """The harness's image file of (address, bytes)."""
    parts = []
    for address, data in segments:
        parts.append(np.array((address, len(data)), DTYPES["Segment"]).tobytes() + data)
    return b"".join(parts)
