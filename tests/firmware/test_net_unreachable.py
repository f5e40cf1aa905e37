"""ICMP destination unreachable: what it says, when it is not said, and how often it is."""

from __future__ import annotations

import pytest
from net_frames import (
    ALL_HOSTS,
    ALL_HOSTS_MAC,
    ALL_MAC,
    PEER,
    PEER_MAC,
    ethernet,
    icmp_echo,
    ipv4,
    udp,
)
from net_host import ADDRESS, MAC, NetHost, config
from scapy.layers.inet import ICMP, IP, UDP, IPerror, UDPerror
from scapy.layers.l2 import Ether

ERRORS_PER_S = config("ICMP_ERRORS_PER_S")
PROTOCOL_PACKETS = config("NET_PROTOCOL_PACKETS")


def to_closed_port(size: int = 1) -> bytes:
    return ethernet(0x0800, udp(bytes(index & 255 for index in range(size)), dport=9999))


@pytest.mark.parametrize("size", [0, 1, 17, 18, 511, 512, 513, 519, 520, 521, 522, 1472])
@pytest.mark.parametrize("padding", [0, 30])
def test_error_is_what_scapy_would_send(net: NetHost, size: int, padding: int) -> None:
    frame = to_closed_port(size)
    (reply,) = net.receive((frame + bytes(padding))[:1514]).sent
    quoted = frame[14:][: 576 - 28]
    want = Ether(src=MAC, dst=PEER_MAC) / IP(src=ADDRESS, dst=PEER, id=0, flags="DF")
    want /= ICMP(type=3, code=3) / quoted
    assert reply == bytes(want).ljust(60, b"\0")


def test_sender_finds_its_datagram_in_the_error(net: NetHost) -> None:
    (reply,) = net.receive(to_closed_port(100)).sent
    error = Ether(reply)[ICMP]
    assert (error[IPerror].src, error[IPerror].dst) == (PEER, ADDRESS)
    assert (error[UDPerror].sport, error[UDPerror].dport) == (4711, 9999)


def test_unknown_protocol_has_a_code_of_its_own(net: NetHost) -> None:
    answer = net.receive(ipv4(bytes(20), proto=6))
    assert answer.counted == {"IPV4_DROP_PROTOCOL": 1, "ICMP_UNREACHABLE_SENT": 1}
    error = Ether(answer.sent[0])[ICMP]
    assert (error.type, error.code) == (3, 2)


SILENT = {
    "IP broadcast": ethernet(0x0800, udp(b"x", dport=9, dst="255.255.255.255"), to=ALL_MAC),
    "subnet broadcast": ethernet(0x0800, udp(b"x", dport=9, dst="10.0.0.255"), to=ALL_MAC),
    "subnet broadcast by unicast": ethernet(0x0800, udp(b"x", dport=9, dst="10.0.0.255")),
    "multicast": ethernet(0x0800, udp(b"x", dport=9, dst=ALL_HOSTS), to=ALL_HOSTS_MAC),
    "Ethernet broadcast": ethernet(0x0800, udp(b"x", dport=9), to=ALL_MAC),
    "protocol by broadcast": ipv4(bytes(8), proto=99, dst="255.255.255.255", to=ALL_MAC),
    "ICMP error": icmp_echo(udp(b"x"), type=3, code=3),
    "ICMP time exceeded": icmp_echo(udp(b"x"), type=11),
    "unknown ICMP": icmp_echo(b"x", type=77),
    "later fragment": ipv4(udp(b"x", dport=9, raw=True), frag=3),
    "first fragment": ipv4(udp(b"x", dport=9, raw=True), flags="MF"),
    "from 0.0.0.0": ethernet(0x0800, udp(b"x", dport=9, src="0.0.0.0")),
    "from a group": ethernet(0x0800, udp(b"x", dport=9, src=ALL_HOSTS)),
    "from all": ethernet(0x0800, udp(b"x", dport=9, src="10.0.0.255")),
    "from loopback": ethernet(0x0800, udp(b"x", dport=9, src="127.0.0.1")),
    "bad checksum": ethernet(0x0800, udp(b"x", dport=9, chksum=1)),
    "another host's": ethernet(0x0800, udp(b"x", dport=9, dst="10.0.0.3")),
}


@pytest.mark.parametrize("name", SILENT)
def test_no_error_is_sent_about(net: NetHost, name: str) -> None:
    answer = net.receive(SILENT[name])
    assert answer.sent == []
    assert not any(counter.startswith("ICMP_UNREACHABLE") for counter in answer.counted)


def test_errors_are_limited_in_each_second(net: NetHost) -> None:
    for _ in range(3):
        for _ in range(ERRORS_PER_S):
            answer = net.receive(to_closed_port())
            assert answer.counted == {"UDP_DROP_PORT": 1, "ICMP_UNREACHABLE_SENT": 1}
        for _ in range(5):
            answer = net.receive(to_closed_port())
            assert answer.counted == {"UDP_DROP_PORT": 1, "ICMP_UNREACHABLE_LIMITED": 1}
            assert answer.sent == []
        net.tick()


def test_error_leaves_the_last_packet_to_arp(net: NetHost) -> None:
    net.bind(0, 4000, "queue")
    net.command("stall 1")
    for _ in range(PROTOCOL_PACKETS - 1):
        assert "ICMP_UNREACHABLE_SENT" in net.receive(to_closed_port()).counted
    assert "ICMP_UNREACHABLE_LIMITED" in net.receive(to_closed_port()).counted
    assert "ARP_REQUESTED" in net.send(0, b"x", PEER, 9).counted
    assert "ICMP_UNREACHABLE_LIMITED" in net.receive(to_closed_port()).counted
    sent = net.command("stall 0").sent
    assert sum(ICMP in Ether(frame) for frame in sent) == PROTOCOL_PACKETS - 1


def test_error_to_a_reserved_source_port_is_still_an_error(net: NetHost) -> None:
    frame = ethernet(0x0800, udp(b"x", dport=9, sport=0))
    (reply,) = net.receive(frame).sent
    assert Ether(reply)[ICMP][UDPerror].sport == 0
    assert UDP not in Ether(reply)[ICMP]
