"""Frames made by scapy, an implementation independent of ours, and mutations of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st
from net_host import ADDRESS, MAC
from net_reference import ECHO_PORT, checksum
from scapy.layers.igmp import IGMP
from scapy.layers.inet import ICMP, IP, UDP, IPOption_Router_Alert
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

PEER = "10.0.0.2"
PEER_MAC = "02:00:00:00:00:02"
ALL_MAC = "ff:ff:ff:ff:ff:ff"
ALL_HOSTS, ALL_ROUTERS = "224.0.0.1", "224.0.0.2"
QUERY, REPORT_V1, REPORT, LEAVE = 0x11, 0x12, 0x16, 0x17


def ethernet(kind: int, content: bytes, *, to: str = MAC, source: str = PEER_MAC) -> bytes:
    """A frame with any content, not padded."""
    return bytes(Ether(dst=to, src=source, type=kind)) + content


def ipv4(content: bytes, *, options: bytes = b"", to: str = MAC, **fields: Any) -> bytes:
    """A frame with an IPv4 packet; ``fields`` are scapy's, those not given are right."""
    fields = {"src": PEER, "dst": ADDRESS, "proto": 17} | fields
    packet = IP(**fields) / Raw(content)
    if options:
        header_bytes = 20 + len(options)
        header = bytearray(bytes(IP(**fields | {"ihl": header_bytes // 4})) + options)
        header[2:4] = (header_bytes + len(content)).to_bytes(2, "big")
        if "chksum" not in fields:
            header[10:12] = bytes(2)
            header[10:12] = checksum(bytes(header)).to_bytes(2, "big")
        return ethernet(0x0800, bytes(header) + content, to=to)
    return ethernet(0x0800, bytes(packet), to=to)


def udp(
    payload: bytes, *, raw: bool = False, src: str = PEER, dst: str = ADDRESS, **fields: Any
) -> bytes:
    """An IPv4 packet with a datagram to the echo port, or (``raw``) the datagram alone."""
    fields = {"sport": 4711, "dport": ECHO_PORT} | fields
    packet = bytes(IP(src=src, dst=dst) / UDP(**fields) / Raw(payload))
    return packet[20:] if raw else packet


def datagram(payload: bytes, port: int = 4000, **fields: Any) -> bytes:
    """A frame to us with a UDP datagram."""
    return ethernet(0x0800, udp(payload, dport=port, **fields))


def icmp_echo(
    data: bytes, *, ttl: int = 64, to: str = MAC, dst: str = ADDRESS, **fields: Any
) -> bytes:
    """A frame with an ICMP message, an echo request unless ``fields`` say otherwise."""
    packet = IP(src=PEER, dst=dst, ttl=ttl) / ICMP(**{"type": 8} | fields) / Raw(data)
    return ethernet(0x0800, bytes(packet), to=to)


def group_mac(group: str) -> str:
    """The Ethernet address of a multicast group (RFC 1112, section 6.4)."""
    parts = [int(part) for part in group.split(".")]
    return f"01:00:5e:{parts[1] & 0x7F:02x}:{parts[2]:02x}:{parts[3]:02x}"


def igmp(
    kind: int,
    group: str = "0.0.0.0",
    *,
    dst: str = ALL_HOSTS,
    tenths: int = 100,
    alert: bool = True,
    src: str = PEER,
    **fields: Any,
) -> bytes:
    """A frame with an IGMP message, with the router alert option unless ``alert`` is false."""
    options = [IPOption_Router_Alert()] if alert else []
    message = IGMP(type=kind, mrcode=tenths, gaddr=group, **fields)
    packet = IP(src=src, dst=dst, ttl=1, proto=2, options=options) / bytes(message)
    return ethernet(0x0800, bytes(packet), to=group_mac(dst) if dst != ADDRESS else MAC)


def arp_request(*, to: str = ALL_MAC, **fields: Any) -> bytes:
    """A frame with an ARP packet, a broadcast request for our address unless ``fields`` differ."""
    sizes = bytes([fields.pop("hwlen", 6), fields.pop("plen", 4)])
    fields = {"op": 1, "hwsrc": PEER_MAC, "psrc": PEER, "pdst": ADDRESS} | fields
    packet = bytes(ARP(hwtype=fields.pop("hwtype", 1), ptype=fields.pop("ptype", 0x0800), **fields))
    return ethernet(0x0806, packet[:4] + sizes + packet[6:], to=to)


ALL_HOSTS_MAC = group_mac(ALL_HOSTS)


@cache
def frames_of_every_kind() -> dict[str, bytes]:
    """Good frames, one for each way through the receive path."""
    return {
        "ARP request": arp_request(),
        "ARP request of another": arp_request(pdst="10.0.0.77"),
        "ARP reply": arp_request(op=2, hwdst=MAC),
        "ping": icmp_echo(bytes(range(32))),
        "ping to all": icmp_echo(bytes(range(32)), to=ALL_MAC, dst="10.0.0.255"),
        "ping with other TTL": icmp_echo(b"odd", ttl=17),
        "UDP echo of 18 bytes": ethernet(0x0800, udp(bytes(range(18)))),
        "UDP echo of 19 bytes": ethernet(0x0800, udp(bytes(range(19)))),
        "UDP echo of 0 bytes": ethernet(0x0800, udp(b"")),
        "UDP without checksum": ethernet(0x0800, udp(b"abcdef", chksum=0)),
        "UDP to all": ethernet(0x0800, udp(b"abc", dst="255.255.255.255"), to=ALL_MAC),
        "UDP to the subnet by unicast": ethernet(0x0800, udp(b"abc", dst="10.0.0.255")),
        "UDP to another port": ethernet(0x0800, udp(b"abc", dport=4000)),
        "IPv4 options": ipv4(udp(b"abc", raw=True), options=b"\x94\x04\0\0"),
        "fragment": ipv4(udp(b"abc", raw=True), flags="MF"),
        "TCP": ipv4(bytes(20), proto=6),
        "UDP to all hosts' group": ethernet(0x0800, udp(b"abc", dst=ALL_HOSTS), to=ALL_HOSTS_MAC),
        "ping to all hosts' group": icmp_echo(b"abc", to=ALL_HOSTS_MAC, dst=ALL_HOSTS),
        "IGMP query": igmp(QUERY),
        "IGMP query without option": igmp(QUERY, alert=False),
        "IGMP query from nobody": igmp(QUERY, src="0.0.0.0"),
        "IGMP query of version 1": igmp(QUERY, "239.1.2.3", tenths=0),
        "IGMP report": igmp(REPORT, ALL_HOSTS),
    }


def _fix_checksums(frame: bytes) -> bytes:
    """The frame with right IPv4, UDP and ICMP checksums as far as its lengths allow."""
    data = bytearray(frame)
    header_bytes = (data[14] & 15) * 4 if len(data) > 14 else 0
    end = 14 + int.from_bytes(data[16:18], "big")
    if data[12:14] != b"\x08\0" or len(data) < 34 or header_bytes < 20 or end > len(data):
        return frame
    start = 14 + header_bytes
    data[24:26] = bytes(2)
    data[24:26] = checksum(bytes(data[14:start])).to_bytes(2, "big")
    if data[23] == 17 and start + 8 <= end:
        length = int.from_bytes(data[start + 4 : start + 6], "big")
        pseudo = bytes(data[26:34]) + b"\0\x11" + bytes(data[start + 4 : start + 6])
        data[start + 6 : start + 8] = bytes(2)
        field = checksum(pseudo + bytes(data[start : start + length])) or 0xFFFF
        data[start + 6 : start + 8] = field.to_bytes(2, "big")
    if data[23] in (1, 2) and start + 4 <= end:
        data[start + 2 : start + 4] = bytes(2)
        data[start + 2 : start + 4] = checksum(bytes(data[start:end])).to_bytes(2, "big")
    return bytes(data)


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """A good frame with up to four changes of bytes or length, checksums put right or not."""
    frame = bytearray(frames_of_every_kind()[draw(st.sampled_from(list(frames_of_every_kind())))])
    # Mostly behind the Ethernet header, where more is to be decided.
    places = st.one_of(st.integers(14, 45), st.integers(14, 45), st.integers(0, 80))
    for _ in range(draw(st.integers(0, 4))):
        change = draw(st.sampled_from(["bit", "byte", "half", "half", "cut", "extend", "payload"]))
        at = draw(places)
        if change == "extend":
            frame += draw(st.binary(max_size=64))
        elif change == "payload":
            frame[42:] = draw(st.binary(max_size=200))
        elif change == "half" and at + 1 < len(frame):
            at &= ~1
            frame[at : at + 2] = draw(st.integers(0, 0xFFFF)).to_bytes(2, "big")
        elif at >= len(frame):
            continue
        elif change == "bit":
            frame[at] ^= 1 << draw(st.integers(0, 7))
        elif change == "byte":
            frame[at] = draw(st.sampled_from([0, 1, 4, 5, 7, 8, 0x45, 0x46, 0x7F, 0x80, 0xFF]))
        elif change == "cut":
            del frame[at:]
    return _fix_checksums(bytes(frame)) if draw(st.booleans()) else bytes(frame)
