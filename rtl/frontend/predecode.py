"""Find the jumps in a pair of instruction words that has just arrived, and where they go."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..isa import Opcode, csr_addresses
from ..layouts import (
    LOOP_BITS,
    PAIR_FLAGS,
    PC_BITS,
    PRODUCER,
    USES,
    arrival_layout,
    redirect_layout,
    target_bits,
    tier_event_layout,
)
from ..params import CoreParams
from ..util import bit, in_region, redirects

CSR = csr_addresses()


class _Word:
    """What one word is, as far as the next fetch depends on it."""

    def __init__(self, m: Module, word: Value, breaks: Value) -> None:
        opcode = word[2:7]
        funct3 = word[12:15]
        self.jal = opcode == Opcode.JAL
        self.branch = opcode == Opcode.BRANCH
        self.jalr = opcode == Opcode.JALR
        plain_system = (opcode == Opcode.SYSTEM) & (funct3 == 0)
        # wfi is the one of these with bit 28 set and bit 29 clear.
        self.wfi = plain_system & word[28] & ~word[29]
        fence_i = (opcode == Opcode.MISC_MEM) & funct3[0]
        self.waits_for_commit = (plain_system & ~self.wfi) | fence_i
        # The history says whether to break the rule "backward taken, forward not taken".
        self.taken = word[31] ^ breaks
        # A target at an odd half-word traps, so it is not fetched.
        self.aligned = Mux(self.jal, ~word[21], ~word[8])
        links = (word[7:12] == 1) | (word[7:12] == 5)
        self.call = (self.jal | self.jalr) & links
        self.returns = (
            self.jalr
            & (word[7:12] == 0)
            & ((word[15:20] == 1) | (word[15:20] == 5))
            & (word[20:32] == 0)
        )
        jal_offset = Cat(word[22:31], word[20], word[12:20], word[31])
        branch_offset = Cat(word[9:12], word[25:31], word[7], word[31])
        load = opcode == Opcode.LOAD
        store = opcode == Opcode.STORE
        self.memory = load | store
        self.system = (opcode == Opcode.SYSTEM) & ~self.wfi
        self.claims = (opcode == Opcode.SYSTEM) & (word[20:32] == CSR["mlineclaim"])
        no_rs1 = (opcode == Opcode.LUI) | (opcode == Opcode.AUIPC) | self.jal
        register = opcode == Opcode.OP
        self.rd = word[7:12]
        self.sources = (word[15:20], word[20:25])
        self.uses = Signal(USES)
        m.d.comb += [
            self.uses.rd.eq(~self.branch & ~store),
            self.uses.rs1.eq(~no_rs1),
            self.uses.rs2.eq(register | self.branch | store),
        ]
        # Of lb: the sign of a byte comes too late for stage M.
        signed_byte = funct3 == 0
        writes = self.rd != 0
        csr = (opcode == Opcode.SYSTEM) & (funct3 != 0)
        multiply = register & word[25] & (funct3 == 0)
        # Other multiplications and the slow ones of Zbb (`bitmanip.SlowBitUnit`).
        slow = (register & word[25] & ((~funct3[2] & funct3[:2].any()) | word[27])) | (
            (opcode == Opcode.OP_IMM) & (funct3 == 1) & word[30] & ~word[27] & ~word[22]
        )
        #: What later instructions must know of this one.
        self.producer = Signal(PRODUCER)
        m.d.comb += [
            self.producer.rd.eq(self.rd),
            self.producer.load.eq(load & writes),
            self.producer.late.eq(((load & signed_byte) | slow | csr) & writes),
            self.producer.in_m.eq(((load & ~signed_byte) | multiply) & writes),
            self.producer.csr.eq(csr),
        ]
        #: Words from this one to its target.
        self.offset = Mux(word[3], jal_offset.as_signed(), branch_offset.as_signed())

    def waits(self, producer) -> tuple[Value, Value]:
        """Whether it waits while `producer` is in D, and while it is in X.

        A load must not write after a younger instruction that writes the same register; one that
        also reads it comes again if the load turns out to be a late one. A CSR instruction reads
        mtvec, mepc and the claimed line before stage M, where the one before writes.
        """
        reads = (self.uses.rs1, self.uses.rs2)
        uses = Cat(
            read & (source == producer.rd) for read, source in zip(reads, self.sources, strict=True)
        ).any()
        overtakes = self.uses.rd & (self.rd == producer.rd) & producer.load
        in_d = (uses & (producer.late | producer.in_m)) | overtakes | (self.system & producer.csr)
        in_x = Mux(uses, producer.late, overtakes) | (self.claims & producer.csr)
        return in_d, in_x


class Predecoder(wiring.Component):
    """Cut a pair after its first jump and predict where the tier goes on.

    Works in the cycle after the pair's arrival, which is also the first in which its words can
    issue. Only jumps within local memory, or within cached memory, are followed, so that a mistaken
    path never reads a device; in other code a jump stops the fetch until it is resolved.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        self._target_bits = target_bits(params)
        super().__init__(
            {
                "arrival": In(arrival_layout(params)),
                "redirect": In(redirect_layout(params)),
                #: What was found in a pair of this tier, one cycle after its arrival.
                "valid": Out(1),
                "tier": Out(params.tier_bits),
                "flags": Out(PAIR_FLAGS),
                "ended": Out(tier_event_layout(params)),
                "has_target": Out(1),
                #: A word address within local memory, or a whole one (``layouts.target_bits``).
                "target": Out(self._target_bits),
                #: Pairs from there to this one if the jump closes a short loop, else 0.
                "loop_pairs": Out(LOOP_BITS),
                #: Where the last predicted return of this tier went.
                "return_tier": In(params.tier_bits),
                "return_target": Out(PC_BITS),
                #: The predicted return of `resolved.tier` has come to stage M.
                "resolved": In(tier_event_layout(params)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        tiers = p.tiers
        # Where jumps are followed; of their targets the lower `bits` are computed.
        regions = [p.imem, *([p.cached] if p.icache_bytes else [])]
        bits = max(region.size_log2 for region in regions) - 2
        above = self._target_bits - bits
        base = C(p.imem.base >> p.imem.size_log2, PC_BITS - self._target_bits)

        arrived = Signal(arrival_layout(p))
        # But for the last pair of a region, behind which it ends.
        local = Signal()
        cached = Signal()
        known = local | cached if p.icache_bytes else local
        following = Signal(self._target_bits)
        m.d.sync += arrived.eq(self.arrival)
        for flag, region in zip((local, cached), regions, strict=False):
            region_bits = region.size_log2 - 2
            m.d.sync += flag.eq(
                in_region(self.arrival.pc, region) & ~self.arrival.pc[1:region_bits].all()
            )
        m.d.sync += following.eq(Cat(0, self.arrival.pc[1 : self._target_bits] + 1))

        def stays(total: Value) -> Value:
            """1 if the bits of a target that may differ from the pair's do not leave its region."""
            differs = [
                flag
                & (total[region.size_log2 - 2 : bits] != arrived.pc[region.size_log2 - 2 : bits])
                for flag, region in zip((local, cached), regions, strict=False)
                if region.size_log2 - 2 < bits
            ]
            return ~Cat(differs).any() if differs else C(1)

        returning = Signal(tiers)
        words = [_Word(m, arrived.words[k], arrived.history.breaks[k]) for k in range(2)]
        targets = []
        loops = []
        insides = []
        follows = []
        pops = []
        ends = []
        for k, word in enumerate(words):
            offset = Signal(signed(max(bits, 19) + 1), name=f"offset{k}")
            total = Signal(bits + 1, name=f"target{k}")
            m.d.comb += [
                offset.eq(word.offset),
                total.eq(Cat(k, arrived.pc[1:bits]) + offset[:bits]),
            ]
            high = offset[bits:]
            follow = Signal(name=f"follow{k}")
            pop = Signal(name=f"pop{k}")
            end = Signal(name=f"end{k}")
            m.d.comb += [
                follow.eq(known & word.aligned & (word.jal | (word.branch & word.taken))),
                pop.eq(known & word.returns & ~bit(returning, arrived.tier)),
                end.eq(follow | word.jal | word.jalr | word.waits_for_commit),
            ]
            targets.append(Cat(total[:bits], arrived.pc[bits : bits + above]))
            within = Mux(total[-1], high.all(), ~high.any())
            pairs_back = (arrived.pc[1 : 1 + LOOP_BITS] - total[1 : 1 + LOOP_BITS])[:LOOP_BITS]
            loops.append(Mux(offset[LOOP_BITS:].all(), pairs_back + 1, 0)[:LOOP_BITS])
            insides.append(within & stays(total) if p.icache_bytes else within)
            follows.append(follow)
            pops.append(pop)
            ends.append(end)

        # The first word counts unless the tier jumped to the second.
        ends_first = Signal()
        m.d.comb += ends_first.eq(ends[0] & ~arrived.pc[0])
        follow = Mux(ends_first, follows[0], follows[1])
        pop = Mux(ends_first, pops[0], pops[1])
        branch = Mux(ends_first, words[0].branch, words[1].branch)
        call = Mux(ends_first, words[0].call, words[1].call) & known
        goes_on = ~redirects(self.redirect, arrived.tier)
        behind = Signal(self._target_bits)
        m.d.comb += behind.eq(Mux(ends_first, Cat(1, arrived.pc[1 : self._target_bits]), following))

        top = self._return_stack(
            m,
            push=arrived.valid & goes_on & call,
            pop=arrived.valid & goes_on & pop,
            tier=arrived.tier,
            address=behind,
        )
        # Whether a target lies inside the region is known late. A branch whose target does not is
        # predicted not taken.
        inside = Signal()
        target = Signal(self._target_bits)
        m.d.comb += [
            inside.eq(Mux(ends_first, insides[0], insides[1])),
            target.eq(Mux(pop, top, Mux(inside, Mux(ends_first, targets[0], targets[1]), behind))),
        ]

        next_odds = [
            Mux(pops[k], top[0], follows[k] & Mux(insides[k], targets[k][0], k == 0))
            for k in range(2)
        ]

        predicted = Memory(shape=self._target_bits, depth=p.contexts, init=[])
        m.submodules.predicted = predicted
        predicted_write = predicted.write_port()
        predicted_read = predicted.read_port(domain="comb")
        m.d.comb += [
            predicted_write.addr.eq(arrived.tier),
            predicted_write.data.eq(top),
            predicted_write.en.eq(arrived.valid & pop),
            predicted_read.addr.eq(self.return_tier),
            self.return_target.eq(Cat(predicted_read.data, base)),
        ]
        for tier in range(tiers):
            with m.If(
                redirects(self.redirect, tier)
                | (self.resolved.valid & (self.resolved.tier == tier))
            ):
                m.d.sync += returning[tier].eq(0)
            with m.Elif(arrived.valid & pop & (arrived.tier == tier)):
                m.d.sync += returning[tier].eq(1)

        flags = self.flags
        m.d.comb += [
            self.valid.eq(arrived.valid),
            self.tier.eq(arrived.tier),
            flags.ends_first.eq(ends_first),
            flags.predicted.eq((follow & inside) | pop),
            flags.next_odd.eq(Mux(ends_first, next_odds[0], next_odds[1])),
            flags.wfi.eq(Cat(word.wfi for word in words)),
            flags.memory.eq(Cat(word.memory for word in words)),
            flags.uses.eq(Cat(word.uses for word in words)),
            self.ended.valid.eq(arrived.valid & (ends_first | ends[1])),
            self.ended.tier.eq(arrived.tier),
            self.has_target.eq((follow & (inside | branch)) | pop),
            self.target.eq(target),
            self.loop_pairs.eq(Mux(follow & inside, Mux(ends_first, loops[0], loops[1]), 0)),
        ]
        self._waits(m, arrived, words, ends_first)
        return m

    def _waits(self, m: Module, arrived, words: list[_Word], ends_first: Value) -> None:
        """Compare each word with the two before it in the tier's program."""
        last = Signal(PRODUCER)
        second = Signal(PRODUCER)
        seen = Memory(shape=data.ArrayLayout(PRODUCER, 2), depth=self._params.contexts, init=[])
        m.submodules.seen = seen
        write = seen.write_port()
        read = seen.read_port(domain="comb")
        follows = arrived.valid & (arrived.tier == self.arrival.tier)
        m.d.comb += [
            write.addr.eq(arrived.tier),
            write.en.eq(arrived.valid),
            write.data[0].eq(Mux(ends_first, words[0].producer, words[1].producer)),
            write.data[1].eq(Mux(arrived.pc[0] | ends_first, last, words[0].producer)),
            read.addr.eq(self.arrival.tier),
        ]
        m.d.sync += [
            last.eq(Mux(follows, write.data[0], read.data[0])),
            second.eq(Mux(follows, write.data[1], read.data[1])),
        ]
        # Ahead of a pair that begins with its second word is a jump, which nothing waits for.
        begins_first = ~arrived.pc[0]
        waits = self.flags.waits
        for word, flags, newest, older, counts in (
            (words[0], waits[0], last, second, C(1)),
            (words[1], waits[1], words[0].producer, Mux(begins_first, last, second), begins_first),
        ):
            last_in_d, last_in_x = word.waits(newest)
            _, second_in_x = word.waits(data.View(PRODUCER, older))
            m.d.comb += [
                flags.last_in_d.eq(counts & last_in_d),
                flags.last_in_x.eq(counts & last_in_x),
                flags.second_in_x.eq(second_in_x),
            ]

    def _return_stack(self, m: Module, *, push: Value, pop: Value, tier: Value, address: Value):
        """Push and pop return addresses of `tier`; returns the newest."""
        p = self._params
        depth_log2 = p.return_stack_log2
        depth = p.contexts << depth_log2
        # A return without a call goes nowhere but to local memory.
        init = [p.imem.base >> 2] * depth if p.icache_bytes else []
        stack = Memory(shape=self._target_bits, depth=depth, init=init)
        m.submodules.return_stack = stack
        write = stack.write_port()
        read = stack.read_port(domain="comb")
        if depth_log2:
            tops = Signal(data.ArrayLayout(depth_log2, p.contexts))
            newest = Signal(depth_log2)
            m.d.comb += newest.eq(tops[tier])
            beyond = (newest + 1)[:depth_log2]
            with m.If(push):
                m.d.sync += tops[tier].eq(beyond)
            with m.Elif(pop):
                m.d.sync += tops[tier].eq(newest - 1)
            m.d.comb += [write.addr.eq(Cat(beyond, tier)), read.addr.eq(Cat(newest, tier))]
        else:
            m.d.comb += [write.addr.eq(tier), read.addr.eq(tier)]
        m.d.comb += [write.data.eq(address), write.en.eq(push)]
        return read.data
