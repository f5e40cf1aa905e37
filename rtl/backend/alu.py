"""Arithmetic and logic of stage X (combinational)."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts import CONTROL, PC_BITS, Operation, Source
from ..params import CoreParams


class Alu(wiring.Component):
    """Adder and logic unit, shifter, comparison."""

    control: In(CONTROL)
    first: In(32)
    second: In(32)
    pc: In(PC_BITS)
    #: What the integer instructions compute.
    result: Out(32)
    #: The condition of a branch holds.
    taken: Out(1)

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__()

    def elaborate(self, platform) -> Module:
        m = Module()
        control = self.control
        first = self.first
        second = self.second

        # The first operand of a jump is 4.
        addend = Mux(control.jump, Cat(C(0, 2), self.pc), second ^ control.subtract.replicate(32))
        total = Signal(33)
        m.d.comb += total.eq((Cat(1, self._added(first)) + Cat(control.subtract, addend))[1:])
        is_unsigned = Mux(control.branch, control.funct3[1], control.funct3[0])
        same_sign = first[31] == second[31]
        less = Signal()
        m.d.comb += less.eq(Mux(same_sign, total[31], Mux(is_unsigned, second[31], first[31])))
        condition = Mux(control.funct3[2], less, first == second)
        m.d.comb += self.taken.eq(condition ^ control.funct3[0])

        other = self._other(m)
        logical = Signal(32)
        with m.Switch(control.operation):
            with m.Case(Operation.XOR):
                m.d.comb += logical.eq(first ^ other)
            with m.Case(Operation.OR):
                m.d.comb += logical.eq(first | other)
            with m.Case(Operation.AND):
                m.d.comb += logical.eq(first & other)
        m.d.comb += self.result.eq(
            Mux(control.add, total, logical)
            | self._shifted(m)
            | (less & control.compare)
            | self._moved()
        )
        return m

    def _shifted(self, m: Module) -> Value:
        """What is shifted or rotated; 0 if the instruction does neither.

        The word is rotated to the right, and what has come around gives way to the sign.
        """
        control = self.control
        first = self.first
        distance = self.second[:5]
        left = ~control.funct3[2]
        places = Signal(5)
        m.d.comb += places.eq(Mux(left, -distance, distance))
        rotated: Value = first
        for level, place in enumerate(places):
            following = Signal(32, name=f"rotated{level}")
            m.d.comb += following.eq(Mux(place, rotated.rotate_right(1 << level), rotated))
            rotated = following

        # Bit n stays if n, counted from the end that is filled, is not below the distance. Bits of
        # the distance and of n are compared in two parts.
        low, high = distance[:3], distance[3:]
        low_stays = Cat(low <= Mux(left, n, 7 - n) for n in range(8))
        above = Cat(high < Mux(left, n, 3 - n) for n in range(4))
        equal = Cat(high == Mux(left, n, 3 - n) for n in range(4))
        if self._params.zbb:
            above |= control.rotate.replicate(4)
        stays = Cat(
            control.shift & (above[n // 8] | (equal[n // 8] & low_stays[n % 8])) for n in range(32)
        )
        if self._params.zbs:
            stays &= Cat(1, (~control.extract).replicate(31))
        fill = control.fill & first[31]
        return (rotated & stays) | (fill.replicate(32) & ~stays)

    def _added(self, first: Value) -> Value:
        """The first operand of the adder."""
        if not self._params.zba:
            return first
        shifts = [first, *(Cat(Value.cast(0).replicate(n), first)[:32] for n in (1, 2, 3))]
        places = self.control.shift_add
        return Mux(
            places[1],
            Mux(places[0], shifts[3], shifts[2]),
            Mux(places[0], shifts[1], shifts[0]),
        )

    def _other(self, m: Module) -> Value:
        """The second operand of the logic unit."""
        control = self.control
        other = self.second
        if self._params.zbs:
            single = Signal(32)
            m.d.comb += single.eq(1 << self.second[:5])
            other = Mux(control.single, single, other)
        if self._params.zbb or self._params.zbs:
            other = other ^ control.invert.replicate(32)
        return other

    def _moved(self) -> Value:
        """What ``layouts.Source`` names."""
        if not self._params.zbb:
            return C(0)
        first, source = self.first, self.control.source
        octets = [first[place : place + 8] for place in range(0, 32, 8)]
        given = {
            Source.SIGN_BYTE: Cat(first[:8], first[7].replicate(24)),
            Source.SIGN_HALF: Cat(first[:16], first[15].replicate(16)),
            Source.ZERO_HALF: first[:16],
            Source.SWAPPED: Cat(reversed(octets)),
            Source.FILLED: Cat(octet.any().replicate(8) for octet in octets),
        }
        result: Value = C(0)
        for kind, value in given.items():
            result = Mux(source == kind, value, result)
        return result
