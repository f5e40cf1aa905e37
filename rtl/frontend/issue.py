"""The tiers' instruction buffers, and the instruction that issues: stage I."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..layouts import (
    PAIR,
    PAIR_FLAGS,
    USES,
    WAITS,
    arrival_layout,
    issued_layout,
    redirect_layout,
    tier_event_layout,
)
from ..params import CoreParams
from ..util import apart, bit, highest, of_highest, pick, redirects
from .fetch import BUFFER_PAIRS


class IssueBuffer(wiring.Component):
    """Hold each tier's next instructions and read the one that issues.

    A pair is stored when it arrives; its words can issue from the next cycle on, while it is still
    being predecoded. What is found there is stored a cycle later, in a memory of its own. The tier
    that issues is chosen one cycle ahead from `ready` and from what each buffer will hold then. A
    tier whose instruction waits for an operand stays in place and costs only itself a slot; two, if
    it would have left stage I with that instruction: a wfi, a load or store that shares, the last
    one in the buffer.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                "arrival": In(arrival_layout(params)),
                #: Tiers whose pair arrives, unless a redirect that is known late drops it.
                "arriving": In(params.tiers),
                "redirect": In(redirect_layout(params)),
                #: The redirect of the last cycle.
                "dropped": In(tier_event_layout(params)),
                #: Stage M: this tier's instruction in I does not issue.
                "kill": In(tier_event_layout(params)),
                #: What is found in the pair that is being predecoded.
                "pair_valid": In(1),
                "pair_tier": In(params.tier_bits),
                "pair_flags": In(PAIR_FLAGS),
                #: Of each tier's buffer, bit n: it holds more than n pairs.
                "pairs": Out(data.ArrayLayout(BUFFER_PAIRS, params.tiers)),
                #: Tiers that may issue in the next cycle if they have an instruction.
                "ready": In(params.tiers),
                #: Tiers that leave the slot behind a load or store to less urgent ones.
                "sharing": In(params.tiers),
                #: The instructions in D and X.
                "d": In(tier_event_layout(params)),
                "x": In(tier_event_layout(params)),
                #: The tier in I has a load on the bus for this register.
                "awaited": In(1),
                "awaited_rd": In(5),
                #: It has the word of a precise load, whose instruction has come again to D or X.
                "collects": In(1),
                #: No instruction shall issue.
                "stall": In(1),
                #: The instruction in I needs that load, or must not write before it.
                "awaits": Out(1),
                #: There is an instruction in I, whether it stalls or not.
                "present": Out(1),
                "issued": Out(issued_layout(params)),
                #: The instruction in I issues and is a wfi.
                "wfi": Out(tier_event_layout(params)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        tiers = p.tiers
        index_shape = range(BUFFER_PAIRS)

        # What each tier has: whole pairs from `head` to `tail`, the first perhaps half used.
        heads = Signal(data.ArrayLayout(index_shape, tiers))
        tails = Signal(data.ArrayLayout(index_shape, tiers))
        odds = Signal(tiers)
        pairs = self.pairs

        # I: the chosen tier, and where its next instruction is.
        i_valid = Signal()
        i_tier = Signal(p.tier_bits)
        i_head = Signal(index_shape)
        i_odd = Signal()
        # `i_tier` once more, at the memory where the longest paths begin; another first value keeps
        # synthesis from making one of the two.
        row_tier = Signal(p.tier_bits, init=-1)

        def pair_memory(name: str, shape: data.StructLayout):
            """A memory with a row for each pair, and what is in the row of the tier in I."""
            memory = Memory(shape=shape, depth=p.contexts * BUFFER_PAIRS, init=[])
            m.submodules[name] = memory
            read = memory.read_port(domain="comb")
            m.d.comb += read.addr.eq(Cat(i_head, row_tier))
            return memory.write_port(), read.data

        # A pair that is dropped in the cycle of its arrival is written where there is room.
        arrival_index = Signal(index_shape)
        pair_write, pair = pair_memory("buffer", PAIR)
        m.d.comb += [
            arrival_index.eq(pick([tails[tier] for tier in range(tiers)], self.arrival.tier)),
            pair_write.addr.eq(Cat(arrival_index, self.arrival.tier)),
            pair_write.data.words.eq(self.arrival.words),
            pair_write.data.pc.eq(self.arrival.pc[1:]),
            pair_write.data.faults.eq(self.arrival.faults),
            pair_write.data.history.eq(self.arrival.history.pair),
            pair_write.en.eq(self.arriving.any()),
        ]
        pair_index = Signal(index_shape)
        m.d.sync += pair_index.eq(arrival_index)
        flags_write, kept_flags = pair_memory("flags", PAIR_FLAGS)
        m.d.comb += [
            flags_write.addr.eq(Cat(pair_index, self.pair_tier)),
            flags_write.data.eq(self.pair_flags),
            flags_write.en.eq(self.pair_valid),
        ]

        # The pair of the tier in I is the one that is being predecoded.
        i_new = Signal()

        def of_pair(select, shape=1):
            """What `select` finds in the pair's flags."""
            value = Signal(shape)
            m.d.comb += value.eq(Mux(i_new, select(self.pair_flags), select(kept_flags)))
            return value

        def of_word(flags) -> Value:
            """Those of the word in I."""
            return Mux(i_odd, flags[1], flags[0])

        last = Signal()
        m.d.comb += last.eq(i_odd | of_pair(lambda flags: flags.ends_first))
        waits = of_pair(lambda flags: of_word(flags.waits), WAITS)
        instruction = Signal(32)
        m.d.comb += instruction.eq(of_word(pair.words))

        in_d = Signal()
        in_x = Signal()
        # What was chosen while a redirect took it away is not there.
        present = Signal()
        m.d.comb += [
            in_d.eq(self.d.valid & (self.d.tier == i_tier)),
            in_x.eq(self.x.valid & (self.x.tier == i_tier)),
            present.eq(i_valid & ~(self.dropped.valid & (self.dropped.tier == i_tier))),
        ]
        waits_for_result = (in_d & waits.last_in_d) | (
            in_x & Mux(in_d, waits.second_in_x, waits.last_in_x)
        )
        # That the instruction needs the load decides last whether it goes.
        may_go = apart(m, "may_go", present & ~waits_for_result & ~self.stall)
        awaited = self.awaited | (self.collects & (in_d | in_x))
        uses = of_pair(lambda flags: of_word(flags.uses), USES)
        m.d.comb += self.awaits.eq(awaited & self._touches(m, instruction, uses))
        goes = apart(m, "goes", may_go & ~self.awaits)
        i_wfi = Signal()
        killed = self.kill.valid & (self.kill.tier == i_tier)
        m.d.comb += [
            self.present.eq(present),
            i_wfi.eq(of_pair(lambda flags: of_word(flags.wfi))),
            self.wfi.valid.eq(goes & i_wfi & ~killed),
            self.wfi.tier.eq(i_tier),
        ]
        issued = self.issued
        history_known = Signal()
        m.d.comb += [
            history_known.eq(pair.history.word == i_odd),
            issued.valid.eq(goes & ~killed),
            issued.tier.eq(i_tier),
            issued.pc.eq(Cat(i_odd, pair.pc)),
            issued.instruction.eq(instruction),
            issued.predicted.eq(last & of_pair(lambda flags: flags.predicted)),
            issued.history.branch.eq(Mux(history_known, pair.history.branch, 0)),
            issued.history.known.eq(history_known),
            issued.fault.eq(of_word(pair.faults)),
        ]

        # Where the tier in I goes on.
        i_next_head = apart(m, "i_next_head", (i_head + last)[: len(i_head)])
        i_next_odd = apart(m, "i_next_odd", ~last | of_pair(lambda flags: flags.next_odd))
        for tier in range(tiers):
            here = i_tier == tier
            arrives = self.arrival.valid & (self.arrival.tier == tier)
            with m.If(redirects(self.redirect, tier)):
                m.d.sync += [
                    heads[tier].eq(0),
                    tails[tier].eq(0),
                    pairs[tier].eq(0),
                    odds[tier].eq(self.redirect.pc[0]),
                ]
            with m.Else():
                with m.If(goes & here):
                    m.d.sync += [heads[tier].eq(i_next_head), odds[tier].eq(i_next_odd)]
                with m.If(arrives):
                    m.d.sync += tails[tier].eq(tails[tier] + 1)
                # Bits to invert, for a multiplexer would become a clock enable, which is slower
                # when `goes` is known last.
                held = pairs[tier]
                more = Mux(arrives, ~held & Cat(1, held[:-1]), 0)
                fewer = Mux(arrives, 0, held & Cat(~held[1:], 1))
                if_goes = apart(m, f"if_goes{tier}", Mux(last & here, fewer, more))
                if_stays = apart(m, f"if_stays{tier}", more)
                m.d.sync += pairs[tier].eq(pairs[tier] ^ Mux(goes, if_goes, if_stays))

        # The next slot. That the instruction in I stalls, or a redirect that is known late, does
        # not change the choice; the slot may then be lost to the tier.
        here = Signal(tiers)
        filled = Signal(tiers)
        m.d.comb += [
            here.eq(Cat(i_valid & (i_tier == tier) for tier in range(tiers))),
            filled.eq(
                Cat(
                    pairs[tier][0] & ~(self.redirect.early & (self.redirect.early_tier == tier))
                    for tier in range(tiers)
                )
            ),
        ]
        i_has_one = Signal()
        runs_dry = Signal()
        m.d.comb += [
            i_has_one.eq(pick([held[0] & ~held[1] for held in pairs], i_tier)),
            runs_dry.eq(last & i_has_one & ~bit(self.arriving, i_tier)),
        ]
        shares = Signal()
        is_memory = of_pair(lambda flags: of_word(flags.memory))
        m.d.comb += shares.eq(bit(self.sharing, i_tier) & is_memory)
        leaves = Signal()
        m.d.comb += leaves.eq(present & (i_wfi | runs_dry | shares))
        candidates = Signal(tiers)
        m.d.comb += candidates.eq(
            self.ready & (filled | self.arriving) & ~(here & leaves.replicate(tiers))
        )

        # A pair that arrives now is the next of its tier if the tier has no other. The tier in I
        # goes on where its head is, unless this instruction goes. That is known last and only
        # chooses, so that little lies between it and the registers.
        new = Cat((self.arrival.tier == tier) & ~pairs[tier][0] for tier in range(tiers))
        may_go_on = apart(m, "may_go_on", of_highest(candidates, here))
        next_tier = highest(candidates)
        i_next_new = apart(m, "i_next_new", last & i_has_one & (self.arrival.tier == i_tier))
        m.d.sync += [
            i_valid.eq(candidates.any()),
            i_tier.eq(next_tier),
            row_tier.eq(next_tier),
        ]
        for signal, name, next_one, places in (
            (i_head, "head", i_next_head, [heads[tier] for tier in range(tiers)]),
            (i_odd, "odd", i_next_odd, odds),
            (i_new, "new", i_next_new, new),
        ):
            other_one = apart(m, f"{name}_if_stays", of_highest(candidates, places))
            m.d.sync += signal.eq(Mux(goes & may_go_on, next_one, other_one))
        return m

    def _touches(self, m: Module, word: Value, uses) -> Value:
        """1 if the word names the register that is awaited."""
        fields = (("rd", word[7:12]), ("rs1", word[15:20]), ("rs2", word[20:25]))
        named = [
            apart(m, f"awaits_{field}", uses[field] & (number == self.awaited_rd))
            for field, number in fields
        ]
        return Cat(named).any()
