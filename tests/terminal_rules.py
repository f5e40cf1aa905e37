"""The definition of the terminal server's packing rules, written apart from the firmware."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """Times are in cycles, 0 for no rule."""

    time: int
    idle: int
    length: int
    delimiter: bytes

    def __str__(self) -> str:
        return f"{self.time} {self.idle} {self.length} {self.delimiter.hex() or '-'}"


def packets(rules: Rules, arrivals: list[tuple[int, int]]) -> list[tuple[str, bytes]]:
    """The definition: packets that (byte, time) make, and why each ended; the last may be open."""
    done: list[tuple[str, bytes]] = []
    current: list[tuple[int, int]] = []

    def close(reason: str) -> None:
        done.append((reason, bytes(byte for byte, _ in current)))
        current.clear()

    for byte, time in arrivals:
        if current:
            ends = []
            if rules.time:
                ends.append((current[0][1] + rules.time, 0, "time"))
            if rules.idle:
                ends.append((current[-1][1] + rules.idle, 1, "idle"))
            if ends and min(ends)[0] <= time:
                close(min(ends)[2])
        current.append((byte, time))
        data = bytes(byte for byte, _ in current)
        if rules.delimiter and data.endswith(rules.delimiter):
            close("delimiter")
        elif len(current) == rules.length:
            close("length")
    if current:
        close("open")
    return done
