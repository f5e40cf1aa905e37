"""Talking to the terminal server of a simulated board: frames to it, and what its frames say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checksums import check_checksums
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw
from system_builds import READY

from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command, Item
from tierv.sim.result import RunResult
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame, UartBreak, UartBytes

HERE, THERE = "192.168.1.50", "192.168.1.100"
HERE_MAC, THERE_MAC = "10:e2:d5:00:00:01", "02:00:00:00:00:01"
#: UDP ports of the peer: of its data for all serial ports, and of control.
PEER_PORT, CLIENT_PORT = 4000, 5000
#: Between control datagrams, and after the last of them all has been done.
GAP = 60_000
QUIET = 300_000


def introduction(address: str = THERE, mac: str = THERE_MAC) -> bytes:
    """A host asks for the board, which so learns of it."""
    arp = ARP(hwsrc=mac, psrc=address, pdst=HERE)
    return bytes(Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / arp)


def udp_frame(
    payload: bytes, port: int, source: int, address: str = THERE, mac: str = THERE_MAC
) -> bytes:
    """A datagram from a host to the board."""
    header = Ether(src=mac, dst=HERE_MAC) / IP(src=address, dst=HERE)
    return bytes(header / UDP(sport=source, dport=port) / Raw(payload))


def data_frame(payload: bytes, port: int, source: int = PEER_PORT) -> bytes:
    """Bytes for a serial port."""
    return udp_frame(payload, protocol.DATA_PORT + port, source)


def control_frame(port: int, *items: Item, sequence: int = 1) -> bytes:
    """Commands for a serial port."""
    datagram = protocol.encode(port, sequence, items)
    return udp_frame(datagram, protocol.CONTROL_PORT, CLIENT_PORT)


def peer_is_here(port: int = PEER_PORT) -> Item:
    """The command that has the data come to the peer."""
    return protocol.peer(bytes(4), port)


@dataclass(frozen=True)
class Datagram:
    """From the board: when, from and to which UDP port, and what."""

    cycle: int
    source: int
    target: int
    payload: bytes


class Conversation:
    """A run in which the peer introduces itself, sets up ports, and then does what a test wants."""

    def __init__(self, system, *set_up: bytes) -> None:
        self._system = system
        self._frames = [
            Frame(frame, READY + index * GAP)
            for index, frame in enumerate([introduction(), *set_up])
        ]
        #: Everything is set up by then.
        self.start = READY + len(self._frames) * GAP

    def run(
        self,
        frames: Iterable[Frame] = (),
        uart: Iterable[UartBytes | UartBreak] = (),
        quiet: int = QUIET,
        **arguments,
    ) -> Talk:
        """Until ``quiet`` cycles after the last stimulus. Times count from ``start``."""
        result = self._system.run(
            cycles=40_000_000,
            frames=[*self._frames, *frames],
            uart=list(uart),
            until=Until(quiet_cycles=quiet),
            **arguments,
        )
        return Talk(result)


class Talk:
    """What a run gave."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        assert all(frame.errors == 0 for frame in result.frames)
        self.datagrams = []
        for frame in result.frames:
            packet = Ether(frame.data)
            if UDP in packet:
                check_checksums(packet)
                payload = bytes(packet[UDP].payload)[: packet[UDP].len - 8]
                ports = packet[UDP].sport, packet[UDP].dport
                self.datagrams.append(Datagram(frame.cycle, *ports, payload))

    def data(self, port: int) -> list[Datagram]:
        """Datagrams from a serial port."""
        return [each for each in self.datagrams if each.source == protocol.DATA_PORT + port]

    def bytes_of(self, port: int) -> bytes:
        """What a serial port has received, as far as it was sent on."""
        return b"".join(each.payload for each in self.data(port))

    def control(self, port: int) -> list[tuple[int, list[Item]]]:
        """(sequence number, items) of what the board said about a serial port."""
        said = [each for each in self.datagrams if each.source == protocol.CONTROL_PORT]
        decoded = [protocol.decode(each.payload) for each in said]
        return [(sequence, items) for number, sequence, items in decoded if number == port]

    def told(self, port: int) -> list[Item]:
        """Notifications, with the codes of commands."""
        return [
            Item(item.code - protocol.ANSWER, item.value)
            for sequence, items in self.control(port)
            if sequence == 0
            for item in items
        ]

    def counters(self, port: int) -> dict[str, int]:
        """Counters in the last answer that has them."""
        code = Command.COUNTERS + protocol.ANSWER
        answers = [item for _, items in self.control(port) for item in items if item.code == code]
        return protocol.counters(answers[-1].value)
