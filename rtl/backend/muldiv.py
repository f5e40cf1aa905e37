"""Multiply in the pipeline, divide beside it."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts import CONTROL, tier_event_layout
from ..params import CoreParams
from ..util import bit
from .bitmanip import SlowBitUnit

#: Bitmasks of riscv-formal's alternative operations (ALTOPS), by funct3 from mul to remu.
ALTOPS_MASKS = (
    0x5876063E,
    0xF6583FB7,
    0xECFBE137,
    0x949CE5E8,
    0x7F8529EC,
    0x10E8FD70,
    0x8DA68FA5,
    0x3138D0E1,
)
#: The ones that subtract: the signed divisions and mulhsu.
ALTOPS_SUBTRACT = (2, 4, 5, 6, 7)


class Multiplier(wiring.Component):
    """32 x 32 bits: operands in X, 16-bit partial products in M, result at the end of M.

    What of Zbb takes as long comes the same way.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                "control": In(CONTROL),
                "first": In(32),
                "second": In(32),
                #: In M, for the operands that were in X a cycle ago; 0 after other instructions.
                "result": Out(32),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        product = Signal(32)
        if self._params.altops:
            m.d.sync += product.eq(altops(self.control.funct3, self.first, self.second))
            with m.If(~self.control.multiply):
                m.d.sync += product.eq(0)
        else:
            self._multiply(m, product)
        if self._params.zbb:
            m.submodules.slow_bits = slow_bits = SlowBitUnit()
            m.d.comb += [
                slow_bits.control.eq(self.control),
                slow_bits.first.eq(self.first),
                slow_bits.second.eq(self.second),
                self.result.eq(Mux(slow_bits.chosen, slow_bits.result, product)),
            ]
        else:
            m.d.comb += self.result.eq(product)
        return m

    def _multiply(self, m: Module, product: Signal) -> None:
        funct3 = self.control.funct3
        high = Signal()
        m.d.sync += high.eq(funct3[:2] != 0)

        def halves(operand, is_signed, name: str):
            low = Signal(signed(17), name=f"{name}_low")
            top = Signal(signed(17), name=f"{name}_high")
            m.d.comb += [
                low.eq(operand[:16]),
                top.eq(Cat(operand[16:], operand[31] & is_signed).as_signed()),
            ]
            return low, top

        first_low, first_high = halves(self.first, funct3[:2] != 3, "first")
        second_low, second_high = halves(self.second, ~funct3[1], "second")
        low_low = Signal(32)
        low_high = Signal(signed(34))
        high_low = Signal(signed(34))
        high_high = Signal(signed(34))
        m.d.sync += [
            low_low.eq(first_low * second_low),
            low_high.eq(first_low * second_high),
            high_low.eq(first_high * second_low),
            high_high.eq(first_high * second_high),
        ]
        with m.If(~self.control.multiply):
            m.d.sync += [
                low_low.eq(0),
                low_high.eq(0),
                high_low.eq(0),
                high_high.eq(0),
            ]
        middle = Signal(signed(35))
        total = Signal(48)
        m.d.comb += [
            middle.eq(low_high + high_low),
            total.eq(Cat(low_low[16:], high_high[:32]) + middle),
            product.eq(Mux(high, total[16:], Cat(low_low[:16], total[:16]))),
        ]


class Divider(wiring.Component):
    """Radix-2 restoring division, one bit a cycle, for one tier at a time.

    A request of a more urgent tier takes the divider away; the other one asks again. The result
    waits for its tier to come back for it. 34 cycles from request to result.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                #: Stage X: a division of `tier`.
                "request": In(1),
                "tier": In(params.tier_bits),
                "funct3": In(3),
                "first": In(32),
                "second": In(32),
                #: The result of this tier's division is here.
                "ready": Out(1),
                "result": Out(32),
                #: The tier has used its result.
                "taken": In(tier_event_layout(params)),
                #: The tier went elsewhere in the last cycle. `keep`, in that cycle: it only went
                #: back to wait for the divider.
                "dropped": In(tier_event_layout(params)),
                "keep": In(1),
                #: Tiers that a ceiling holds back; they lose the divider to any other.
                "held": In(params.tiers),
                #: Each tier: asking again now would be in vain.
                "busy": Out(params.tiers),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        occupied = Signal()
        done = Signal()
        owner = Signal(p.tier_bits)
        remainder = Signal(32)
        quotient = Signal(32)
        divisor = Signal(32)
        adds = Signal()
        negate = Signal()
        wants_remainder = Signal()
        steps = Signal(range(33))

        mine = occupied & (owner == self.tier)
        being_taken = self.taken.valid & (self.taken.tier == self.tier)
        m.d.comb += self.ready.eq(mine & done & ~being_taken)
        owner_held = bit(self.held, owner)
        for tier in range(p.tiers):
            m.d.comb += self.busy[tier].eq(
                occupied & (((owner > tier) & ~owner_held) | ((owner == tier) & ~done))
            )

        is_signed = ~self.funct3[0]
        first_negative = is_signed & self.first[31]
        second_negative = is_signed & self.second[31]
        difference = Signal(33)
        # A negative divisor is added.
        m.d.comb += difference.eq(
            (Cat(1, quotient[31], remainder) + Cat(~adds, divisor ^ (~adds).replicate(32), 1))[1:]
        )
        with m.If(occupied & ~done):
            with m.If(steps == 32):
                m.d.sync += done.eq(1)
                value = Mux(wants_remainder, remainder, quotient)
                m.d.sync += quotient.eq(Mux(negate, -value, value))
            with m.Else():
                m.d.sync += [
                    remainder.eq(
                        Mux(difference[32], Cat(quotient[31], remainder)[:32], difference)
                    ),
                    quotient.eq(Cat(~difference[32], quotient[:31])),
                    steps.eq(steps + 1),
                ]
        if p.altops:
            m.d.comb += self.result.eq(altops(self.funct3, self.first, self.second))
        else:
            m.d.comb += self.result.eq(quotient)

        # A request counts even if its instruction does not execute or is dropped in the same cycle:
        # the division is then dropped within two cycles.
        begun = Signal()
        kept = Signal()
        m.d.sync += [
            begun.eq(0),
            kept.eq(self.keep),
        ]
        leaves = self.dropped.valid & (self.dropped.tier == owner) & (begun | ~kept)
        with m.If((self.taken.valid & (self.taken.tier == owner)) | leaves):
            m.d.sync += occupied.eq(0)
        with m.If(self.request & ~mine & (~occupied | (self.tier > owner) | owner_held)):
            m.d.sync += [
                occupied.eq(1),
                begun.eq(1),
                done.eq(0),
                owner.eq(self.tier),
                steps.eq(0),
                remainder.eq(0),
                quotient.eq(Mux(first_negative, -self.first, self.first)),
                divisor.eq(self.second),
                adds.eq(second_negative),
                wants_remainder.eq(self.funct3[1]),
                # The remainder has the sign of the dividend; a division by zero gives -1.
                negate.eq(
                    Mux(
                        self.funct3[1],
                        first_negative,
                        (first_negative ^ second_negative) & (self.second != 0),
                    )
                ),
            ]
        return m


def altops(funct3, first, second):
    """The stand-in that riscv-formal compares with: (rs1 +- rs2) ^ mask."""
    result = Const(0, 32)
    for code, mask in enumerate(ALTOPS_MASKS):
        value = (first - second if code in ALTOPS_SUBTRACT else first + second)[:32] ^ mask
        result = Mux(funct3 == code, value, result)
    return result
