"""Serial ports as LIN nodes on the host: what comes on their wires, and what they send."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from host_build import hex_bytes
from lin_reference import BREAK, PROTECTED, REQUEST, SYNC
from lin_reference import checksum as reference_checksum
from services_host import CLOCK_HZ, Services

from tierv.sim.host.lin import ALL_PORTS, HOST_PORT, Record, Request, decode, encode

MS_CYCLES = CLOCK_HZ // 1000
CHARACTER_CYCLES = 10 * CLOCK_HZ // 19_200
#: SERIAL_OVERRUN, and the bit of a purge that empties the transmitter.
OVERRUN, PURGE_TRANSMIT = 8, 2
PEER = (0x0A00_0002, 4711)


@dataclass(frozen=True)
class Break:
    """A break of so many bits that a port sends."""

    bits: int


class Ports(Services):
    """Ports whose wires carry what the test says. A node's events are read back only if it does."""

    def __init__(self, program: Path | None = None) -> None:
        super().__init__(program)
        self.cycle = 0

    def burst(
        self, port: int, characters: bytes, flags: int = 0, *, lost: int = 0
    ) -> list[bytes | Break]:
        """Characters that a port's line brings; what the port then sends, in its order.

        ``lost`` others were lost before them.
        """
        self.cycle += CHARACTER_CYCLES
        flags |= OVERRUN if lost else 0
        self.do("burst", port, flags, characters.hex() or "-", self.cycle & 0xFFFFFFFF, lost)
        return self.sent(port)

    def sent(self, port: int) -> list[bytes | Break]:
        """What a port was given to send by the last command."""
        found: list[bytes | Break] = []
        for number, text in self.told("transmit"):
            word = int(text, 16)
            if int(number) != port:
                continue
            if word >> 31:
                found.append(Break(word & 0xFF))
            else:
                found.append(word.to_bytes(4, "little")[: (word >> 24 & 3) + 1])
        return found

    def header(self, port: int, identifier: int) -> list[bytes | Break]:
        """A whole header comes; what the port answers at once."""
        self.burst(port, b"\0", BREAK)
        self.burst(port, bytes([SYNC]))
        return self.burst(port, bytes([PROTECTED[identifier]]))

    def response(self, port: int, identifier: int) -> bytes:
        """A header comes, and the wire carries what the port answers."""
        answer = self.header(port, identifier)
        whole = b""
        while answer:
            (byte,) = answer
            assert isinstance(byte, bytes)
            whole += byte
            answer = self.burst(port, byte)
        return whole

    def frame(self, port: int, identifier: int, content: bytes) -> None:
        """A whole frame comes from another node."""
        self.header(port, identifier)
        classic = identifier >= REQUEST
        checksum = reference_checksum(content, None if classic else PROTECTED[identifier])
        for byte in [*content, checksum]:
            assert self.burst(port, bytes([byte])) == []

    def ms(self, count: int = 1) -> None:
        """So many milliseconds pass; ``events`` are those of the last."""
        for _ in range(count):
            self.cycle += MS_CYCLES
            self.do("ms", self.cycle & 0xFFFFFFFF)

    def request(self, *records: Record, peer: tuple[int, int] = PEER) -> list[Record]:
        """What a host's datagram is answered with."""
        payload = encode(records).hex() or "-"
        self.do("datagram", HOST_PORT, *peer, payload)
        ((address, port, answer),) = self.told("reply")
        assert (int(address), int(port)) == peer
        return decode(hex_bytes(answer))

    def reports(self) -> list[tuple[tuple[int, int], list[Record]]]:
        """Each datagram of reports: to whom, and its records."""
        self.do("protocol")
        found = self._reports()
        assert self.told("from") == [[str(HOST_PORT)]] * len(found)
        # One more for each that waits for a neighbour's address.
        assert self.told("kick")[: len(found)] == [[]] * len(found)
        return found

    def found_neighbour(self) -> list[tuple[tuple[int, int], list[Record]]]:
        """The datagram that has waited for a host's address: to whom, and its records."""
        self.do("known")
        return self._reports()

    def _reports(self) -> list[tuple[tuple[int, int], list[Record]]]:
        return [
            ((int(address), int(port)), decode(hex_bytes(payload)))
            for address, port, payload in self.told("report")
        ]

    def told_reports(self) -> list[tuple[int, int, bytes]]:
        """Outcome, identifier and data of all reports to the only watcher."""
        return [
            (record.outcome, record.identifier, record.data)
            for _, records in self.reports()
            for record in records
        ]

    def count(self, port: int, counter: int) -> int:
        """A counter of a node, asked for by a host."""
        (answer,) = self.request(Record(Request.COUNT, port, counter))
        assert answer.failure is None
        return answer.number

    def watch(self, port: int = ALL_PORTS, peer: tuple[int, int] = PEER) -> None:
        """From now on a host gets reports."""
        (answer,) = self.request(Record(Request.WATCH, port), peer=peer)
        assert answer.failure is None

    def bad_sync(self, port: int, byte: int) -> None:
        """Something to report, with that byte."""
        self.burst(port, b"\0", BREAK)
        self.burst(port, bytes([byte]))
