"""The words of a frame, as they pass what looks at them."""

from __future__ import annotations

from litex.gen import LiteXModule
from migen import Signal

#: Bits of the number of a half of a word in a frame.
HALF_BITS = 10


class FrameWatch(LiteXModule):
    """What looks at the words of a frame as they pass."""

    def __init__(self) -> None:
        #: A new frame: forget the one before.
        self.clear = Signal()
        #: A word, its number in the frame, and which of its bytes belong to the frame.
        self.valid = Signal()
        self.word = Signal(32)
        self.bytes = Signal(4)
        self.index = Signal(HALF_BITS - 1)
