"""What CSRs show of the clock and of the inputs, computed from the cycles in which they changed.

Cycles are those of stage M, in which a CSR instruction reads.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from pathlib import Path

from tierv.rtl.isa import LINE_PRIORITY_BITS

#: A CSR that is written in stage A has its new value so many cycles after M.
LATE_WRITE_CYCLES = 2
_WORD = 0xFFFF_FFFF


class History:
    """A value, and the cycles in which it changed."""

    def __init__(self, value: int = 0) -> None:
        self._cycles = [-1]
        self._values = [value]

    def change(self, cycle: int, value: int) -> None:
        """From this cycle on, which is not before that of the last change."""
        if self._cycles[-1] == cycle:
            self._values[-1] = value
        elif self._values[-1] != value:
            self._cycles.append(cycle)
            self._values.append(value)

    def at(self, cycle: int) -> int:
        return self._values[bisect_right(self._cycles, cycle) - 1]

    def _values_of(self, first: int, last: int) -> list[int]:
        start = max(0, bisect_right(self._cycles, first) - 1)
        return self._values[start : bisect_right(self._cycles, last)]

    def ever(self, first: int, last: int) -> int:
        """All bits that are set in any cycle from the first to the last."""
        return reduce(or_, self._values_of(first, last))

    def always(self, first: int, last: int) -> int:
        """All bits that are set in every cycle from the first to the last."""
        return reduce(and_, self._values_of(first, last))

    def changes(self, first: int, last: int) -> bool:
        """Whether it changes in a cycle from the first to the last."""
        return bisect_right(self._cycles, first - 1) < bisect_right(self._cycles, last)

    def next_change(self, cycle: int, limit: int) -> int:
        """The first change after the cycle, or else the limit if that comes first."""
        place = bisect_right(self._cycles, cycle)
        return min(limit, self._cycles[place]) if place < len(self._cycles) else limit


def read_inputs(events: Path) -> tuple[History, History]:
    """The lines and the timers, a bit for each, from the bench's file of events."""
    inputs = {"lines": History(), "timer": History()}
    for event in events.read_text().splitlines():
        cycle, name, value = event.split()
        if name in inputs:
            inputs[name].change(int(cycle), int(value, 16))
    return inputs["lines"], inputs["timer"]


class Clock:
    """``mcycle``, 64 bits."""

    def __init__(self) -> None:
        self._offset = History()
        self._last: tuple[int, bool, int] | None = None

    def value(self, cycle: int) -> int:
        """The counter itself."""
        return cycle + self._offset.at(cycle) & (1 << 64) - 1

    def read(self, cycle: int, high: bool, *, bypassed: bool) -> int:
        """A half; ``bypassed`` if what an instruction right ahead has written there is seen."""
        if bypassed and self._last and self._last[:2] == (cycle - 1, high):
            return self._last[2]
        return self.value(cycle) >> (32 if high else 0) & _WORD

    def write(self, cycle: int, high: bool, word: int) -> None:
        at = cycle + LATE_WRITE_CYCLES
        counted = self.value(at - 1) + 1
        new = word << 32 | counted & _WORD if high else counted & ~_WORD | word
        self._offset.change(at, new - at)
        self._last = cycle, high, word

    def was_set(self, first: int, last: int) -> bool:
        """Whether a write has taken effect in these cycles."""
        return self._offset.changes(first, last)


class Lines:
    """Which lines are pending, for whom, and since when."""

    def __init__(self, lines: int, tiers: int, levels: History) -> None:
        self._lines = lines
        self._levels = levels
        self._cycle = 0
        self._edges = self._latched = self._high = self._acknowledged = 0
        self._new_edges: tuple[int, int] | None = None
        self._masks = [History() for _ in range(tiers)]
        self._priorities = History()
        self.pending = History(0)
        self._rises: list[list[int]] = [[] for _ in range(lines)]
        self._note(0)

    def advance(self, cycle: int) -> None:
        """Find what is pending up to this cycle."""
        while self._cycle < cycle:
            before = self._edges, self._latched, self._high
            self._step()
            quiet = before == (self._edges, self._latched, self._high) and not self._new_edges
            following = self._cycle + 1
            if quiet:
                following = self._levels.next_change(self._cycle, cycle)
            self._cycle = max(self._cycle + 1, following)
            self._note(before_pending=self.pending.at(self._cycle - 1))

    def _step(self) -> None:
        """The registers at the end of this cycle."""
        edges = self._edges
        if self._new_edges and self._new_edges[0] == self._cycle:
            edges = self._new_edges[1]
            self._new_edges = None
        lines = self._levels.at(self._cycle)
        kept = self._latched & ~self._acknowledged | lines & ~self._high
        self._latched = self._edges & edges & kept
        self._high = lines & edges
        self._edges = edges
        self._acknowledged = 0

    def _note(self, before_pending: int) -> None:
        pending = self._latched | self._levels.at(self._cycle) & ~self._high
        self.pending.change(self._cycle, pending)
        for line in range(self._lines):
            if (pending & ~before_pending) >> line & 1:
                self._rises[line].append(self._cycle)

    def acknowledge(self, lines: int) -> None:
        """In the cycle to which time has advanced."""
        self._acknowledged = lines

    def set_edges(self, edges: int) -> None:
        """By an instruction in the cycle to which time has advanced; so the next two."""
        self._new_edges = self._cycle + LATE_WRITE_CYCLES - 1, edges

    def set_mask(self, tier: int, mask: int) -> None:
        self._masks[tier].change(self._cycle + LATE_WRITE_CYCLES, mask)

    def set_priorities(self, priorities: int) -> None:
        """Of all lines, the lowest line's in the lowest bits."""
        self._priorities.change(self._cycle + LATE_WRITE_CYCLES, priorities)

    def pending_for(self, tier: int, cycle: int) -> int:
        """``mlinepend``."""
        return self.pending.at(cycle) & self._masks[tier].at(cycle)

    def ever_pending_for(self, tier: int, first: int, last: int) -> int:
        """Lines of the tier that are pending in any cycle from the first to the last."""
        return self.pending.ever(first, last) & self._masks[tier].ever(first, last)

    def always_pending_for(self, tier: int, first: int, last: int) -> int:
        """Lines of the tier that are pending in every cycle from the first to the last."""
        return self.pending.always(first, last) & self._masks[tier].always(first, last)

    def claim(self, tier: int, cycle: int) -> int:
        """``mlineclaim``: pending two cycles ago, by half of each priority a cycle."""
        pending = self.pending_for(tier, cycle - 2)
        early, late = self._priorities.at(cycle - 2), self._priorities.at(cycle - 1)
        half = LINE_PRIORITY_BITS // 2

        def rank(line: int) -> tuple[int, int, int]:
            place = LINE_PRIORITY_BITS * line
            low = (1 << half) - 1
            return early >> place + half & low, late >> place & low, -line

        ranked = [line for line in range(self._lines) if pending >> line & 1]
        return max(ranked, key=rank) + 1 if ranked else 0

    def stamps(self, line: int, cycle: int, clock: Clock) -> Sequence[int] | None:
        """What ``mlinestamp`` may show; None if ``mcycle`` was set too soon behind a rise.

        The stamp of a line that has just risen may still have to be written.
        """
        delay = self._lines + 5
        possible = []
        for rise in reversed(self._rises[line]):
            if clock.was_set(rise, rise + delay):
                return None
            possible.append(clock.value(rise) & _WORD)
            if rise + delay < cycle:
                return possible
        return [*possible, 0]


class EventCounter:
    """A 40-bit counter of events, at most one a cycle: all that it can be, as an interval."""

    def __init__(self) -> None:
        self._least = self._most = self._cycle = 0

    def read(self, cycle: int, high: bool, word: int) -> bool:
        """Whether a half can be this in the cycle; remembers that it is."""
        self._pass(cycle)
        found = []
        for upper in range(self._least >> 32, (self._most >> 32) + 1):
            first, last = (upper << 32, upper << 32 | _WORD) if high else (upper << 32 | word,) * 2
            first, last = max(first, self._least), min(last, self._most)
            if first <= last and (not high or upper & 0xFF == word):
                found += [first, last]
        if not found:
            return False
        self._least, self._most = found[0], found[-1]
        return True

    def write(self, cycle: int, high: bool, word: int | None) -> None:
        """A half is set; None is unknown."""
        self._pass(cycle)
        first, last = (0, _WORD) if word is None else (word, word)
        if high:
            self._least = (first & 0xFF) << 32 | (0 if self._crosses() else self._least & _WORD)
            self._most = (last & 0xFF) << 32 | (_WORD if self._crosses() else self._most & _WORD)
        else:
            self._least = self._least & ~_WORD | first
            self._most = self._most & ~_WORD | last

    def _crosses(self) -> bool:
        return self._least >> 32 != self._most >> 32

    def _pass(self, cycle: int) -> None:
        self._most += cycle - self._cycle
        self._cycle = cycle
        wrapped = self._least >> 40 << 40
        self._least -= wrapped
        self._most -= wrapped
