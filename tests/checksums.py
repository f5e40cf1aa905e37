"""The checksums of frames, against those that scapy computes, and what they protect."""

from __future__ import annotations

from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import Ether


def check_checksums(packet: Ether) -> None:
    """Those of IPv4, and of UDP or ICMP in it, are right."""
    again = packet.copy()
    for layer in (IP, UDP, ICMP):
        if layer in again:
            del again[layer].chksum
    again = Ether(bytes(again))
    for layer in (IP, UDP, ICMP):
        if layer in packet:
            assert packet[layer].chksum == again[layer].chksum


def checked_datagram(frame: bytes) -> tuple[tuple[str, int, int], bytes]:
    """Where a UDP datagram goes (address, its source and destination port) and its payload, if its
    checksums are right."""
    packet = Ether(frame)
    check_checksums(packet)
    ip, datagram = packet[IP], packet[UDP]
    return (ip.dst, datagram.sport, datagram.dport), frame[42 : 34 + datagram.len]
