"""Which tiers are started, as far as the instructions that have retired tell."""

from __future__ import annotations

from decoding import modified
from spike_tiers import MismatchError


class TierStarts:
    """``mtierrun``, and where tiers go on that were stopped.

    A tier that is to stop still executes the instruction that has entered stage X, if that is not
    behind its own write, and one behind each precise access to the bus. Its bit may read 1 until it
    has stopped, and 0 from then on. A write that leaves the bit as it is calls the stop off, if it
    was in time.
    """

    def __init__(self, tiers: int) -> None:
        self._all = (1 << tiers) - 1
        self._running = 1
        self._stopping = 0
        # Those of which a stop was called off, or not in time.
        self._unsure = 0
        # Of each tier that stops, the cycle up to which it may still execute, if not accesses.
        self._until = [0] * tiers
        self._moved: list[int | None] = [None] * tiers

    @property
    def may_rest(self) -> int:
        """Tiers that are stopped, or stop."""
        return self._all & ~self._running

    def executes(self, tier: int, cycle: int, *, is_access: bool) -> None:
        """``is_access``: the instruction is a precise access to the bus.

        Raises ``MismatchError`` if the tier is stopped, or stops for too long."""
        place = 1 << tier
        if self._unsure & place:
            self._unsure &= ~place
            self._running |= place
        if self._running & place:
            return
        if not self._stopping & place:
            raise MismatchError(f"tier {tier} executes an instruction though it is stopped")
        if not is_access and cycle > self._until[tier]:
            raise MismatchError(f"cycle {cycle}: tier {tier} goes on though it was to stop")
        self._until[tier] = cycle + 1 if is_access else 0

    def read(self, value: int) -> None:
        """Raises ``MismatchError`` if ``mtierrun`` can't be this; remembers which have stopped."""
        if value & ~(self._stopping | self._unsure) != self._running:
            raise MismatchError(
                f"mtierrun is {value:#x}; {self._running:#x} run,"
                f" {self._stopping:#x} stop, {self._unsure:#x} may have been stopped"
            )
        self._running |= value & self._unsure
        self._stopping &= value
        self._unsure = 0

    def write(self, tier: int, cycle: int, word: int, source: int, *, was_read: bool) -> None:
        """``was_read``: the instruction has shown the value before."""
        ones = modified(word, 0, source) & self._all
        zeros = ~modified(word, self._all, source) & self._all
        kept = self._all & ~ones & ~zeros
        started = self._running | self._stopping | self._unsure
        stops = (self._running | self._unsure) & zeros
        for other in range(len(self._until)):
            if stops >> other & 1:
                self._until[other] = cycle + (other != tier)
        if zeros >> tier & 1:
            self._until[tier] = 0
        called_off = self._stopping & kept
        self._unsure = self._unsure & kept | (0 if was_read else called_off)
        self._stopping = started & zeros
        self._running = (self._running & kept | ones | called_off) & ~self._unsure

    def is_stopped(self, tier: int, writer: int) -> bool:
        """Whether the writer's ``mtierpc`` and ``mtierarg`` of the tier count.

        Raises ``MismatchError`` if the trace does not tell.
        """
        if tier != writer and (self._stopping | self._unsure) >> tier & 1:
            raise MismatchError("a program must wait for a tier to stop before it moves it")
        return not (self._running | self._stopping) >> tier & 1

    def move(self, tier: int, pc: int) -> None:
        """The stopped tier is to go on there."""
        self._moved[tier] = pc & 0xFFFF_FFFC

    def is_moved(self, tier: int) -> bool:
        """Whether the tier goes on elsewhere."""
        return self._moved[tier] is not None

    def take_move(self, tier: int) -> int | None:
        """Where the tier goes on instead; None if where it was. Asked once."""
        pc, self._moved[tier] = self._moved[tier], None
        return pc
