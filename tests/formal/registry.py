"""All checks, by name."""

from __future__ import annotations

from . import instructions
from .check import Check

CHECKS: dict[str, Check] = {check.name: check for check in instructions.CHECKS}
