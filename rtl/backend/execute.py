"""Stage X: compute, decide the branch, address local data memory."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..isa import LINE_PRIORITY_CSRS, Cause, csr_addresses, debug_csr_addresses
from ..layouts import PC_BITS, decoded_layout, executed_layout, tier_event_layout
from ..params import CoreParams
from ..system.csr import implemented
from ..system.csr_select import is_one_of
from ..util import apart, bit, in_region, one_hot
from .alu import Alu

CSR = csr_addresses()
#: CSRs whose new value must count for the very next instruction.
FLUSHING_CSRS = (
    "mtvec",
    "mceiling",
    "mtierrun",
    "mbusmode",
    "mlinemask",
    "mlineedge",
    *LINE_PRIORITY_CSRS,
)
#: The same if an interrupt is pending, which may come ahead of the next instruction.
INTERRUPT_CSRS = ("mstatus", "mie")
#: CSRs of a core with external debug that exist in every mode.
TRIGGER_CSRS = ("tselect", "tdata1", "tdata2", "tinfo")


class Execute(wiring.Component):
    """Take an instruction from D, hand it to M.

    Writes local data memory at the end of the cycle: nothing that can still stop the store is
    found later than here.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        p = params
        debug_members = {
            #: The tier in X is in debug mode; an ebreak of it halts; a trigger does.
            "debug": In(p.tiers),
            "break_halts": In(p.tiers),
            "trigger": In(1),
            "x_break": Out(1),
        }
        super().__init__(
            (debug_members if p.debug else {})
            | {
                "decoded": In(decoded_layout(p)),
                #: The instruction in X, a cycle after `decoded`, before any redirect.
                "x": Out(decoded_layout(p)),
                #: The instruction in M; what it would redirect to is, after reset, where tier 0
                #: begins.
                "m": Out(executed_layout(p), init={"alternative": p.reset_address >> 2}),
                "result": Out(32),
                "kill": In(tier_event_layout(p)),
                # Reasons not to execute the tier's next instruction.
                "interrupt": In(p.tiers),
                #: Tiers that have an interrupt pending, enabled or not.
                "pending": In(p.tiers),
                "stop": In(p.tiers),
                "bus_failed": In(p.tiers),
                #: mepc of the tier in X, or else its mtvec.
                "uses_mepc": Out(1),
                "vector": In(PC_BITS),
                #: Tiers whose accesses to the bus are buffered.
                "buffered": In(params.tiers),
                #: Tiers whose precise access has ended, in an error.
                "bus_done": In(params.tiers),
                "bus_error": In(params.tiers),
                #: The instruction in X is that of its tier's access.
                "same_access": In(1),
                # The divider.
                "divide": Out(1),
                "divide_ready": In(1),
                "divide_result": In(32),
                # Local data memory.
                "dmem_address": Out(p.dmem.size_log2 - 2),
                "dmem_write_mask": Out(4),
                "dmem_write_data": Out(32),
            }
            | (
                {
                    # The data cache; its store has the data of `dmem_write_data`.
                    "cache_word": Out(PC_BITS),
                    "cache_hit": In(1),
                    "cache_store": Out(1),
                    "cache_mask": Out(4),
                    "cache_room": In(1),
                    #: Tiers with stores on their way to cached memory.
                    "stores_open": In(params.tiers),
                }
                if p.dcache_bytes
                else {}
            )
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        x = self.x
        control = x.control
        executed = self.m
        m.d.sync += x.eq(self.decoded)
        with m.If(self.kill.valid & (self.kill.tier == self.decoded.tier)):
            m.d.sync += x.valid.eq(0)

        # What can kill is of the tier that was in X a cycle ago.
        follows = Signal()
        m.d.sync += follows.eq(self.decoded.tier == x.tier)
        killed = self.kill.valid & follows
        live = Signal()
        m.d.comb += live.eq(x.valid & ~killed)
        interrupted = Signal()
        stopped = Signal()
        bus_failed = Signal()
        m.d.comb += [
            interrupted.eq(bit(self.interrupt, x.tier)),
            stopped.eq(bit(self.stop, x.tier)),
            bus_failed.eq(bit(self.bus_failed, x.tier)),
        ]
        if p.debug:
            m.d.comb += [
                self.x_break.eq(
                    control.exception
                    & (control.cause == Cause.BREAKPOINT)
                    & bit(self.break_halts, x.tier)
                ),
                stopped.eq(bit(self.stop, x.tier) | self.x_break | self.trigger),
            ]

        m.submodules.alu = alu = Alu(p)
        m.d.comb += [
            alu.control.eq(control),
            alu.first.eq(x.first),
            alu.second.eq(x.second),
            alu.pc.eq(x.pc),
            self.result.eq(
                alu.result
                | Cat(C(0, 2), x.given)
                | (self.divide_result & control.divide.replicate(32))
            ),
        ]
        # Also if it does not execute: the divider finds out by itself.
        m.d.comb += self.divide.eq(x.valid & control.divide)

        address = Signal(32)
        m.d.comb += address.eq(x.first + x.offset.as_signed())
        size = control.funct3[:2]
        misaligned = Signal()
        m.d.comb += misaligned.eq(((size == 1) & address[0]) | ((size == 2) & (address[:2] != 0)))
        local = Signal()
        m.d.comb += local.eq(self._is_local(address))
        mask = Signal(4)
        with m.Switch(size):
            with m.Case(0):
                m.d.comb += [
                    mask.eq(1 << address[:2]),
                    self.dmem_write_data.eq(x.second[:8].replicate(4)),
                ]
            with m.Case(1):
                m.d.comb += [
                    mask.eq(Mux(address[1], 0b1100, 0b0011)),
                    self.dmem_write_data.eq(x.second[:16].replicate(2)),
                ]
            with m.Default():
                m.d.comb += [mask.eq(0b1111), self.dmem_write_data.eq(x.second)]
        # The address, interrupts and what kills the instruction are known late, so they meet last.
        lanes = apart(m, "lanes", Mux(local & ~misaligned, mask, 0))
        may_store = apart(
            m,
            "may_store",
            x.valid & control.store & ~interrupted & ~stopped & ~bus_failed & ~control.exception,
        )
        stores = Signal()
        m.d.comb += [
            stores.eq(may_store & ~killed),
            self.dmem_address.eq(address[2:]),
            self.dmem_write_mask.eq(lanes & stores.replicate(4)),
        ]

        fault, cause = self._fault(m, alu.taken, address, misaligned)
        skipped = interrupted | bus_failed | control.exception
        csr_address = x.offset
        buffered = bit(self.buffered, x.tier)
        remote = (control.load | control.store) & ~local & ~misaligned & ~stopped & ~skipped
        # The access has ended before its instruction comes back; one in M collects its own, or
        # abandons another's.
        done = bit(self.bus_done, x.tier) & self.same_access & ~(executed.valid & follows)
        # The access of the instruction right ahead is in the slot of both.
        behind_access = executed.valid & executed.remote & executed.buffered & follows
        waits_for_stores: Value = C(0)
        if p.dcache_bytes:
            # The cache does not know yet of a load that misses in M, which a store would overtake.
            room = self.cache_room & ~(behind_access & executed.cached)
            served, no_room = self._cached(m, address, misaligned, done, stores, room)
            remote = remote & ~served
            waits_for_stores = no_room & ~stopped & ~skipped
            m.d.comb += self.cache_mask.eq(mask)
        waits_for_access = remote & ~buffered & ~done
        if p.dcache_bytes:
            waits_for_access = waits_for_access | waits_for_stores
        access_fault = remote & ~buffered & done & bit(self.bus_error, x.tier)
        certain = ~stopped & ~skipped & ~fault
        divide_waits = control.divide & ~self.divide_ready
        # Code may come from memory by another way than stores go there.
        fences = control.fence | control.fence_i if p.has_caches else control.fence
        flushing = is_one_of(csr_address, FLUSHING_CSRS) | (
            is_one_of(csr_address, INTERRUPT_CSRS) & bit(self.pending, x.tier)
        )
        flushes = control.fence_i | (control.csr & control.csr_writes & flushing)
        # Only a jalr without offset is predicted.
        wrong_return = control.jump_register & (x.first[2:] != x.predicted_pc)
        wrong_way = (
            (control.branch & (alu.taken ^ x.predicted))
            | ((control.jump | control.jump_register) & ~x.predicted)
            | wrong_return
        )
        comes_again = remote & Mux(buffered, behind_access, ~done)
        redirects = comes_again | (~stopped & (skipped | control.mret | (~fault & wrong_way)))
        # An access that comes again.
        alternative = Mux(control.load, x.pc, x.alternative)
        names_pc = (control.cause == Cause.INSTRUCTION_ACCESS) | (control.cause == Cause.BREAKPOINT)
        shown = Mux(control.exception, names_pc, ~control.csr & (fault | access_fault))
        m.d.comb += self.uses_mepc.eq(
            ~skipped & (control.mret | (control.csr & (csr_address == CSR["mepc"])))
        )
        m.d.sync += [
            executed.valid.eq(live),
            executed.tier.eq(x.tier),
            executed.pc.eq(x.pc),
            executed.control.eq(control),
            executed.result.eq(Mux(control.multiply, 0, self.result)),
            # What mtval shows if the address is wrong, or where the exception is.
            executed.address.eq(
                Mux(
                    control.branch | control.jump | control.exception,
                    Cat(0, ~control.exception, x.alternative),
                    Cat(address[0] & ~control.jump_register, address[1:]),
                )
            ),
            executed.shows_address.eq(shown & ~interrupted & ~bus_failed),
            executed.store_data.eq(self.dmem_write_data),
            executed.store_mask.eq(mask),
            executed.remote.eq(remote),
            executed.buffered.eq(buffered),
            # Not a choice of 0, which would become a reset of the registers, and slower.
            executed.needs_idle.eq(
                one_hot(x.tier, p.tiers)
                & ((remote & buffered) | (fences & ~stopped & ~skipped)).replicate(p.tiers)
            ),
            executed.waits_for_access.eq(waits_for_access),
            executed.collects.eq(remote & ~buffered & done),
            executed.abandons.eq(~remote | ~self.same_access),
            executed.uses_slot.eq(control.writes & ~(remote & buffered)),
            executed.loads_later.eq(control.writes & remote & buffered),
            executed.csr_address.eq(csr_address),
            executed.rs1.eq(x.rs1),
            executed.rs2.eq(x.rs2),
            executed.alternative.eq(
                Mux(
                    skipped | control.mret,
                    self.vector,
                    Mux(control.jump_register, address[2:], alternative),
                )
            ),
            executed.vector.eq(self.vector),
            executed.redirects.eq(redirects),
            executed.predicted_return.eq(control.jump_register & x.predicted),
            executed.names_tier_pc.eq((csr_address >> 3) == (CSR["mtierpc0"] >> 3)),
            executed.taken.eq(alu.taken),
            executed.history.eq(x.history),
            executed.interrupted.eq(interrupted),
            executed.stopped.eq(stopped),
            executed.bus_failed.eq(bus_failed),
            executed.traps.eq(
                ~stopped & ~interrupted & (bus_failed | control.exception | fault | access_fault)
            ),
            executed.certain.eq(certain),
            executed.completes.eq(certain & ~waits_for_access & ~access_fault & ~divide_waits),
            executed.writes_csr.eq(certain & control.csr & control.csr_writes),
            executed.departs.eq(
                ~certain | redirects | flushes | divide_waits | waits_for_access | access_fault
            ),
            executed.cause.eq(Mux(control.exception, control.cause, cause)),
            executed.divide_waits.eq(divide_waits),
        ]
        if p.dcache_bytes:
            m.d.sync += [
                executed.cached.eq(in_region(address[2:], p.cached)),
                executed.waits_for_stores.eq(waits_for_stores),
            ]
        return m

    def _is_local(self, address: Value) -> Value:
        """1 if the address, rs1 + offset, lies in local data memory.

        Above its sign bit the offset changes rs1 by one at most, up or down, and then the lowest
        bit there changes. So little has to wait for the sum.
        """
        x = self.x
        region = self._params.dmem
        split = max(region.size_log2, len(x.offset) - 1)
        upper = x.first[split:]
        base = region.base >> split
        changes = address[split] != upper[0]
        one_before, one_behind = (upper == (base + step) % (1 << len(upper)) for step in (-1, 1))
        inside = Mux(changes, Mux(x.offset[-1], one_behind, one_before), upper == base)
        if split > region.size_log2:
            inside &= address[region.size_log2 : split] == (region.base >> region.size_log2) % (
                1 << (split - region.size_log2)
            )
        return inside

    def _cached(
        self,
        m: Module,
        address: Value,
        misaligned: Value,
        done: Value,
        stores: Value,
        room: Value,
    ) -> tuple[Value, Value]:
        """Access cached memory. Returns two values: the access goes nowhere else; the instruction
        waits for stores, because it is a fence or there is no room for its own."""
        x = self.x
        control = x.control
        cached = Signal()
        fences = control.fence | control.fence_i
        takes_store = control.store & cached & ~misaligned
        m.d.comb += [
            cached.eq(in_region(address[2:], self._params.cached)),
            self.cache_word.eq(address[2:]),
            self.cache_store.eq(stores & takes_store & room),
        ]
        # A load that missed comes back for its word, though its line may be there now.
        served = cached & (control.store | (self.cache_hit & ~done))
        waits = (takes_store & ~room) | (fences & bit(self.stores_open, x.tier))
        return served, waits

    def _fault(self, m: Module, taken: Value, address: Value, misaligned: Value):
        """Exceptions that depend on the operands; the cause also of an access that fails."""
        p = self._params
        x = self.x
        control = x.control
        csr_exists = Signal()
        with m.Switch(x.offset):
            with m.Case(*implemented(p)):
                m.d.comb += csr_exists.eq(1)
            if p.debug:
                addresses = debug_csr_addresses()
                with m.Case(*(addresses[name] for name in TRIGGER_CSRS)):
                    m.d.comb += csr_exists.eq(1)
                with m.Case(*(addresses[name] for name in addresses if name not in TRIGGER_CSRS)):
                    m.d.comb += csr_exists.eq(bit(self.debug, x.tier))
        csr_read_only = x.offset[10:12].all()
        fault = Signal()
        cause = Signal(4)
        with m.If(control.csr):
            m.d.comb += [
                fault.eq(~csr_exists | (csr_read_only & control.csr_writes)),
                cause.eq(Cause.ILLEGAL),
            ]
        with m.Elif(control.load):
            m.d.comb += [
                fault.eq(misaligned),
                cause.eq(Mux(misaligned, Cause.LOAD_MISALIGNED, Cause.LOAD_ACCESS)),
            ]
        with m.Elif(control.store):
            m.d.comb += [
                fault.eq(misaligned),
                cause.eq(Mux(misaligned, Cause.STORE_MISALIGNED, Cause.STORE_ACCESS)),
            ]
        with m.Else():
            m.d.comb += [
                fault.eq(
                    (x.misaligned_target & (control.jump | (control.branch & taken)))
                    | (control.jump_register & address[1])
                ),
                cause.eq(Cause.INSTRUCTION_MISALIGNED),
            ]
        return fault, cause
