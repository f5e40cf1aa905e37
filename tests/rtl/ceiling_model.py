"""Which tiers a ceiling holds back, as far as the instructions that have retired tell."""

from __future__ import annotations

from spike_tiers import MismatchError

#: An instruction that has issued when a ceiling begins to hold is in stage M after so many cycles.
IN_PIPE_CYCLES = 6


class Ceilings:
    """Each tier's ``mceiling``, from when it surely holds others back.

    It does not while the tier waits or is stopped. Of each tier that may be, the ceiling is left
    out until its next instruction.
    """

    def __init__(self, tiers: int) -> None:
        self._tiers = tiers
        # Of each tier, its ceiling and the first cycle in which it surely holds others back in M.
        self._values = [0] * tiers
        self._since: list[int | None] = [None] * tiers

    def executes(self, tier: int, cycle: int, *, stops: bool) -> None:
        """``stops``: the tier is to stop behind the instruction.

        Raises ``MismatchError`` if a less urgent tier holds this one back.
        """
        for lower in range(tier):
            since = self._since[lower]
            if since is not None and since <= cycle and self._values[lower] >= tier:
                raise MismatchError(
                    f"cycle {cycle}: tier {tier} executes an instruction though tier {lower}"
                    f" has a ceiling of {self._values[lower]}"
                )
        if self._since[tier] is None and not stops:
            self._since[tier] = cycle + IN_PIPE_CYCLES

    def set(self, tier: int, cycle: int, value: int) -> None:
        """The tier has written its ``mceiling`` in this cycle."""
        # Not by the last instruction of a tier that stops.
        if value > self._values[tier] and self._since[tier] is not None:
            self._since[tier] = cycle + IN_PIPE_CYCLES
        self._values[tier] = value

    def rest(self, tiers: int) -> None:
        """These wait, or are to stop."""
        for tier in range(self._tiers):
            if tiers >> tier & 1:
                self._since[tier] = None
