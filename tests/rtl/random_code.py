"""Random straight-line code of a tier, and the registers and memory that it may use."""

from __future__ import annotations

import random
from dataclasses import dataclass

import encoding as rv

from tierv.rtl.isa import csr_addresses
from tierv.rtl.params import CoreParams

CSR = csr_addresses()
#: RAM on the bus: each tier has its own part, so that the order of tiers does not matter there.
BUS_BASE = 0x4000_0000
BUS_BYTES = 0x1_0000
#: Nothing answers from one address to the other, neither here nor in Spike.
UNMAPPED = ((0x5000_0000, 0x9000_0000), (0xA000_0000, 0xF000_0000))
#: Nor here, where a core with caches asks its memory: stores that fail do so late in every mode.
UNMAPPED_CACHED = (0x4020_0000, 0x5000_0000)
#: Where a tier puts code on the bus, from its BUS register on; no other store goes there.
BUS_CODE = 0x300
SHARED_BYTES = 256
BUS_MEMORY_BYTES = 0x10_0000
#: The bench's console page; stores to these offsets raise and lower lines, and raise timers.
CONSOLE = 0xF000_0000
CONSOLE_RAISE, CONSOLE_LOWER, CONSOLE_TIMER = 8, 12, 24
#: Values of funct3 that the opcodes of loads, stores, branches, jalr and CSRs leave unused.
UNUSED_FUNCT3 = {
    0x03: (3, 6, 7),
    0x23: (3, 4, 5, 6, 7),
    0x63: (2, 3),
    0x67: (1, 2, 3, 4, 5, 6, 7),
    0x73: (4,),
}

# Registers with a fixed use; the others are random.
RETURN, LOCAL, BUS, SHARED, TARGET, COUNTER, FRAME = 1, 2, 3, 4, 5, 30, 31
#: From LOCAL on: where the tier goes on if it is moved.
RESUME_OFFSET = 0x3F4
#: Words at a tier's base behind the first, at each of which it may go on.
SLED = range(1, 9)
FREE = [*range(6, 30)]
INTERESTING = (0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFFE, 0x1234_5678)
MSTATUS_MIE = 8


@dataclass(frozen=True, kw_only=True)
class Mix:
    """What the programs contain."""

    #: Random pieces per tier.
    pieces: int = 200
    #: Exceptions, and traps within the trap handler.
    traps: bool = True
    csrs: bool = True
    #: Loads, stores and instructions on the bus.
    bus: bool = True
    #: Lines and posts, wfi.
    interrupts: bool = True
    #: Tiers that stop each other and hold each other back.
    tiers: bool = True
    #: Tiers that let a stopped one go on elsewhere.
    moves: bool = True
    #: Multiply and divide.
    muldiv: bool = True
    #: Branches, jumps and calls.
    jumps: bool = True

    @classmethod
    def kinds(cls) -> list[str]:
        """The fields that switch something on or off."""
        return [name for name, value in vars(cls()).items() if isinstance(value, bool)]


class StraightLine:
    """Emits computations, loads and stores into ``words``; knows words and addresses that trap."""

    def __init__(self, rng: random.Random, params: CoreParams, mix: Mix) -> None:
        self._rng = rng
        self._params = params
        self._mix = mix
        self._bits = [name for name in params.extensions for name in rv.BITS[name]]
        self._missing = [name for names in rv.BITS.values() for name in names]
        self._missing = [name for name in self._missing if name not in self._bits]
        self.words: list[int] = []
        # Indices of functions that may be called.
        self._functions: list[int] = []

    def _emit(self, *words: int) -> None:
        self.words.extend(words)

    def _li(self, register: int, value: int) -> None:
        self._emit(*rv.li(register, value & 0xFFFF_FFFF))

    def _any(self) -> int:
        """A register to read."""
        return self._rng.choice((0, RETURN, LOCAL, BUS, SHARED, TARGET, COUNTER, *FREE, *FREE))

    def _destination(self) -> int:
        return self._rng.choice((0, *FREE, *FREE))

    def _lines(self) -> int:
        return self._rng.getrandbits(self._params.lines)

    def _illegal(self) -> int:
        """A word that is no instruction, most often nearly one."""
        rng = self._rng
        rest = rng.choice((0, 0xFFFF_FFFF, 0x0000_0057, 0x3020_0173, 0x0200_1013))
        opcode, functions = rng.choice([*UNUSED_FUNCT3.items()])
        # Of a store, an address and a value that would do damage.
        word = rv.i_type("addi", rng.choice(FREE), LOCAL, 4 * rng.randrange(32)) & ~0x707F
        choices = [rest, word | rng.choice(functions) << 12 | opcode]
        if self._missing:
            choices.append(self._bits_word(rng.choice(self._missing)))
        return rng.choice(choices)

    def _unmapped(self, *more: tuple[int, int]) -> int:
        """The address of a word that is nowhere, in one of these ranges too."""
        first, last = self._rng.choice(UNMAPPED + more)
        return self._rng.randrange(first, last, 4)

    def _emit_some(self, most: int) -> int:
        before = len(self.words)
        for _ in range(self._rng.randrange(most)):
            self._rng.choice((self._emit_compute, self._emit_memory))()
        return len(self.words) - before

    def _emit_compute(self) -> None:
        rng = self._rng
        kind = rng.randrange(10)
        if self._bits and rng.random() < 0.4:
            self._emit_bits()
        elif kind < 4:
            names = [*(rv.R_TYPE if self._mix.muldiv else rv.INTEGER_R_TYPE)]
            self._emit(rv.r_type(rng.choice(names), self._destination(), self._any(), self._any()))
        elif kind < 7:
            name = rng.choice([*rv.I_TYPE])
            self._emit(
                rv.i_type(name, self._destination(), self._any(), rng.randrange(-2048, 2048))
            )
        elif kind < 8:
            name = rng.choice([*rv.SHIFTS])
            self._emit(rv.shift(name, self._destination(), self._any(), rng.randrange(32)))
        elif kind < 9:
            self._emit(rng.choice((rv.lui, rv.auipc))(self._destination(), rng.getrandbits(20)))
        else:
            self._li(rng.choice(FREE), rng.choice(INTERESTING))

    def _emit_bits(self) -> None:
        self._emit(self._bits_word(self._rng.choice(self._bits)))

    def _bits_word(self, name: str) -> int:
        rng = self._rng
        rd, rs1 = self._destination(), self._any()
        if name in rv.BITS_UNARY:
            return rv.unary(name, rd, rs1)
        if name in rv.BITS_SHIFTS:
            return rv.shift(name, rd, rs1, rng.randrange(32))
        return rv.r_type(name, rd, rs1, self._any())

    def _emit_memory(self) -> None:
        rng = self._rng
        base = rng.choice((LOCAL, LOCAL, SHARED, BUS if self._mix.bus else LOCAL))
        loads = rng.random() < 0.6
        name = rng.choice([*(rv.LOADS if loads else rv.STORES)])
        size = {"b": 1, "h": 2, "w": 4}[name[1]]
        if base == SHARED:
            offset = rng.randrange(0, SHARED_BYTES, size)
        else:
            offset = rng.randrange(-0x400, 0x300, size)
        if loads:
            self._emit(rv.load(name, self._destination(), base, offset))
        else:
            self._emit(rv.store(name, self._any(), base, offset))

    def _emit_fence(self) -> None:
        self._emit(self._rng.choice((rv.FENCE, rv.FENCE_I)))
