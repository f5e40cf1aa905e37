"""Which pending line is the most urgent, and priorities as their CSRs hold them."""

from __future__ import annotations

from tierv.rtl.isa import LINE_PRIORITY_BITS, LINES_PER_PRIORITY_CSR


def most_urgent(pending: int, priorities: list[int]) -> int:
    """Number plus one of the pending line of highest priority, of equals the lowest; 0 if none."""
    lines = [line for line in range(len(priorities)) if pending >> line & 1]
    return min(lines, key=lambda line: (-priorities[line], line)) + 1 if lines else 0


def groups(priorities: list[int]) -> list[int]:
    """Priorities as the mlineprio CSRs hold them."""
    return [
        sum(
            priority << LINE_PRIORITY_BITS * place
            for place, priority in enumerate(priorities[first : first + LINES_PER_PRIORITY_CSR])
        )
        for first in range(0, len(priorities), LINES_PER_PRIORITY_CSR)
    ]
