"""An RV32IM interpreter that counts instructions: what firmware code costs, whatever the core.

It runs one function of a statically linked ELF file at a time. It is strict where the target is:
misaligned accesses and accesses outside of what was given to it are errors.

Source: RISC-V ISA manual, volume I 20240411, chapters 2 and 13.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from elftools.elf.elffile import ELFFile

#: Where a called function returns to; nothing lies there.
_RETURN_ADDRESS = 0xFFFF_FFF0
_MASK = 0xFFFF_FFFF


class MachineError(Exception):
    """The program did what the target would not do. Says what and at which address."""


def _signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _divide(a: int, b: int) -> int:
    if b == 0:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a if b == 0 else a - _divide(a, b) * b


#: funct3 of OP with funct7 = 1, on the register values as unsigned numbers.
_MULTIPLY: list[Callable[[int, int], int]] = [
    lambda a, b: a * b,
    lambda a, b: _signed(a) * _signed(b) >> 32,
    lambda a, b: _signed(a) * b >> 32,
    lambda a, b: a * b >> 32,
    lambda a, b: _divide(_signed(a), _signed(b)),
    lambda a, b: a // b if b else _MASK,
    lambda a, b: _remainder(_signed(a), _signed(b)),
    lambda a, b: a % b if b else a,
]

#: funct3 of OP and OP-IMM with funct7 = 0.
_ALU: list[Callable[[int, int], int]] = [
    lambda a, b: a + b,
    lambda a, b: a << (b & 31),
    lambda a, b: int(_signed(a) < _signed(b)),
    lambda a, b: int(a < b),
    lambda a, b: a ^ b,
    lambda a, b: a >> (b & 31),
    lambda a, b: a | b,
    lambda a, b: a & b,
]

_BRANCH: dict[int, Callable[[int, int], bool]] = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    4: lambda a, b: _signed(a) < _signed(b),
    5: lambda a, b: _signed(a) >= _signed(b),
    6: lambda a, b: a < b,
    7: lambda a, b: a >= b,
}


class Machine:
    """A core with the memory of one ELF file.

    ``instructions`` counts those executed since the machine was made.
    """

    def __init__(self, elf: Path, *, stack_bytes: int = 4096) -> None:
        self.instructions = 0
        self.symbols: dict[str, int] = {}
        self._regions: list[tuple[int, bytearray]] = []
        self._registers = [0] * 32
        top = 0
        with elf.open("rb") as file:
            image = ELFFile(file)
            for segment in image.iter_segments("PT_LOAD"):
                data = bytearray(segment.data().ljust(segment["p_memsz"], b"\0"))
                self._regions.append((segment["p_vaddr"], data))
                top = max(top, segment["p_vaddr"] + len(data))
            for symbol in image.get_section_by_name(".symtab").iter_symbols():
                self.symbols[symbol.name] = symbol["st_value"]
        stack = (top + 0x1_0000) & ~0xFFFF
        self._regions.append((stack, bytearray(stack_bytes)))
        self._stack_top = stack + stack_bytes

    def _find(self, address: int, size: int, what: str) -> tuple[bytearray, int]:
        for base, data in self._regions:
            if base <= address and address + size <= base + len(data):
                return data, address - base
        raise MachineError(f"{what} of {size} bytes at {address:#x}, where nothing is")

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes of memory. Raises :class:`MachineError` outside of it."""
        data, offset = self._find(address, size, "read")
        return bytes(data[offset : offset + size])

    def write(self, address: int, content: bytes) -> None:
        """Changes memory. Raises :class:`MachineError` outside of it."""
        data, offset = self._find(address, len(content), "write")
        data[offset : offset + len(content)] = content

    def _load(self, address: int, size: int) -> int:
        if address % size:
            raise MachineError(f"misaligned load of {size} bytes at {address:#x}")
        return int.from_bytes(self.read(address, size), "little")

    def call(self, function: str, *arguments: int) -> int:
        """Runs a function with up to eight word arguments; its result as an unsigned number.

        Raises :class:`MachineError` for an instruction outside RV32IM and for a wrong access.
        """
        registers = self._registers
        registers[1] = _RETURN_ADDRESS
        registers[2] = self._stack_top
        registers[3] = self.symbols.get("__global_pointer$", 0)
        registers[10 : 10 + len(arguments)] = [value & _MASK for value in arguments]
        pc = self.symbols[function]
        while pc != _RETURN_ADDRESS:
            pc = self._step(pc)
            registers[0] = 0
            self.instructions += 1
        return registers[10]

    def _step(self, pc: int) -> int:
        word = self._load(pc, 4)
        registers = self._registers
        opcode, rd, funct3 = word & 0x7F, word >> 7 & 31, word >> 12 & 7
        a, b, funct7 = registers[word >> 15 & 31], registers[word >> 20 & 31], word >> 25
        immediate = _signed(word >> 20, 12)
        if opcode == 0x33 and funct7 == 1:
            registers[rd] = _MULTIPLY[funct3](a, b) & _MASK
        elif opcode in (0x13, 0x33):
            if opcode == 0x13:
                b = immediate & _MASK
            if funct3 == 5 and funct7 == 0x20:
                registers[rd] = _signed(a) >> (b & 31) & _MASK
            elif opcode == 0x33 and funct3 == 0 and funct7 == 0x20:
                registers[rd] = (a - b) & _MASK
            elif funct7 == 0 or (opcode == 0x13 and funct3 not in (1, 5)):
                registers[rd] = _ALU[funct3](a, b) & _MASK
            else:
                raise MachineError(f"instruction {word:#010x} at {pc:#x} is not RV32IM")
        elif opcode == 0x03 and funct3 in (0, 1, 2, 4, 5):
            size = 1 << (funct3 & 3)
            value = self._load((a + immediate) & _MASK, size)
            registers[rd] = (_signed(value, 8 * size) if funct3 < 4 else value) & _MASK
        elif opcode == 0x23 and funct3 in (0, 1, 2):
            size = 1 << funct3
            address = (a + _signed(word >> 20 & 0xFE0 | rd, 12)) & _MASK
            if address % size:
                raise MachineError(f"misaligned store of {size} bytes at {address:#x}")
            self.write(address, b.to_bytes(4, "little")[:size])
        elif opcode == 0x63 and funct3 in _BRANCH:
            if _BRANCH[funct3](a, b):
                offset = word >> 31 << 12 | (word >> 7 & 1) << 11
                offset |= (word >> 25 & 0x3F) << 5 | (word >> 8 & 0xF) << 1
                return (pc + _signed(offset, 13)) & _MASK
        elif opcode == 0x6F:
            offset = word >> 31 << 20 | (word >> 12 & 0xFF) << 12
            offset |= (word >> 20 & 1) << 11 | (word >> 21 & 0x3FF) << 1
            registers[rd] = pc + 4
            return (pc + _signed(offset, 21)) & _MASK
        elif opcode == 0x67 and funct3 == 0:
            registers[rd] = pc + 4
            return (a + immediate) & _MASK & ~1
        elif opcode == 0x37:
            registers[rd] = word & 0xFFFF_F000
        elif opcode == 0x17:
            registers[rd] = (pc + (word & 0xFFFF_F000)) & _MASK
        else:
            raise MachineError(f"instruction {word:#010x} at {pc:#x} is not RV32IM")
        return pc + 4
