"""The bit-manipulation extensions Zba, Zbb and Zbs: their decoding, and the slow ones of them.

Volume I, chapter 28.5. The rest of their data path is in ``alu.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..isa import Opcode
from ..layouts import CONTROL, Operation, SlowBits, Source
from ..params import CoreParams


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """An encoding, and what its control signals are beside those that are 0."""

    opcodes: tuple[Opcode, ...]
    funct7: int
    funct3: int
    #: Bits 24:20 where they are part of the encoding.
    rs2: int | None = None
    control: Mapping[str, int | Operation | Source | SlowBits] = field(default_factory=dict)

    @property
    def patterns(self) -> list[str]:
        """Of bits 6:2, 31:25, 14:12 and 24:20 of the instruction."""
        rs2 = "-----" if self.rs2 is None else f"{self.rs2:05b}"
        return [f"{op:05b}{self.funct7:07b}{self.funct3:03b}{rs2}" for op in self.opcodes]


_REGISTER = (Opcode.OP,)
_IMMEDIATE = (Opcode.OP_IMM,)
_BOTH = (Opcode.OP, Opcode.OP_IMM)


def _on(opcodes: tuple[Opcode, ...], funct7: int, funct3: int, rs2: int | None = None, **control):
    return Instruction(opcodes=opcodes, funct7=funct7, funct3=funct3, rs2=rs2, control=control)


def _shift_add(places: int) -> Instruction:
    return _on(_REGISTER, 0b0010000, 2 * places, add=1, shift_add=places)


def _inverted(funct3: int, operation: Operation) -> Instruction:
    return _on(_REGISTER, 0b0100000, funct3, operation=operation, invert=1)


def _moved(opcodes: tuple[Opcode, ...], funct7: int, funct3: int, rs2: int, source: Source):
    return _on(opcodes, funct7, funct3, rs2, source=source)


def _slow(
    opcodes: tuple[Opcode, ...], funct7: int, funct3: int, rs2: int | None, slow: SlowBits
) -> Instruction:
    return _on(opcodes, funct7, funct3, rs2, multiply=1, slow=slow)


ZBA = {f"sh{places}add": _shift_add(places) for places in (1, 2, 3)}
ZBB = {
    "andn": _inverted(7, Operation.AND),
    "orn": _inverted(6, Operation.OR),
    "xnor": _inverted(4, Operation.XOR),
    "rol": _on(_REGISTER, 0b0110000, 1, shift=1, rotate=1),
    "ror": _on(_BOTH, 0b0110000, 5, shift=1, rotate=1),
    "sext.b": _moved(_IMMEDIATE, 0b0110000, 1, 4, Source.SIGN_BYTE),
    "sext.h": _moved(_IMMEDIATE, 0b0110000, 1, 5, Source.SIGN_HALF),
    "zext.h": _moved(_REGISTER, 0b0000100, 4, 0, Source.ZERO_HALF),
    "rev8": _moved(_IMMEDIATE, 0b0110100, 5, 24, Source.SWAPPED),
    "orc.b": _moved(_IMMEDIATE, 0b0010100, 5, 7, Source.FILLED),
    "clz": _slow(_IMMEDIATE, 0b0110000, 1, 0, SlowBits.LEADING),
    "ctz": _slow(_IMMEDIATE, 0b0110000, 1, 1, SlowBits.TRAILING),
    "cpop": _slow(_IMMEDIATE, 0b0110000, 1, 2, SlowBits.ONES),
    "min": _slow(_REGISTER, 0b0000101, 4, None, SlowBits.MIN),
    "minu": _slow(_REGISTER, 0b0000101, 5, None, SlowBits.MINU),
    "max": _slow(_REGISTER, 0b0000101, 6, None, SlowBits.MAX),
    "maxu": _slow(_REGISTER, 0b0000101, 7, None, SlowBits.MAXU),
}
ZBS = {
    "bclr": _on(_BOTH, 0b0100100, 1, operation=Operation.AND, single=1, invert=1),
    "bext": _on(_BOTH, 0b0100100, 5, shift=1, extract=1),
    "binv": _on(_BOTH, 0b0110100, 1, operation=Operation.XOR, single=1),
    "bset": _on(_BOTH, 0b0010100, 1, operation=Operation.OR, single=1),
}
#: Control signals of these instructions alone.
_OWN = ("shift_add", "single", "invert", "source", "rotate", "extract", "slow")
#: Control signals that the base decoder may have set for the same opcodes.
_RESET = (
    "shift",
    "compare",
    "add",
    "subtract",
    "fill",
    "multiply",
    "divide",
    "operation",
)


def instructions(params: CoreParams) -> dict[str, Instruction]:
    """The instructions of the extensions that a core has, by name."""
    found: dict[str, Instruction] = {}
    for built, table in ((params.zba, ZBA), (params.zbb, ZBB), (params.zbs, ZBS)):
        found |= table if built else {}
    return found


def decode(m: Module, params: CoreParams, word: Value, control, legal: Signal) -> None:
    """Set ``legal`` and the control signals if the word is one of the core's instructions.

    After the base instructions, whose decoding of the same opcodes it replaces.
    """
    # Those that no instruction of this core uses are driven, too.
    m.d.comb += [control[name].eq(0) for name in _OWN]
    if not instructions(params):
        return
    with m.Switch(Cat(word[20:25], word[12:15], word[25:32], word[2:7])):
        for instruction in instructions(params).values():
            with m.Case(*instruction.patterns):
                m.d.comb += legal.eq(1)
                m.d.comb += [control[name].eq(0) for name in _RESET]
                m.d.comb += [control[name].eq(value) for name, value in instruction.control.items()]


class SlowBitUnit(wiring.Component):
    """What is too slow for stage X: counts, minima and maxima. Operands in X, result in M."""

    control: In(CONTROL)
    first: In(32)
    second: In(32)
    #: In M, for the operands that were in X a cycle ago.
    result: Out(32)
    #: In M: the instruction is one of these, if it is not a multiplication.
    chosen: Out(1)

    def elaborate(self, platform) -> Module:
        m = Module()
        slow = Signal(SlowBits)
        first = Signal(32)
        second = Signal(32)
        backward = self.control.slow == SlowBits.TRAILING
        m.d.sync += [
            slow.eq(self.control.slow),
            first.eq(Mux(backward, self.first[::-1], self.first)),
            second.eq(self.second),
        ]
        m.d.comb += self.chosen.eq(slow != SlowBits.NONE)

        is_signed = (slow == SlowBits.MIN) | (slow == SlowBits.MAX)
        less = Signal()
        m.d.comb += less.eq(
            Cat(first[:31], first[31] ^ is_signed) < Cat(second[:31], second[31] ^ is_signed)
        )
        with m.Switch(slow):
            with m.Case(SlowBits.LEADING, SlowBits.TRAILING):
                m.d.comb += self.result.eq(_leading_zeros(list(first)[::-1]))
            with m.Case(SlowBits.ONES):
                m.d.comb += self.result.eq(_ones(list(first)))
            with m.Case(SlowBits.MIN, SlowBits.MINU):
                m.d.comb += self.result.eq(Mux(less, first, second))
            with m.Default():
                m.d.comb += self.result.eq(Mux(less, second, first))
        return m


def _leading_zeros(bits: list[Value]) -> Value:
    """Zeros before the first one, of a power of two bits given from the highest on."""
    if len(bits) == 1:
        return ~bits[0]
    half = len(bits) // 2
    high, low = _leading_zeros(bits[:half]), _leading_zeros(bits[half:])
    places = half.bit_length() - 1
    # The top bit of a count says that there is no one at all.
    none = high[places] & low[places]
    count = Cat(Mux(high[places], low[:places], high[:places]), high[places] & ~low[places])
    return Cat(count, none) if places else Cat(high & ~low, high & low)


def _ones(bits: list[Value]) -> Value:
    if len(bits) == 1:
        return bits[0]
    half = len(bits) // 2
    return _ones(bits[:half]) + _ones(bits[half:])
