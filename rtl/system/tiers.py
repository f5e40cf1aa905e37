"""The state of each tier: started, waiting, blocked, held back."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..layouts import csr_access_layout, redirect_layout, tier_event_layout
from ..params import CoreParams
from ..util import apart, applied, redirects
from .csr_select import names_one_of


class TierState(wiring.Component):
    """Say which tiers may issue.

    `ready` is combinational from `wake`, so a tier may issue in the cycle after its line is seen.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        event = tier_event_layout(params)
        super().__init__(
            self._debug_members()
            | {
                "csr": In(csr_access_layout(params)),
                "redirect": In(redirect_layout(params)),
                #: A wfi has issued; it has reached stage M and retires.
                "wfi_issued": In(event),
                "wfi_retired": In(event),
                #: An enabled interrupt is pending.
                "wake": In(params.tiers),
                #: No bus access of the tier is open, and its lines show the last one's effect.
                "settled": In(params.tiers),
                #: The instruction in M goes back to wait for the tier's bus access, or the divider.
                "wait_for_bus": In(event),
                "bus_busy": In(params.tiers),
                "wait_for_divider": In(event),
                "divider_busy": In(params.tiers),
                #: The tier is to take an interrupt: it does not wait for the divider.
                "interrupt": In(params.tiers),
                #: The instruction in I needs the result of a load that is still on the bus.
                "wait_for_load": In(event),
                "load_open": In(params.tiers),
                "waits_for_load": Out(params.tiers),
                #: The tier has stopped before the instruction in M.
                "stopped": In(event),
                "ready": Out(params.tiers),
                #: The tier is to stop at its next instruction.
                "stop": Out(params.tiers),
                "started": Out(params.tiers),
                "waiting": Out(params.tiers),
                #: The tier leaves wfi in this cycle.
                "waking": Out(params.tiers),
                #: A ceiling of a less urgent tier holds the tier back.
                "held": Out(params.tiers),
                "ceilings": Out(data.ArrayLayout(params.tier_bits, params.tiers)),
            }
        )

    def _debug_members(self) -> dict:
        tiers = self._params.tiers
        if not self._params.debug:
            return {}
        return {
            #: As ``debug.hart.DebugMode`` tells them.
            "debug": In(tiers),
            "halting": In(tiers),
            "forced": In(tiers),
            "forced_ready": Out(tiers),
            "alone": In(1),
            "stepping": In(tiers),
            "forget_wait": In(tiers),
        }

    def elaborate(self, platform) -> Module:
        m = Module()
        tiers = self._params.tiers
        with_debug = self._params.debug

        def event(name: str):
            happening = getattr(self, name)
            return Cat(happening.valid & (happening.tier == tier) for tier in range(tiers))

        redirected = Cat(redirects(self.redirect, tier) for tier in range(tiers))
        started = Signal(tiers, init=1)
        wfi_in_pipe = Signal(tiers)
        # All that a wake needs but `wake`, which is known last.
        may_wake = Signal(tiers)
        m.d.comb += [
            self.started.eq(started),
            may_wake.eq(started & self.waiting & self.settled & ~self.stop),
            self.waking.eq(may_wake & self.wake),
        ]
        # A tier that halts while it waits goes on to wait when it leaves debug mode.
        leaves_wait, waits_now = redirected, event("wfi_retired")
        if with_debug:
            m.d.comb += may_wake.eq(
                started & self.waiting & self.settled & ~self.stop & ~self.halting & ~self.debug
            )
            leaves_wait = (redirected & ~self.halting & ~self.debug) | self.forget_wait
            waits_now = waits_now & ~self.stepping & ~self.debug

        # wfi: from its issue until it retires, then until an interrupt is pending.
        m.d.sync += [
            wfi_in_pipe.eq(
                (wfi_in_pipe | event("wfi_issued")) & ~event("wfi_retired") & ~redirected
            ),
            self.waiting.eq(
                (self.waiting & ~self.waking & ~leaves_wait)
                | (waits_now & ~(self.wake & self.settled))
            ),
        ]

        # Instructions that go back to wait for something.
        blocked = Signal(tiers)
        divides = Signal(tiers)
        waits_for_bus = Signal(tiers)
        waits_for_divider = Signal(tiers)
        # A cycle late, so that only a wake comes from the lines straight to `ready`.
        interrupted = Signal(tiers)
        m.d.sync += interrupted.eq(self.interrupt)
        m.d.comb += divides.eq(self.divider_busy & ~interrupted)
        for cause, waits, busy in (
            ("wait_for_bus", waits_for_bus, self.bus_busy),
            ("wait_for_divider", waits_for_divider, divides),
            ("wait_for_load", self.waits_for_load, self.load_open),
        ):
            m.d.sync += waits.eq(event(cause) | (waits & busy & ~redirected))
            blocked = blocked | (waits & busy)

        # Start and stop; what software writes wins over a stop that ends in the same cycle.
        for tier in range(tiers):
            between = self.waiting[tier] | (self.stopped.valid & (self.stopped.tier == tier))
            if with_debug:
                between = between | self.debug[tier]
            with m.If(self.stop[tier] & between):
                m.d.sync += [started[tier].eq(0), self.stop[tier].eq(0)]
        with m.If(self.csr.write & names_one_of(self.csr.address, "mtierrun")):
            wanted = applied(self.csr, started)
            m.d.sync += [
                started.eq(started | wanted),
                self.stop.eq(started & ~wanted),
            ]

        # Ceilings of the tiers that are awake.
        with m.If(self.csr.write & names_one_of(self.csr.address, "mceiling")):
            for tier in range(tiers):
                with m.If(self.csr.tier == tier):
                    m.d.sync += self.ceilings[tier].eq(applied(self.csr, self.ceilings[tier]))
        for tier in range(1, tiers):
            m.d.comb += self.held[tier].eq(
                Cat(
                    started[lower] & ~self.waiting[lower] & (self.ceilings[lower] >= tier)
                    for lower in range(tier)
                ).any()
            )

        free = Signal(tiers)
        m.d.comb += free.eq(started & ~wfi_in_pipe & ~blocked & ~self.held)
        runs = apart(m, "runs", free & ~self.waiting)
        wakes = apart(m, "wakes", free & may_wake)
        m.d.comb += self.ready.eq(runs | (wakes & self.wake))
        if with_debug:
            usual = (runs & ~self.halting & ~self.debug) | (wakes & self.wake)
            m.d.comb += [
                self.forced_ready.eq(self.forced & ~wfi_in_pipe & ~blocked),
                self.ready.eq(self.forced_ready | (usual & ~self.alone.replicate(tiers))),
            ]
        return m
