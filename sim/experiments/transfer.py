"""What a TCP transfer makes of a line on which some packets are spoiled."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: Transfers that are followed, and segments of each.
_TRANSFERS = 40
_SEGMENTS = 100
#: A sender gives up what doubles at this (RFC 6298, section 2.5).
_MAX_RTO_S = 64.0
#: And a transfer that has gone on for so long is what it is.
_MAX_S = 3_600.0


@dataclass(frozen=True)
class Transfer:
    """TCP in units of a packet's time on the line.

    A window of four segments, slow start and congestion avoidance, a retransmission after three
    duplicate acknowledgements or a timeout of 1 s that doubles with each one in vain (RFC 5681, RFC
    6298); the receiver keeps what is ahead of a hole. Acknowledgements come at once and are not
    lost, which makes a line with losses look better than it is.
    """

    #: Bytes of the user in a segment.
    payload_bytes: int
    #: Time that a packet takes on the line.
    packet_s: float
    window: int = 4
    rto_s: float = 1.0


class _Sender:
    """A transfer whose next packet on the line arrives if ``fates`` says so."""

    def __init__(self, transfer: Transfer, fates: Iterator[bool]) -> None:
        self._transfer = transfer
        self._fates = fates
        self.seconds = 0.0
        #: Segments that the receiver has without a hole, and those behind.
        self.acknowledged = 0
        self._ahead: set[int] = set()
        self._next = 0
        self._window = 1.0
        self._threshold = float(transfer.window)
        self._rto_s = transfer.rto_s
        self._duplicates = 0
        self._timeout_at = 0.0

    def step(self) -> None:
        """Send a packet, or wait for the timeout."""
        open_window = min(int(self._window), self._transfer.window)
        if self._next < self.acknowledged + open_window:
            if self._next == self.acknowledged:
                self._timeout_at = self.seconds + self._transfer.packet_s + self._rto_s
            segment, self._next = self._next, self._next + 1
            self._send(segment)
        else:
            self.seconds = max(self.seconds, self._timeout_at)
            self._threshold = max(self._window / 2, 2.0)
            self._window = 1.0
            self._rto_s = min(2 * self._rto_s, _MAX_RTO_S)
            self._duplicates = 0
            self._next = self.acknowledged

    def _send(self, segment: int) -> None:
        self.seconds += self._transfer.packet_s
        if not next(self._fates):
            return
        self._ahead.add(segment)
        if self.acknowledged not in self._ahead:
            self._duplicates += 1
            if self._duplicates == 3:
                self._recover()
            return
        while self.acknowledged in self._ahead:
            self._ahead.remove(self.acknowledged)
            self.acknowledged += 1
        self._next = max(self._next, self.acknowledged)
        self._duplicates = 0
        self._rto_s = self._transfer.rto_s
        self._timeout_at = self.seconds + self._rto_s
        grows = 1.0 if self._window < self._threshold else 1.0 / self._window
        self._window = min(self._window + grows, float(self._transfer.window))

    def _recover(self) -> None:
        """Fast retransmission of the first hole."""
        self._threshold = max(self._window / 2, 2.0)
        self._window = self._threshold
        self._timeout_at = self.seconds + self._transfer.packet_s + self._rto_s
        self._send(self.acknowledged)


def follow(transfer: Transfer, fates: Iterator[bool]) -> tuple[int, float]:
    """Segments that a transfer delivers, and in how many seconds."""
    sender = _Sender(transfer, fates)
    while sender.acknowledged < _SEGMENTS and sender.seconds < _MAX_S:
        sender.step()
    return sender.acknowledged, sender.seconds


def goodput(transfer: Transfer, record: Sequence[bool], seed: int) -> float:
    """Bytes of the user each second over a line of whose packets ``record`` is a sample.

    The fate of each packet is one of the record's, drawn at random; the mean over many transfers.
    Raises ``ValueError`` for an empty record.
    """
    if not len(record):
        raise ValueError("record must have a packet, not none")
    chance = random.Random(seed)
    fates = iter(lambda: bool(record[chance.randrange(len(record))]), None)
    followed = [follow(transfer, fates) for _ in range(_TRANSFERS)]
    delivered = sum(segments for segments, _ in followed)
    return delivered * transfer.payload_bytes / sum(seconds for _, seconds in followed)
