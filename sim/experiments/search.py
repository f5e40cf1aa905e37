"""The highest load that something survives, by trials."""

from __future__ import annotations

import math
from collections.abc import Callable


def highest(
    survives: Callable[[float], bool],
    *,
    first: float,
    step: float,
    precision: float,
    growth: float = 1.0,
    least: float = 0.0,
    most: float = math.inf,
) -> float:
    """The highest load that survives, to a factor of ``precision``.

    What is below a load that survives is taken to survive too. The search begins at ``first``, goes
    up or down by factors of ``step``, each the power ``growth`` of the one before, until it has one
    that survives and one that does not, and halves what is between them on a logarithmic scale. It
    does not leave ``least``, which has been seen to survive, and ``most``.
    """
    low = high = first
    if survives(first):
        while survives(high := min(low * step, most)):
            if high == most:
                return most
            low, step = high, step**growth
    else:
        while (low := max(least, high / step)) > least and not survives(low):
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
