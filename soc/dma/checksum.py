"""The one's-complement sum of the 16-bit words of a frame (RFC 1071)."""

from __future__ import annotations

from migen import Cat, Constant, If, Signal

from .frame_watch import HALF_BITS, FrameWatch

#: Of a sum of as many halves as any frame has.
_SUM_BITS = 32
#: Cycles after the last word in which the folded sum is there.
SUM_CYCLES = 3


class FrameSum(FrameWatch):
    """Sums halves of a frame's words, in memory's byte order, from one of the halves on.

    The folded sum is there ``SUM_CYCLES`` after the last word.
    """

    def __init__(self) -> None:
        super().__init__()
        #: Number of the first half that counts.
        self.start = Signal(HALF_BITS)
        #: The sum, folded to 16 bits.
        self.sum = Signal(16)

        pair = Signal(17)
        pair_valid = Signal()
        total = Signal(_SUM_BITS)
        folded = Signal(17)
        halves = [Signal(16), Signal(16)]
        for position, half in enumerate(halves):
            byte = 2 * position
            counts = Signal()
            self.comb += [
                counts.eq(Cat(Constant(position, 1), self.index) >= self.start),
                half[:8].eq(self.word[8 * byte : 8 * byte + 8]),
                If(self.bytes[byte + 1], half[8:].eq(self.word[8 * byte + 8 : 8 * byte + 16])),
                If(~counts | ~self.bytes[byte], half.eq(0)),
            ]
        self.sync += [
            pair.eq(halves[0] + halves[1]),
            pair_valid.eq(self.valid),
            If(pair_valid, total.eq(total + pair)),
            If(self.clear, total.eq(0), pair_valid.eq(0)),
            folded.eq(total[:16] + total[16:]),
        ]
        self.comb += self.sum.eq(folded[:16] + folded[16])
