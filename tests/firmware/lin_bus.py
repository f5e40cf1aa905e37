"""A LIN bus on the host: what comes to a node, a byte time apart, and what the node does."""

from __future__ import annotations

from lin_host import BIT_CYCLES, Echo, LinHost
from lin_reference import BREAK, PROTECTED, REQUEST, SYNC, Character, Tick
from lin_reference import checksum as reference_checksum

from tierv.sim.host.lin import Outcome

BYTE = 10 * BIT_CYCLES
MS = 100_000


class Bus:
    """Events one after the other, a byte time apart."""

    def __init__(self, lin: LinHost) -> None:
        self.lin = lin
        self.cycle = 0

    def do(self, *events):
        """What the last event led to."""
        return self.lin.feed(*events)[-1]

    def byte(self, value: int, flags: int = 0):
        self.cycle += BYTE
        return self.do(Character(value, flags, self.cycle))

    def header(self, identifier: int):
        self.byte(0, BREAK)
        self.byte(SYNC)
        return self.byte(PROTECTED[identifier])

    def bytes(self, data: bytes):
        for value in data:
            did = self.byte(value)
        return did

    def echo(self, mask: int = 0, flags: int = 0):
        self.cycle += BYTE
        return self.do(Echo(mask, flags, self.cycle))

    def ticks(self, count: int):
        """What each of so many milliseconds led to."""
        events = [Tick(self.cycle + (index + 1) * MS) for index in range(count)]
        self.cycle += count * MS
        return self.lin.feed(*events)


def answer(bus: Bus, identifier: int) -> tuple[bytes, tuple]:
    """The whole response to a header, read back as it was sent, and the report."""
    did = bus.header(identifier)
    sent = []
    while did.send is not None:
        sent.append(did.send)
        did = bus.echo()
    return bytes(sent), did.report


def go_to_sleep(bus: Bus) -> None:
    command = bytes([0, *[0xFF] * 7])
    bus.header(REQUEST)
    did = bus.bytes(command + bytes([reference_checksum(command)]))
    assert did.report == (Outcome.ASLEEP, None, command)


def schedule(*slots: tuple[int, int]) -> str:
    return bytes(
        byte for identifier, ms in slots for byte in (identifier, ms >> 8, ms & 0xFF)
    ).hex()
