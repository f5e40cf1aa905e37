"""The highest load that something survives, by trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

#: Places of the grid in a doubling, and those that are tried first on the way up.
PLACES_PER_OCTAVE = 64
_STRIDE = 16
#: Above the first loss so many places are looked at, half a stride apart.
_LOOK_ABOVE = 4


@dataclass(frozen=True)
class Survival:
    """What is known of the loads that something survives."""

    #: The greatest load such that it and all that were tried below it survive; None: the least that
    #: was tried does not.
    highest: float | None
    #: The greatest load tried above one that does not survive which survives all the same.
    again: float | None = None


def up_to_first_loss(
    survives: Callable[[float], bool], *, first: float, least: float, most: float
) -> Survival:
    """Search a grid of loads for the first that does not survive; that one load survives says
    nothing of those below it.

    The grid is ``first`` times powers of the 64th root of 2 (1.1 %), and ``most`` at the end. From
    ``first`` every 16th place is tried upwards (19 %) until one does not survive; if that is
    ``first`` itself, every 64th downwards to ``least`` until one does. What is between the two is
    halved. Then four places above the first loss, or above ``first``, are tried too, each 8 above
    the one before (9 %). Trials are ``4 log2(most / first) + 10`` upwards or
    ``log2(first / least) + 12`` downwards at the most.
    """

    def load(place: int) -> float:
        return min(first * 2 ** (place / PLACES_PER_OCTAVE), most)

    good, bad = 0, 0
    if survives(first):
        while survives(load(bad := good + _STRIDE)):
            good = bad
            if load(good) == most:
                return Survival(most)
    else:
        while not survives(load(good := bad - PLACES_PER_OCTAVE)):
            if load(good - PLACES_PER_OCTAVE) < least:
                return Survival(None, _highest_above(survives, load, 0))
            bad = good
    while bad - good > 1:
        middle = (good + bad) // 2
        if survives(load(middle)):
            good = middle
        else:
            bad = middle
    return Survival(load(good), _highest_above(survives, load, max(bad, 0)))


def _highest_above(
    survives: Callable[[float], bool], load: Callable[[int], float], place: int
) -> float | None:
    """The greatest load that survives, of some above a place."""
    loads = [load(place + _STRIDE // 2 * number) for number in range(1, _LOOK_ABOVE + 1)]
    return max(filter(survives, loads), default=None)


def highest(
    survives: Callable[[float], bool],
    *,
    first: float,
    step: float,
    precision: float,
    growth: float = 1.0,
    least: float,
    most: float,
) -> float | None:
    """The highest load that survives, to a factor of ``precision``; None: not even ``least`` does.

    What is below a load that survives is taken to survive too. The search begins at ``first``, goes
    up or down by factors of ``step``, each the power ``growth`` of the one before, until it has one
    that survives and one that does not, and halves what is between them on a logarithmic scale. It
    does not leave ``least`` and ``most``.
    """
    low = high = first
    if survives(first):
        while survives(high := min(low * step, most)):
            if high == most:
                return most
            low, step = high, step**growth
    else:
        while not survives(low := max(least, high / step)):
            if low == least:
                return None
            high, step = low, step**growth
    return bisect(survives, low, high, precision)


def bisect(survives: Callable[[float], bool], good: float, bad: float, precision: float) -> float:
    """What survives and is next to what does not, to a factor of ``precision``.

    ``good`` survives and ``bad`` does not; either is the larger one. What is between them is halved
    on a logarithmic scale.
    """
    while max(good / bad, bad / good) > precision:
        middle = math.sqrt(good * bad)
        if survives(middle):
            good = middle
        else:
            bad = middle
    return good
