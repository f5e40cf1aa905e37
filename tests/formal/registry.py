"""All checks, by name."""

from __future__ import annotations

from . import (
    bus,
    cached_accesses,
    chains,
    changed_code,
    csrs,
    data_cache,
    debug,
    fetches,
    instructions,
    isolation,
    priority,
    progress,
    twins,
)
from .check import Check
from .plants import PLANTS
from .solve import Verdict, solve

CHECKS: dict[str, Check] = {
    check.name: check
    for module in (
        instructions,
        isolation,
        priority,
        progress,
        twins,
        chains,
        csrs,
        bus,
        changed_code,
        cached_accesses,
        data_cache,
        fetches,
        debug,
    )
    for check in module.CHECKS
}


def solve_named(
    name: str, solver: str | None, plant: str | None = None, *, shortened: bool = False
) -> Verdict:
    """``solve`` for another process, to which a name can be sent."""
    check = CHECKS[name].shortened() if shortened else CHECKS[name]
    return solve(check, solver=solver, plant=PLANTS[plant] if plant else None)
