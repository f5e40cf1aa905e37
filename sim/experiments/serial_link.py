"""The terminal server in experiments: what is sent to it, and what it has sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from tierv.soc.params import SocParams

from ..host import protocol
from ..host.protocol import Command, Item
from ..result import RunResult
from ..stimulus import Frame, bit_q8
from .frames import PEER_ADDRESS, PEER_MAC, UDP_HEADERS_BYTES, UDP_OFFSET, arp_request

_BOARD = SocParams()
#: UDP ports of the peer.
DATA_PORT, CONTROL_PORT = 4000, 4001
#: Firmware is ready by then; then control datagrams come one after the other.
READY_CYCLES = 400_000
CONTROL_CYCLES = 30_000
#: The serial port of the pins that the console does not have.
FIRST_PIN = 1
#: Bits of a character of 8N1.
CHARACTER_BITS = 10

#: The SoC of these experiments.
SERIAL_SOC = {"uarts": 16, "uart_receive_bytes": 256, "uart_transmit_bytes": 256}


@dataclass(frozen=True)
class Packet:
    """A datagram from a serial port: cycle after its last nibble, and its payload."""

    end_cycle: int
    data: bytes


def _udp_frame(payload: bytes, port: int, source: int) -> bytes:
    header = Ether(src=PEER_MAC, dst=_BOARD.mac_address)
    addresses = IP(src=PEER_ADDRESS, dst=_BOARD.local_ip)
    return bytes(header / addresses / UDP(sport=source, dport=port) / Raw(payload))


def data_frame(payload: bytes, port: int) -> bytes:
    """Bytes for a serial port."""
    return _udp_frame(payload, protocol.DATA_PORT + port, DATA_PORT)


def control_frame(port: int, items: Sequence[Item]) -> bytes:
    """Commands for a serial port."""
    return _udp_frame(protocol.encode(port, 1, items), protocol.CONTROL_PORT, CONTROL_PORT)


def set_up(settings: Mapping[int, Sequence[Item]]) -> tuple[list[Frame], int]:
    """Frames that introduce the peer and set up ports, and the cycle in which all that is done.

    The data of the ports go to the peer.
    """
    frames = [Frame(arp_request(), READY_CYCLES)]
    own = protocol.peer(bytes(4), DATA_PORT)
    for port, items in settings.items():
        cycle = READY_CYCLES + len(frames) * CONTROL_CYCLES
        frames.append(Frame(control_frame(port, [*items, own]), cycle))
    return frames, READY_CYCLES + (len(frames) + 2) * CONTROL_CYCLES


def ask_counters(ports: Sequence[int], cycle: int) -> list[Frame]:
    """Frames that ask for the counters of ports, from a cycle on."""
    return [
        Frame(control_frame(port, [Item(Command.COUNTERS)]), cycle + index * CONTROL_CYCLES)
        for index, port in enumerate(ports)
    ]


def _datagrams(result: RunResult, source: int) -> list[Packet]:
    wanted = source.to_bytes(2, "big")
    found = []
    for frame in result.frames:
        data = frame.data
        udp = data[UDP_OFFSET:]
        if not frame.errors and data[12:14] == b"\x08\0" and udp[:2] == wanted:
            length = int.from_bytes(udp[4:6], "big")
            found.append(Packet(frame.end_cycle, data[UDP_HEADERS_BYTES : UDP_OFFSET + length]))
    return found


def packets_of(result: RunResult, port: int) -> list[Packet]:
    """What a serial port has sent."""
    return _datagrams(result, protocol.DATA_PORT + port)


def all_counters_of(result: RunResult, port: int) -> list[dict[str, int]]:
    """The counters of a port, as often as the board told them.

    Raises ``ValueError`` if it never did.
    """
    found = []
    for answer in _datagrams(result, protocol.CONTROL_PORT):
        number, _, items = protocol.decode(answer.data)
        for item in items:
            if number == port and item.code == Command.COUNTERS + protocol.ANSWER:
                found.append(protocol.counters(item.value))
    if not found:
        raise ValueError(f"the board did not tell the counters of port {port}")
    return found


def counters_of(result: RunResult, port: int) -> dict[str, int]:
    """The last counters that the board told of a port; ``all_counters_of``."""
    return all_counters_of(result, port)[-1]


def character_cycles(baud: float, clock_hz: int) -> float:
    """Length of a character as the harness sends it."""
    return CHARACTER_BITS * bit_q8(baud, clock_hz) / 256
