"""The parameters of the serial ports, and the numbers that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

#: Ports in one block.
MAX_PORTS = 16
#: Characters in a FIFO.
MAX_DEPTH = 256
#: Ticks of the transmitter and receiver in a bit: the receiver looks at the line in each.
TICKS = 8
#: Bits of the number that sets the speed: 2^32 would be one bit a cycle, the fastest is 1 / TICKS.
TUNING_BITS = 32 - 3


#: From here on the number that sets the speed is not more than 0.1 % off.
TUNING_MIN = 500


def baud_range(sys_clk_hz: int) -> tuple[int, int]:
    """The slowest and the fastest speed."""
    return (TUNING_MIN * sys_clk_hz >> 32) + 1, sys_clk_hz // TICKS


def tuning_word(baud: int, sys_clk_hz: int) -> int:
    """The number that sets a speed, rounded to the nearest.

    Raises ``ValueError`` for a speed that is not in the range.
    """
    low, high = baud_range(sys_clk_hz)
    if not low <= baud <= high:
        raise ValueError(f"baud must be from {low} to {high}, not {baud!r}")
    return min(round(baud * (1 << 32) / sys_clk_hz), (1 << TUNING_BITS) - 1)


@dataclass(frozen=True, kw_only=True)
class SerialParams:
    """What a block of serial ports is built with.

    Raises ``ValueError`` naming the parameter and the value for one that can't be built.
    """

    #: Frequency of the clock, and the speed after reset.
    sys_clk_hz: int
    baud: int = 115_200
    #: 1 to ``MAX_PORTS``.
    ports: int = 1
    #: Characters that a port holds in each direction, 1 to ``MAX_DEPTH``.
    receive_depth: int = 16
    transmit_depth: int = 16
    #: Whether the cycle of each start bit is kept.
    stamps: bool = True

    def __post_init__(self) -> None:
        # LiteX's own targets have it as a float.
        self._check("sys_clk_hz", TICKS, 10**9)
        self._check("ports", 1, MAX_PORTS)
        self._check("receive_depth", 1, MAX_DEPTH)
        self._check("transmit_depth", 1, MAX_DEPTH)
        if not isinstance(self.stamps, bool):
            raise ValueError(f"stamps must be True or False, not {self.stamps!r}")
        tuning_word(self.baud, self.sys_clk_hz)

    def _check(self, name: str, low: int, high: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")
