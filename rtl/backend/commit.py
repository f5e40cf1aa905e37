"""Stage M: whether an instruction retires, traps or goes back, and where its tier goes on."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..isa import Cause
from ..layouts import PC_BITS, executed_layout, redirect_layout, tier_event_layout, trap_layout
from ..params import CoreParams
from ..util import bit, pick


class Commit(wiring.Component):
    """Decide what becomes of the instruction in M.

    It *retires*, it *traps* (its effects are dropped and the tier goes to mtvec), or it is
    *repeated* (its effects are dropped and the tier goes back to it): to wait for the bus or the
    divider.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        p = params
        event = tier_event_layout(p)
        debug_members = {
            #: Tiers in debug mode: they do not trap, but end their program.
            "debug": In(p.tiers),
            "program_trapped": Out(event),
            #: The debugger's redirect, if nothing else is redirected.
            "begin": In(event),
            "begin_pc": In(PC_BITS),
            "begin_taken": Out(1),
            #: mtierpc of a tier has been written; one in debug mode is not redirected by it.
            "moved": Out(event),
        }
        super().__init__(
            (debug_members if p.debug else {})
            | {
                "m": In(executed_layout(p)),
                "redirect": Out(redirect_layout(p)),
                #: What this tier has in earlier stages is dropped. (A tier that is started by a
                #: redirect has nothing there.)
                "kill": Out(event),
                "retired": Out(event),
                "trap": Out(trap_layout(p)),
                "mret": Out(event),
                "wfi": Out(event),
                "stopped": Out(event),
                "csr_writes": Out(1),
                # Interrupts.
                "interrupt": In(p.tiers),
                "interrupt_cause": In(data.ArrayLayout(5, p.tiers)),
                "started": In(p.tiers),
                # The tiers' bus slots.
                "bus_idle": In(p.tiers),
                #: A late load leaves its slot if the instruction in M has no use for stage A.
                "bus_leaving": In(p.tiers),
                "bus_failed_store": In(p.tiers),
                "bus_open": Out(1),
                "bus_collect": Out(1),
                "bus_abandon": Out(event),
                "failure_taken": Out(event),
                "wait_for_bus": Out(event),
                #: A late load of this tier waits for a slot in stage A that M leaves free.
                "late": In(event),
                "late_taken": Out(1),
                #: The load that retires writes its register later.
                "postponed": Out(1),
                #: The instruction in D has taken its operand from the load in M.
                "d_uses_m_load": In(1),
                "d_tier": In(p.tier_bits),
                # The divider.
                "divide_taken": Out(event),
                "wait_for_divider": Out(event),
                # The return predictor.
                "return_resolved": Out(event),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        i = self.m
        control = i.control

        def tier_event(name: str, happens) -> None:
            event = getattr(self, name)
            m.d.comb += [event.valid.eq(happens), event.tier.eq(i.tier)]

        # Loads and stores on the bus.
        # A slot is free again as its late load leaves it: what needs a slot leaves stage A to it.
        waits_for_slot = Signal()
        waits_for_bus = Signal()
        m.d.comb += [
            self.late_taken.eq(self.late.valid & ~(i.valid & i.uses_slot)),
            waits_for_slot.eq((i.needs_idle & ~(self.bus_idle | self.bus_leaving)).any()),
            waits_for_bus.eq(waits_for_slot | i.waits_for_access),
        ]

        interrupted = Signal()
        traps = Signal()
        repeats = Signal()
        retires = Signal()
        m.d.comb += [
            interrupted.eq(i.interrupted & bit(self.interrupt, i.tier)),
            traps.eq(i.traps | (~i.stopped & interrupted)),
            repeats.eq(i.stopped | (i.interrupted & ~interrupted) | waits_for_bus | i.divide_waits),
            retires.eq(i.valid & i.completes & ~waits_for_slot),
        ]
        tier_event("retired", retires)
        tier_event("mret", i.valid & i.certain & control.mret)
        tier_event("wfi", i.valid & i.certain & control.wfi)
        tier_event("stopped", i.valid & i.stopped)
        tier_event("failure_taken", i.valid & traps & i.bus_failed & ~interrupted)
        tier_event("divide_taken", i.valid & i.certain & control.divide & ~i.divide_waits)
        tier_event("wait_for_bus", i.valid & waits_for_bus)
        tier_event("return_resolved", i.valid & i.predicted_return)
        tier_event("wait_for_divider", i.valid & i.certain & i.divide_waits)
        m.d.comb += [
            self.csr_writes.eq(i.valid & i.writes_csr),
            # A precise access does not wait here, but is opened when the slot is idle, unless it
            # is to meet an interrupt when it comes again.
            self.bus_open.eq(
                i.valid
                & i.remote
                & Mux(i.buffered, ~waits_for_slot, bit(self.bus_idle & ~self.interrupt, i.tier))
            ),
            self.bus_collect.eq(i.valid & i.collects),
            # Something else stands where the access was, and goes its own way.
            self.bus_abandon.valid.eq(i.valid & i.abandons),
            self.bus_abandon.tier.eq(i.tier),
            self.postponed.eq(i.remote & i.buffered),
        ]

        # Where the tier goes on; tier 0 begins at what `alternative` is after reset.
        resets = Signal(init=1)
        m.d.sync += resets.eq(0)
        starts_tier = Signal()
        refetches = Signal()
        m.d.comb += [
            starts_tier.eq(
                self.csr_writes & i.names_tier_pc & ~bit(self.started, i.csr_address[:3])
            ),
            # What follows a load on the bus has taken its operand from local memory.
            refetches.eq(i.remote & control.load & self.d_uses_m_load & (self.d_tier == i.tier)),
        ]
        redirect = self.redirect
        m.d.comb += [
            self.kill.valid.eq(i.valid & (i.departs | waits_for_slot | refetches)),
            self.kill.tier.eq(i.tier),
            redirect.leaves.eq(self.kill),
            # Tier 0 after reset, when `csr_address` is 0.
            redirect.begins.valid.eq(resets | starts_tier),
            redirect.begins.tier.eq(i.csr_address[: p.tier_bits]),
            redirect.valid.eq(redirect.leaves.valid | redirect.begins.valid),
            redirect.tier.eq(
                Mux(redirect.begins.valid, redirect.begins.tier, redirect.leaves.tier)
            ),
            redirect.early.eq(resets | (i.valid & i.redirects)),
            redirect.early_tier.eq(i.tier),
            redirect.early_pc.eq(i.alternative),
            redirect.confirmed.eq(resets | (i.redirects & ~(i.interrupted & ~interrupted))),
        ]
        with m.If(traps):
            m.d.comb += redirect.pc.eq(i.vector)
        with m.Elif(repeats):
            m.d.comb += redirect.pc.eq(i.pc)
        with m.Elif(starts_tier | control.load):
            # mtierpc reads 0, so that there is nothing to clear.
            m.d.comb += redirect.pc.eq(Mux(control.funct3[:2] == 3, 0, i.result[2:]))
        with m.Else():
            m.d.comb += redirect.pc.eq(i.alternative)

        taken = i.valid & traps
        if p.debug:
            in_debug = bit(self.debug, i.tier)
            tier_event("program_trapped", taken & in_debug)
            taken = taken & ~in_debug
            self._begin(m, starts_tier, resets)
        self._trap(m, taken, interrupted)
        return m

    def _begin(self, m: Module, starts_tier: Signal, resets: Signal) -> None:
        """What the debugger starts goes before a start by mtierpc, which then changes dpc only."""
        p = self._params
        redirect = self.redirect
        named = self.m.csr_address[: p.tier_bits]
        redirects = starts_tier & ~bit(self.debug, named)
        m.d.comb += [
            self.moved.valid.eq(starts_tier),
            self.moved.tier.eq(named),
            self.begin_taken.eq(self.begin.valid & ~self.kill.valid & ~starts_tier & ~resets),
            redirect.begins.valid.eq(resets | redirects | self.begin_taken),
        ]
        with m.If(self.begin_taken):
            m.d.comb += [redirect.begins.tier.eq(self.begin.tier), redirect.pc.eq(self.begin_pc)]

    def _trap(self, m: Module, taken, interrupted) -> None:
        p = self._params
        i = self.m
        trap = self.trap
        m.d.comb += [
            trap.valid.eq(taken),
            trap.tier.eq(i.tier),
            trap.pc.eq(i.pc),
            trap.interrupt.eq(interrupted),
        ]
        with m.If(interrupted):
            m.d.comb += trap.cause.eq(
                pick([self.interrupt_cause[tier] for tier in range(p.tiers)], i.tier)
            )
        with m.Elif(i.bus_failed):
            m.d.comb += trap.cause.eq(
                Mux(bit(self.bus_failed_store, i.tier), Cause.STORE_ACCESS, Cause.LOAD_ACCESS)
            )
        with m.Else():
            m.d.comb += trap.cause.eq(i.cause)
