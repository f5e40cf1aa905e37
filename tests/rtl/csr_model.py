"""CSRs of time, lines and events: what each may show, from the inputs and the trace's cycles."""

from __future__ import annotations

from decoding import modified
from input_model import Clock, EventCounter, History, Lines
from spike_tiers import MismatchError, SpikeTiers

from tierv.rtl.isa import LINES_PER_PRIORITY_CSR, MAX_LINES, Event, Interrupt, csr_addresses
from tierv.rtl.params import CoreParams

CSR = csr_addresses()
#: By address, whether it is the upper half.
CLOCKS = {
    CSR[f"{name}{half}"]: bool(half) for name in ("mcycle", "cycle", "time") for half in ("", "h")
}
#: The names that can be written also show what was written right before.
WRITABLE_CLOCKS = (CSR["mcycle"], CSR["mcycleh"])
#: By address, the event and whether it is the upper half; no event reads 0.
EVENT_COUNTERS = {
    CSR[f"mhpmcounter{n}{half}"]: (n - 2, bool(half)) for n in range(3, 32) for half in ("", "h")
}
EVENT_SELECTORS = {CSR[f"mhpmevent{n}"]: n - 2 for n in range(3, 32)}
STAMPS = {CSR[f"mlinestamp{line}"]: line for line in range(MAX_LINES)}
MOST_LATENCY = 0xFFFF


class CsrModel:
    """Expects values of these CSRs; knows what the instructions write to them.

    Cycles are those of stage M. What Spike keeps of them, ``spike`` tells after each instruction.
    """

    def __init__(
        self, params: CoreParams, spike: SpikeTiers, lines: History, timer: History
    ) -> None:
        self._params = params
        self._spike = spike
        self._timer = timer
        self._posts = History()
        self._clock = Clock()
        self._lines = Lines(params.lines, params.tiers, lines)
        self._counters = {
            (tier, event): EventCounter() for tier in range(params.tiers) for event in Event
        }
        # Of each tier, mie, or 0 while mstatus disables interrupts.
        self._enabled = [History() for _ in range(params.tiers)]
        # Of each tier, the least that mtierlatency can be.
        self._latencies = [0] * params.tiers
        # CSRs that always are the same.
        self._constants = {CSR["marchid"]: 0, CSR["mvendorid"]: 0}
        for address, event in EVENT_SELECTORS.items():
            counts = params.counters and event in [*Event]
            self._constants[address] = event if counts else 0

    def check(self, tier: int, cycle: int, address: int, value: int) -> None:
        """Raises ``MismatchError`` if the CSR can't show this."""
        self._lines.advance(cycle)
        if address in EVENT_COUNTERS:
            self._check_counter(tier, cycle, *EVENT_COUNTERS[address], value)
        elif address in STAMPS:
            stamps = self._lines.stamps(STAMPS[address], cycle, self._clock)
            if stamps is not None and value not in stamps:
                self._fail(tier, cycle, f"line {STAMPS[address]}'s stamp", value, stamps[0])
        elif address == CSR["mtierlatency"]:
            # Measured by mcycle.
            most = MOST_LATENCY if self._clock.was_set(0, cycle) else min(cycle, MOST_LATENCY)
            if not self._latencies[tier] <= value <= most:
                self._fail(tier, cycle, "mtierlatency", value, self._latencies[tier])
            self._latencies[tier] = value
        else:
            expected = self._expected(tier, cycle, address)
            if expected not in (value, None):
                self._fail(tier, cycle, f"CSR {address:#x}", value, expected)

    def _fail(self, tier: int, cycle: int, what: str, value: int, expected: int) -> None:
        raise MismatchError(
            f"tier {tier}, cycle {cycle}: {what} is {value:#x} instead of {expected:#x}"
        )

    def _check_counter(self, tier: int, cycle: int, event: int, high: bool, value: int) -> None:
        counter = self._counters.get((tier, event)) if self._params.counters else None
        good = counter.read(cycle, high, value) if counter else value == 0
        if not good:
            half = "upper" if high else "lower"
            raise MismatchError(
                f"tier {tier}, cycle {cycle}: {half} half of event counter {event}"
                f" can't be {value:#x}"
            )

    def _expected(self, tier: int, cycle: int, address: int) -> int | None:
        """None if it is not known."""
        lines = self._lines
        if address in CLOCKS:
            bypassed = address in WRITABLE_CLOCKS
            return self._clock.read(cycle, CLOCKS[address], bypassed=bypassed)
        if address == CSR["mip"]:
            pending = {
                Interrupt.MSI: self._spike.is_posted(tier),
                Interrupt.MTI: self._timer.at(cycle) >> tier & 1,
                Interrupt.MEI: lines.pending_for(tier, cycle) != 0,
            }
            return sum(its << code for code, its in pending.items())
        if address == CSR["mlineraw"]:
            return lines.pending.at(cycle)
        if address == CSR["mlinepend"]:
            return lines.pending_for(tier, cycle)
        if address == CSR["mlineclaim"]:
            return lines.claim(tier, cycle)
        return self._constants.get(address)

    def wrote(
        self, tier: int, cycle: int, word: int, address: int, source: int, old: int | None
    ) -> None:
        """``old`` is what the instruction has read, None if it has not."""
        self._lines.advance(cycle)
        if address in WRITABLE_CLOCKS:
            high = CLOCKS[address]
            old = self._clock.read(cycle, high, bypassed=True)
            self._clock.write(cycle, high, modified(word, old, source) & 0xFFFF_FFFF)
        elif address in EVENT_COUNTERS:
            event, high = EVENT_COUNTERS[address]
            counter = self._counters.get((tier, event))
            if counter:
                replaces = word >> 12 & 3 == 1
                known = replaces or old is not None
                counter.write(cycle, high, modified(word, old or 0, source) if known else None)
        elif address == CSR["mtierlatency"]:
            self._latencies[tier] = 0
        elif address == CSR["mlineack"]:
            self._lines.acknowledge(modified(word, 0, source))
        elif address == CSR["mpost"]:
            self._posts.change(cycle + 1, self._spike.shared(address))
        elif address == CSR["mlineedge"]:
            self._lines.set_edges(self._spike.shared(address))
        elif address == CSR["mlinemask"]:
            self._lines.set_mask(tier, self._spike.line_mask(tier))
        elif CSR["mlineprio0"] <= address <= CSR["mlineprio3"]:
            groups = range(-(-self._params.lines // LINES_PER_PRIORITY_CSR))
            shown = (self._spike.shared(CSR[f"mlineprio{group}"]) << 32 * group for group in groups)
            self._lines.set_priorities(sum(shown))

    def enable(self, tier: int, cycle: int) -> None:
        """The instruction in this cycle has left the enables as Spike has them now."""
        self._enabled[tier].change(cycle + 1, self._spike.enabled(tier))

    def disable(self, tier: int, cycle: int) -> None:
        """The instruction in this cycle has cleared the tier's MIE."""
        self._enabled[tier].change(cycle + 1, 0)

    def check_none_due(self, tier: int, cycle: int) -> None:
        """Raises ``MismatchError`` if the instruction in this cycle should have been interrupted.

        An interrupt is due if it is pending and enabled in stage X, and still is in M.
        """
        self._lines.advance(cycle)
        before = cycle - 1
        enabled = self._enabled[tier].always(before, cycle)
        if not enabled:
            return
        always = {
            # They trap a cycle late.
            Interrupt.MEI: self._lines.always_pending_for(tier, before - 1, before),
            Interrupt.MSI: self._posts.always(before, cycle) >> tier & 1,
            Interrupt.MTI: self._timer.always(before, cycle) >> tier & 1,
        }
        for code, pends in always.items():
            if pends and enabled >> code & 1:
                raise MismatchError(f"tier {tier}, cycle {cycle}: interrupt {code} is not taken")

    def check_wake(self, tier: int, first: int, last: int) -> None:
        """Raises ``MismatchError`` if nothing can have ended a wfi between these cycles."""
        self._lines.advance(last)
        sources = {
            Interrupt.MEI: self._lines.ever_pending_for(tier, first, last),
            Interrupt.MSI: self._posts.ever(first, last) >> tier & 1,
            Interrupt.MTI: self._timer.ever(first, last) >> tier & 1,
        }
        enables = self._spike.enables(tier)
        if not any(pends and enables >> code & 1 for code, pends in sources.items()):
            raise MismatchError(f"tier {tier}, cycle {last}: nothing has ended its wfi")

    def check_interrupt(self, tier: int, cause: int, first: int, last: int) -> None:
        """Raises ``MismatchError`` if what was taken between two instructions was not pending.

        Nor may one that goes before it have been pending all the while. ``first`` and ``last`` are
        the cycles of the two.
        """
        self._lines.advance(last)
        # What the first one writes counts from then on; lines trap a cycle late.
        first -= 2
        ever = {
            Interrupt.MEI: self._lines.ever_pending_for(tier, first, last),
            Interrupt.MSI: self._posts.ever(first, last) >> tier & 1,
            Interrupt.MTI: self._timer.ever(first, last) >> tier & 1,
        }
        always = {
            Interrupt.MEI: self._lines.always_pending_for(tier, first, last),
            Interrupt.MSI: self._posts.always(first, last) >> tier & 1,
        }
        if not ever[Interrupt(cause)]:
            self._fail(tier, last, "an interrupt that was not pending", cause, 0)
        for other in (Interrupt.MEI, Interrupt.MSI):
            if other == cause:
                break
            if always[other] and self._spike.enables(tier) >> other & 1:
                self._fail(tier, last, "the interrupt that was taken", cause, other)
