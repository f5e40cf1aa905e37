"""Arithmetic and logic of stage X (combinational)."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts import CONTROL, Operation, Source
from ..params import CoreParams


class Alu(wiring.Component):
    """Adder and logic unit, shifter, comparison."""

    control: In(CONTROL)
    first: In(32)
    second: In(32)
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

        subtract = control.alternate
        total = Signal(33)
        m.d.comb += total.eq(
            (Cat(1, self._added(first)) + Cat(subtract, second ^ subtract.replicate(32)))[1:]
        )
        is_unsigned = Mux(control.branch, control.funct3[1], control.funct3[0])
        same_sign = first[31] == second[31]
        less = Signal()
        m.d.comb += less.eq(Mux(same_sign, total[31], Mux(is_unsigned, second[31], first[31])))
        condition = Mux(control.funct3[2], less, first == second)
        m.d.comb += self.taken.eq(condition ^ control.funct3[0])

        # One right shifter; a left shift is a right shift of the reversed word. The largest
        # distance comes first: it fills most of the word with one signal.
        left = ~control.funct3[2]
        fill = control.alternate & first[31]
        shifted = Signal(32, name="shifted5")
        m.d.comb += shifted.eq(Mux(left, first[::-1], first))
        for place in reversed(range(5)):
            distance = 1 << place
            following = Signal(32, name=f"shifted{place}")
            entering = fill.replicate(distance)
            if self._params.zbb:
                entering = Mux(control.rotate, shifted[:distance], entering)
            m.d.comb += following.eq(Mux(second[place], Cat(shifted[distance:], entering), shifted))
            shifted = following
        shifted_out = Signal(32)
        m.d.comb += shifted_out.eq(Mux(left, shifted[::-1], shifted))
        if self._params.zbs:
            with m.If(control.extract):
                m.d.comb += shifted_out[1:].eq(0)

        other = self._other(m)
        computed = Signal(32)
        with m.Switch(control.operation):
            with m.Case(Operation.XOR):
                m.d.comb += computed.eq(first ^ other)
            with m.Case(Operation.OR):
                m.d.comb += computed.eq(first | other)
            with m.Case(Operation.AND):
                m.d.comb += computed.eq(first & other)
            with m.Case(Operation.SECOND):
                m.d.comb += computed.eq(self._moved())
            with m.Default():
                m.d.comb += computed.eq(total)
        with m.If(control.shift):
            m.d.comb += self.result.eq(shifted_out)
        with m.Elif(control.compare):
            m.d.comb += self.result.eq(less)
        with m.Else():
            m.d.comb += self.result.eq(computed)
        return m

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
        """What ``Operation.SECOND`` gives."""
        if not self._params.zbb:
            return self.second
        first, source = self.first, self.control.source
        octets = [first[place : place + 8] for place in range(0, 32, 8)]
        given = {
            Source.SIGN_BYTE: Cat(first[:8], first[7].replicate(24)),
            Source.SIGN_HALF: Cat(first[:16], first[15].replicate(16)),
            Source.ZERO_HALF: first[:16],
            Source.SWAPPED: Cat(reversed(octets)),
            Source.FILLED: Cat(octet.any().replicate(8) for octet in octets),
        }
        result: Value = self.second
        for kind, value in given.items():
            result = Mux(source == kind, value, result)
        return result
