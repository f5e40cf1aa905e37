"""Multiply in the pipeline, divide beside it."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts import CONTROL, tier_event_layout
from ..params import CoreParams
from ..util import apart, bit
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
                #: The same sooner, but of the lower half of a product only.
                "lower": Out(32),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        product = Signal(32)
        if self._params.altops:
            m.d.sync += product.eq(altops(self.control.funct3, self.first, self.second))
            with m.If(~self.control.multiply):
                m.d.sync += product.eq(0)
            m.d.comb += self.lower.eq(product)
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
        # One sum of three would be of more look-up tables than two of two.
        middle = apart(m, "middle", low_high + high_low)
        total = Signal(48)
        m.d.comb += [
            total.eq(Cat(low_low[16:], high_high[:32]) + middle),
            self.lower.eq(Cat(low_low[:16], total[:16])),
            product.eq(Mux(high, total[16:], self.lower)),
        ]


class Divider(wiring.Component):
    """Radix-2 restoring division, one bit a cycle, for one tier at a time.

    A request of a more urgent tier takes the divider away; the other one asks again. The result
    waits for its tier to come back for it. 34 cycles from request to result. A tier that comes back
    with anything else, since its code has changed, loses it.
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
                # The registers that the operands are from.
                "rs1": In(5),
                "rs2": In(5),
                #: The result of this tier's division is here.
                "ready": Out(1),
                "result": Out(32),
                #: The tier has used its result.
                "taken": In(tier_event_layout(params)),
                #: The tier went elsewhere in the last cycle. `keep`, in that cycle: it only went
                #: back to wait for the divider.
                "dropped": In(tier_event_layout(params)),
                "keep": In(1),
                #: The instruction in M, which was in X a cycle ago.
                "m": In(tier_event_layout(params)),
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
        steps = Signal(range(33))

        division = Signal(13)
        asked = Cat(self.funct3, self.rs1, self.rs2)
        owned = occupied & (owner == self.tier)
        mine = owned & (division == asked)
        # If it is the tier's still, it is for the instruction there.
        behind = self.m.valid & (self.m.tier == self.tier)
        m.d.comb += self.ready.eq(mine & done & ~behind)
        owner_held = bit(self.held, owner)
        for tier in range(p.tiers):
            m.d.comb += self.busy[tier].eq(
                occupied & (((owner > tier) & ~owner_held) | ((owner == tier) & ~done))
            )

        # A request counts even if its instruction does not execute or is dropped in the same cycle:
        # the division is then dropped within two cycles.
        begins = Signal()
        begun = Signal()
        kept = Signal()
        m.d.comb += begins.eq(
            self.request & ~owned & (~occupied | (self.tier > owner) | owner_held)
        )
        m.d.sync += [begun.eq(begins), kept.eq(self.keep)]

        leaves = self.dropped.valid & (self.dropped.tier == owner) & (begun | ~kept)
        # What is in M asked for this division.
        asks = Signal()
        m.d.sync += asks.eq(begins | (self.request & mine))
        taken, passed = (event.valid & (event.tier == owner) for event in (self.taken, self.m))
        with m.If(taken | leaves | (passed & ~asks)):
            m.d.sync += occupied.eq(0)
        ends = steps[5]
        with m.If(begins):
            m.d.sync += [occupied.eq(1), done.eq(0), owner.eq(self.tier), steps.eq(0)]
            m.d.sync += division.eq(asked)
        with m.Elif(~done):
            m.d.sync += [done.eq(ends), steps.eq(steps + 1)]
        quotient = self._divide(m, begins, begun, ends, done)
        if p.altops:
            m.d.comb += self.result.eq(altops(self.funct3, self.first, self.second))
        else:
            m.d.comb += self.result.eq(quotient)
        return m

    def _divide(self, m: Module, begins: Value, begun: Value, ends: Value, done: Value) -> Value:
        """The data path; returns the result, which is there when it is done.

        `begun` in the first step, `ends` in the cycle behind the last one.
        """
        # Inverted unless the divisor is negative: its bits are added as they are in both cases.
        remainder = Signal(32)
        # Shifted in from below; the dividend leaves at bit 31. At last the result, from bit 1 on.
        quotient = Signal(33)
        divisor = Signal(32)
        divisor_negative = Signal()
        dividend_negative = Signal()
        wants_remainder = Signal()

        # One negation does for the dividend, in the first step, and for the result.
        value = Signal(32)
        negates = Signal()
        takes_remainder = ends & wants_remainder
        # Only after a division by zero, which gives -1, and in -2**31, the same when negated,
        # bit 31 of the quotient is set with signed operands.
        differ = (dividend_negative ^ divisor_negative) & ~quotient[31]
        m.d.comb += [
            # The remainder has the sign of the dividend.
            negates.eq(Mux(ends & ~wants_remainder, differ, dividend_negative & (begun | ends))),
            value.eq(
                Mux(takes_remainder, remainder, quotient[:32])
                ^ (negates ^ (takes_remainder & ~divisor_negative)).replicate(32)
            ),
        ]
        negated = (value + negates)[:32]
        shifted = Cat(quotient[31] ^ ~divisor_negative, remainder)
        difference = Signal(33)
        m.d.comb += difference.eq(shifted + Cat(divisor, divisor_negative))
        fits = difference[32] ^ divisor_negative

        is_signed = ~self.funct3[0]
        second_negative = is_signed & self.second[31]
        with m.If(begins):
            m.d.sync += [
                divisor.eq(self.second),
                divisor_negative.eq(second_negative),
                dividend_negative.eq(is_signed & self.first[31]),
                wants_remainder.eq(self.funct3[1]),
            ]
        # The first step takes this bit before the dividend is negated.
        bit_31 = self.first[31] & ~(is_signed & self.first[:31].any())
        # Two selects make a choice of four, two of them constant, in one look-up table.
        high = apart(m, "remainder_high", Mux(begins, ~second_negative, ~fits))
        low = apart(m, "remainder_low", Mux(begins, ~second_negative, fits))
        with m.If(begins | ~done):
            m.d.sync += [
                quotient.eq(
                    Cat(
                        Mux(begins, Cat(self.first[:31], bit_31), Cat(fits, negated[:31])),
                        negated[31],
                    )
                ),
                remainder.eq(
                    Cat(
                        Mux(high, low | old, low & new)
                        for old, new in zip(shifted[:32], difference[:32], strict=True)
                    )
                ),
            ]
        return quotient[1:]


def altops(funct3, first, second):
    """The stand-in that riscv-formal compares with: (rs1 +- rs2) ^ mask."""
    result = Const(0, 32)
    for code, mask in enumerate(ALTOPS_MASKS):
        value = (first - second if code in ALTOPS_SUBTRACT else first + second)[:32] ^ mask
        result = Mux(funct3 == code, value, result)
    return result
