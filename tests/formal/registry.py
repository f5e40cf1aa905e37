"""All checks, by name."""

from __future__ import annotations

from . import bus, chains, csrs, instructions, isolation, priority, progress, twins
from .check import Check

CHECKS: dict[str, Check] = {
    check.name: check
    for module in (instructions, isolation, priority, progress, twins, chains, csrs, bus)
    for check in module.CHECKS
}
