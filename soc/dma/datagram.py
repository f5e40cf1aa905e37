"""Whether a received frame is nothing but a good datagram of UDP: software then need not look."""

from __future__ import annotations

from migen import Cat, Constant, If, Signal

from .checksum import FrameSum
from .descriptor import LENGTH_BITS
from .frame_watch import FrameWatch

#: Bits of a count of a frame's bytes, with one more than a length has.
BYTES_BITS = LENGTH_BITS + 1
_ALL_ONES = 0xFFFF
_ETHERNET_BYTES, _IPV4_BYTES = 14, 20
#: Numbers of halves of a frame: where IPv4 and its addresses begin, and where UDP does.
_IPV4 = _ETHERNET_BYTES // 2
_ADDRESSES, _UDP = _IPV4 + 6, _IPV4 + _IPV4_BYTES // 2
#: Halves as they lie in a word: Ethernet's type of IPv4, and with UDP's number the word of the
#: pseudo-header that is neither an address nor a length.
_TYPE_IPV4, _VERSION, _PROTOCOL_UDP = 0x0008, 0x45, 17
_PSEUDO = _PROTOCOL_UDP << 8


class DatagramCheck(FrameWatch):
    """Looks at the words of a frame as they pass.

    A good datagram is one of IPv4 (RFC 791) that is no fragment and whose header has twenty bytes
    and a right checksum, with UDP (RFC 768) in it whose checksum is there and right, and the
    lengths of both say that they end where the frame does. Addresses and ports are not looked at.
    """

    def __init__(self) -> None:
        super().__init__()
        #: Bytes of the frame, from the cycle behind its last word on; more than there can be if it
        #: has more than a datagram has.
        self.total = Signal(BYTES_BITS)
        #: The frame is a good datagram: four cycles after its last word.
        self.good = Signal()

        self.header = header = FrameSum()
        self.datagram = datagram = FrameSum()
        for part, start in ((header, _IPV4), (datagram, _ADDRESSES)):
            self.comb += [
                part.clear.eq(self.clear),
                part.word.eq(self.word),
                part.index.eq(self.index),
                part.start.eq(start),
            ]
        last_of_header = Signal()
        self.comb += [
            last_of_header.eq(self.index == _UDP // 2),
            header.valid.eq(self.valid & (self.index <= _UDP // 2)),
            header.bytes.eq(self.bytes & ~Cat(Constant(0, 2), last_of_header, last_of_header)),
            datagram.valid.eq(self.valid),
            datagram.bytes.eq(self.bytes),
        ]
        self._judge()

    def _at(self, half: int) -> tuple[Signal, Signal]:
        """Whether a half of the frame is here, and the half."""
        here = Signal()
        self.comb += here.eq(self.valid & (self.index == half // 2))
        return here, self.word[16 * (half % 2) : 16 * (half % 2) + 16]

    def _judge(self) -> None:
        plain = Signal()
        has_checksum = Signal()
        ipv4_bytes = Signal(16)
        udp_bytes = Signal(16)
        fills_frame = Signal()
        header_good = Signal()
        pseudo = Signal(17)
        wanted = Signal(16)

        def number(half: Signal) -> Cat:
            return Cat(half[8:], half[:8])

        at_type, ethernet_type = self._at(_IPV4 - 1)
        at_version, version = self._at(_IPV4)
        at_length, ipv4_length = self._at(_IPV4 + 1)
        at_fragment, fragment = self._at(_IPV4 + 3)
        at_protocol, protocol = self._at(_IPV4 + 4)
        at_udp_length, udp_length = self._at(_UDP + 2)
        at_checksum, checksum = self._at(_UDP + 3)
        self.sync += [
            If(
                (at_type & (ethernet_type != _TYPE_IPV4))
                | (at_version & (version[:8] != _VERSION))
                # Neither an offset nor more of them.
                | (at_fragment & ((fragment[:6] != 0) | (fragment[8:] != 0)))
                | (at_protocol & (protocol[8:] != _PROTOCOL_UDP)),
                plain.eq(0),
            ),
            If(at_length, ipv4_bytes.eq(number(ipv4_length))),
            If(at_udp_length, udp_bytes.eq(number(udp_length)), pseudo.eq(udp_length + _PSEUDO)),
            If(at_checksum, has_checksum.eq(self.bytes[1] & (checksum != 0))),
            If(self.clear, plain.eq(1), has_checksum.eq(0)),
            # The sum of all that UDP's checksum covers is all ones; neither part of it is 0.
            wanted.eq(~(pseudo[:16] + pseudo[16])),
            fills_frame.eq(
                (ipv4_bytes + _ETHERNET_BYTES == self.total)
                & (udp_bytes + _IPV4_BYTES == ipv4_bytes)
            ),
            header_good.eq(self.header.sum == _ALL_ONES),
            self.good.eq(
                plain & has_checksum & fills_frame & header_good & (self.datagram.sum == wanted)
            ),
        ]
