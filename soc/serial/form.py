"""The form of characters: what transmitter and receiver agree on."""

from __future__ import annotations

import enum

from migen import Array, Record, Signal


class Parity(enum.IntEnum):
    """The parity bit behind the data bits."""

    NONE = 0
    EVEN = 1
    ODD = 2
    #: Always high, always low.
    MARK = 3
    SPACE = 4


class Form(Record):
    """Signals that set the form."""

    def __init__(self) -> None:
        #: ``data_bits`` is the number less 5, ``parity`` a ``Parity``.
        Record.__init__(self, [("data_bits", 2), ("parity", 3), ("two_stop_bits", 1)])

    @property
    def last_bit(self):
        """The last data bit, as a mask."""
        return Array([1 << 4, 1 << 5, 1 << 6, 1 << 7])[self.data_bits]

    @property
    def has_parity(self):
        """There is a parity bit."""
        return self.parity != Parity.NONE

    def parity_bit(self, odd_ones: Signal):
        """Level of the parity bit behind data with an odd number of ones, or not."""
        return Array([0, odd_ones, ~odd_ones, 1, 0, 0, 0, 0])[self.parity]
