"""Registers of all tiers, and the results that have not reached them yet: stages I and D."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..layouts import tier_event_layout, writer_layout
from ..params import CoreParams
from ..util import apart
from .align import PARTS, octets_of, selected


class Operands(wiring.Component):
    """Read rs1 and rs2, from the register file or from the youngest instruction that writes them.

    The registers are one memory addressed by {tier, register} with synchronous read: addressed in
    I, data in D. All comparisons are made in I; in D only a multiplexer is left. That the
    instruction in I does not come too early for a result is the concern of `predecode`, and for
    loads on the bus of `issue`.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        writer = writer_layout(params)
        super().__init__(
            {
                # Stage I.
                "tier": In(params.tier_bits),
                "instruction": In(32),
                #: The instructions ahead, youngest first.
                "d_writer": In(writer),
                "x_writer": In(writer),
                #: Or the late load that takes the slot of the instruction in M.
                "m_writer": In(writer),
                "a_writer": In(writer),
                # Results, in the cycle in which the instruction is in D.
                "x_result": In(32),
                "m_result": In(32),
                #: Of a load from local memory.
                "m_word": In(32),
                "m_parts": In(PARTS),
                "a_result": In(32),
                "w_result": In(32),
                # Stage D.
                #: 4 or 0 takes the place of rs1.
                "has_constant": In(1),
                "is_four": In(1),
                #: What takes the place of rs2.
                "has_immediate": In(1),
                "immediate": In(32),
                "first": Out(32),
                "second": Out(32),
                #: One of them is what is being loaded in M.
                "uses_m_load": Out(1),
                # Stage A writes.
                "write": In(tier_event_layout(params)),
                "write_rd": In(5),
                "write_data": In(32),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        word = self.instruction

        registers = Memory(shape=32, depth=32 * p.contexts, init=[], attrs={"no_rw_check": 1})
        m.submodules.registers = registers
        write_port = registers.write_port()
        m.d.comb += [
            write_port.addr.eq(Cat(self.write_rd, self.write.tier)),
            write_port.data.eq(self.write_data),
            write_port.en.eq(self.write.valid),
        ]

        writers = (self.d_writer, self.x_writer, self.m_writer, self.a_writer)
        uses_m_load = []
        for operand, (source, replaced, immediate) in enumerate(
            (
                (word[15:20], self.has_constant, Cat(C(0, 2), self.is_four)),
                (word[20:25], self.has_immediate, self.immediate),
            )
        ):
            read_port = registers.read_port()
            stored = Signal(32, name=f"stored{operand}")
            m.d.comb += [
                read_port.addr.eq(Cat(source, self.tier)),
                stored.eq(read_port.data),
            ]
            d_match, x_match, m_match, a_match = (
                self._matches(writer, source, f"{name}_match{operand}", m)
                for writer, name in zip(writers, "dxma", strict=True)
            )

            # The youngest writer counts; which one it will be in the next cycle is registered.
            from_x = Signal(name=f"from_x{operand}")
            from_m = Signal(name=f"from_m{operand}")
            from_m_load = Signal(name=f"from_m_load{operand}")
            from_a = Signal(name=f"from_a{operand}")
            from_w = Signal(name=f"from_w{operand}")
            from_registers = Signal(name=f"from_registers{operand}")
            m.d.sync += [
                from_x.eq(d_match),
                from_m.eq(~d_match & x_match & ~self.x_writer.load),
                from_m_load.eq(~d_match & x_match & self.x_writer.load),
                from_a.eq(~d_match & ~x_match & m_match),
                from_w.eq(~d_match & ~x_match & ~m_match & a_match),
                from_registers.eq(~(d_match | x_match | m_match | a_match)),
            ]
            uses_m_load.append(from_m_load)
            # Kept, for synthesis does not know how late the memories' words are, and would put the
            # rest behind them. The result of X comes later still.
            others = apart(
                m,
                f"others{operand}",
                immediate
                | _gate(from_m & ~replaced, self.m_result)
                | _gate(from_a & ~replaced, self.a_result)
                | _gate(from_w & ~replaced, self.w_result),
            )
            memories = apart(
                m,
                f"memories{operand}",
                _gate(from_registers & ~replaced, stored)
                | self._loaded(m, from_m_load & ~replaced, operand),
            )
            value = (self.first, self.second)[operand]
            m.d.comb += value.eq(others | memories | _gate(from_x & ~replaced, self.x_result))

        m.d.comb += self.uses_m_load.eq(Cat(uses_m_load).any())
        return m

    def _loaded(self, m: Module, enable: Value, operand: int) -> Value:
        """What the load in M gives if ``enable``, else 0; not the sign of a byte. Gated ahead of
        the memory, for behind it each function counts."""
        parts = self.m_parts
        octets, halves, whole = (
            _gate(enable, part) for part in (parts.octets, parts.halves, parts.whole)
        )
        selects = Signal(4, name=f"octet_selects{operand}")
        m.d.comb += selects.eq(octets | Cat(halves[0] | whole, C(0, 1), halves[1]))
        word = octets_of(self.m_word)
        sign = selected(_gate(parts.signed, halves), [word[1][-1], word[3][-1]])
        lower = apart(m, f"lower{operand}", selected(selects[:2], word[:2]))
        upper = apart(m, f"upper{operand}", selected(selects[2:], word[2:]))
        fill = apart(m, f"sign{operand}", sign).replicate(16)
        second = selected(Cat(halves[0] | whole, halves[1]), [word[1], word[3]])
        return lower | upper | Cat(C(0, 8), second, _gate(whole, self.m_word[16:]) | fill)

    def _matches(self, writer, register: Value, name: str, m: Module) -> Value:
        match = Signal(name=name)
        m.d.comb += match.eq(writer.valid & (writer.tier == self.tier) & (writer.rd == register))
        return match


def _gate(enable: Value, value: Value) -> Value:
    return Mux(enable, value, 0)
