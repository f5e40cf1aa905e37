"""Arithmetic and logic of stage X (combinational)."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts import CONTROL, Operation


class Alu(wiring.Component):
    """Adder and logic unit, shifter, comparison."""

    control: In(CONTROL)
    first: In(32)
    second: In(32)
    #: What the integer instructions compute.
    result: Out(32)
    #: The condition of a branch holds.
    taken: Out(1)

    def elaborate(self, platform) -> Module:
        m = Module()
        control = self.control
        first = self.first
        second = self.second

        subtract = control.alternate
        total = Signal(33)
        m.d.comb += total.eq((Cat(1, first) + Cat(subtract, second ^ subtract.replicate(32)))[1:])
        is_unsigned = Mux(control.branch, control.funct3[1], control.funct3[0])
        same_sign = first[31] == second[31]
        less = Signal()
        m.d.comb += less.eq(Mux(same_sign, total[31], Mux(is_unsigned, second[31], first[31])))
        condition = Mux(control.funct3[2], less, first == second)
        m.d.comb += self.taken.eq(condition ^ control.funct3[0])

        # One right shifter; a left shift is a right shift of the reversed word.
        left = ~control.funct3[2]
        fill = control.alternate & first[31]
        shifted = Signal(32, name="shifted0")
        m.d.comb += shifted.eq(Mux(left, first[::-1], first))
        for place in range(5):
            distance = 1 << place
            following = Signal(32, name=f"shifted{place + 1}")
            m.d.comb += following.eq(
                Mux(second[place], Cat(shifted[distance:], fill.replicate(distance)), shifted)
            )
            shifted = following
        shifted_out = Signal(32)
        m.d.comb += shifted_out.eq(Mux(left, shifted[::-1], shifted))

        computed = Signal(32)
        with m.Switch(control.operation):
            with m.Case(Operation.XOR):
                m.d.comb += computed.eq(first ^ second)
            with m.Case(Operation.OR):
                m.d.comb += computed.eq(first | second)
            with m.Case(Operation.AND):
                m.d.comb += computed.eq(first & second)
            with m.Case(Operation.SECOND):
                m.d.comb += computed.eq(second)
            with m.Default():
                m.d.comb += computed.eq(total)
        with m.If(control.shift):
            m.d.comb += self.result.eq(shifted_out)
        with m.Elif(control.compare):
            m.d.comb += self.result.eq(less)
        with m.Else():
            m.d.comb += self.result.eq(computed)
        return m
