"""Frames that experiments send: made by scapy, once for each kind."""

from __future__ import annotations

from functools import cache

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from tierv.soc.params import FAST_ETHERNET, SocParams

from ..result import FrameOut, RunResult

_BOARD = SocParams()
PEER_MAC = "02:00:00:00:00:01"
PEER_ADDRESS = _BOARD.remote_ip
PEER_PORT = 5000
#: UDP ports of the firmware.
ECHO_PORT, SINK_PORT, FAST_ECHO_PORT = 7, 9, 7107

HEADER_BYTES = 14
#: The largest IPv4 packet on Ethernet.
DATAGRAM_BYTES = 1500
#: Where a frame has its UDP header.
UDP_OFFSET = HEADER_BYTES + 20
#: Ethernet, IPv4 and UDP headers; the check sequence; preamble, delimiter and gap.
UDP_HEADERS_BYTES = UDP_OFFSET + 8
FCS_BYTES = 4
WIRE_OVERHEAD_BYTES = 20


@cache
def datagram(ip_bytes: int, port: int = SINK_PORT) -> bytes:
    """A frame, without check sequence, whose IPv4 packet has ``ip_bytes`` bytes, 28 at the least.

    It carries a UDP datagram from the peer to a port of the board.
    """
    return udp_frame(bytes(index & 0xFF for index in range(ip_bytes - 28)), port)


def udp_frame(payload: bytes, port: int) -> bytes:
    """A frame, without check sequence, with a UDP datagram from the peer to a port of the board."""
    packet = (
        Ether(src=PEER_MAC, dst=_BOARD.mac_address)
        / IP(src=PEER_ADDRESS, dst=_BOARD.local_ip)
        / UDP(sport=PEER_PORT, dport=port)
        / Raw(payload)
    )
    return bytes(packet)


@cache
def arp_request() -> bytes:
    """The peer asks for the board, which so learns of the peer."""
    packet = Ether(src=PEER_MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(
        hwsrc=PEER_MAC, psrc=PEER_ADDRESS, pdst=_BOARD.local_ip
    )
    return bytes(packet)


@cache
def arp_reply() -> bytes:
    """The peer answers the board's request for its address."""
    packet = Ether(src=PEER_MAC, dst=_BOARD.mac_address) / ARP(
        op="is-at",
        hwsrc=PEER_MAC,
        psrc=PEER_ADDRESS,
        hwdst=_BOARD.mac_address,
        pdst=_BOARD.local_ip,
    )
    return bytes(packet)


def ipv4_frames(result: RunResult) -> list[FrameOut]:
    """The good frames from the board with IPv4 in them: not its ARP."""
    return [f for f in result.frames if not f.errors and f.data[12:14] == b"\x08\0"]


def wire_cycles(frame_bytes: int, clock_hz: int, bits_per_second: int = FAST_ETHERNET) -> float:
    """Clock cycles that a frame of so many bytes, with its check sequence, occupies the wire."""
    return (frame_bytes + WIRE_OVERHEAD_BYTES) * 8 * clock_hz / bits_per_second
