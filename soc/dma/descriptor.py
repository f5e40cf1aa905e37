"""What processor and DMA say to each other in local memory: one table for Python and C.

A ring consists of descriptors of four words. The first one is the address of a buffer, even, in the
same memory. The second one belongs to whom its highest bit says: while that is 1, to the DMA, which
uses the descriptors in their order and gives each back by writing the second word with that bit 0.
The other two are the processor's own.
"""

from __future__ import annotations

#: Words of a descriptor.
WORDS = 4
#: The second word is the DMA's while this is 1.
OWNED_BIT = 31
#: Bits of a length in bytes, at most a little under 2 KiB.
LENGTH_BITS = 11

#: Of a receive descriptor. Given: the room in the buffer.
RECEIVE_ROOM_LSB = 0
#: Given back: the sum of the frame, the bytes that were stored, what was wrong, and whether the
#: frame is a good datagram and nothing else (``DatagramCheck``).
RECEIVE_SUM_LSB = 0
RECEIVE_LENGTH_LSB = 16
RECEIVE_LONG_BIT = 27
RECEIVE_TRUNCATED_BIT = 28
RECEIVE_CRC_BIT = 29
RECEIVE_DATAGRAM_BIT = 30

#: Of a transmit descriptor: length of the frame; the halves of the frame from which on it is summed
#: and where the checksum goes, if it is wanted; and an event when the frame has been fetched.
TRANSMIT_LENGTH_LSB = 0
TRANSMIT_START_LSB = 11
TRANSMIT_PLACE_LSB = 19
TRANSMIT_HALF_BITS = 8
TRANSMIT_SUM_BIT = 27
TRANSMIT_EVENT_BIT = 30


def constants() -> dict[str, int]:
    """Name and value of the constants for C."""
    names = (
        "WORDS",
        "OWNED_BIT",
        "LENGTH_BITS",
        "RECEIVE_LENGTH_LSB",
        "RECEIVE_LONG_BIT",
        "RECEIVE_TRUNCATED_BIT",
        "RECEIVE_CRC_BIT",
        "RECEIVE_DATAGRAM_BIT",
        "TRANSMIT_START_LSB",
        "TRANSMIT_PLACE_LSB",
        "TRANSMIT_SUM_BIT",
        "TRANSMIT_EVENT_BIT",
    )
    return {f"ETHDMA_{name}": globals()[name] for name in names}
