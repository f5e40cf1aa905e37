"""Which tiers are started, as far as the instructions that have retired tell."""

from __future__ import annotations

from decoding import modified
from spike_tiers import MismatchError


class TierStarts:
    """``mtierrun``, and where tiers go on that were stopped.

    A tier that is to stop still executes the instruction that has entered stage X, and one behind
    each precise access to the bus. Its bit may read 1 until it has stopped, and 0 from then on.
    """

    def __init__(self, tiers: int) -> None:
        self._all = (1 << tiers) - 1
        self._running = 1
        self._stopping = 0
        # Of each tier that stops, instructions that it may still execute.
        self._left = [0] * tiers
        self._moved: list[int | None] = [None] * tiers

    def executes(self, tier: int, *, is_access: bool) -> None:
        """``is_access``: the instruction is a precise access to the bus.

        Raises ``MismatchError`` if the tier is stopped, or stops for too long."""
        if self._running >> tier & 1:
            return
        if not self._stopping >> tier & 1:
            raise MismatchError(f"tier {tier} executes an instruction though it is stopped")
        if not self._left[tier]:
            raise MismatchError(f"tier {tier} goes on though it was to stop")
        self._left[tier] = int(is_access)

    def read(self, value: int) -> None:
        """Raises ``MismatchError`` if ``mtierrun`` can't be this; remembers which have stopped."""
        if value & ~self._stopping != self._running:
            raise MismatchError(
                f"mtierrun is {value:#x}; {self._running:#x} run, {self._stopping:#x} stop"
            )
        self._stopping &= value

    def write(self, word: int, source: int, *, was_read: bool) -> None:
        """``was_read``: the instruction has shown the value before."""
        if self._stopping and not was_read:
            raise MismatchError("a program must read mtierrun as it writes it while a tier stops")
        started = self._running | self._stopping
        wanted = modified(word, started, source) & self._all
        self._running = (started | wanted) & ~(started & ~wanted)
        self._stopping = started & ~wanted
        for tier in range(len(self._left)):
            if self._stopping >> tier & 1:
                self._left[tier] = 1

    def is_stopped(self, tier: int, writer: int) -> bool:
        """Whether the writer's ``mtierpc`` and ``mtierarg`` of the tier count.

        Raises ``MismatchError`` if the trace does not tell.
        """
        if tier != writer and self._stopping >> tier & 1:
            raise MismatchError("a program must wait for a tier to stop before it moves it")
        return not (self._running | self._stopping) >> tier & 1

    def move(self, tier: int, pc: int) -> None:
        """The stopped tier is to go on there."""
        self._moved[tier] = pc & 0xFFFF_FFFC

    def take_move(self, tier: int) -> int | None:
        """Where the tier goes on instead; None if where it was. Asked once."""
        pc, self._moved[tier] = self._moved[tier], None
        return pc
