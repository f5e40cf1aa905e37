"""What the stack must make of one frame: a definition written apart from the C code.

Numbers are Python integers, checksums are computed from scratch, nothing is done in place.
The interface is that of ``net_host`` right after a reset, with a socket that echoes on ECHO_PORT.
Sources: RFC 826, 791, 1122, 792, 768, 2236, 5227.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from net_host import ADDRESS, MAC, NETMASK

ECHO_PORT = 7
US = IPv4Address(ADDRESS)
SUBNET = IPv4Network(f"{ADDRESS}/{NETMASK}", strict=False)
OUR_MAC = bytes.fromhex(MAC.replace(":", ""))
ALL = b"\xff" * 6
TTL = 64


#: Groups of the reference interface: all hosts' alone.
ALL_HOSTS = IPv4Address("224.0.0.1")
ALL_HOSTS_MAC = bytes.fromhex("01005e000001")
#: ICMP errors return as much as fits into packets of so many bytes (RFC 1812, section 4.3.2.3).
ERROR_BYTES = 576


@dataclass(frozen=True)
class Outcome:
    """The counter in which the frame ends, the frame sent for it, and what else is counted."""

    counter: str
    reply: bytes | None = None
    events: frozenset[str] = frozenset()


def number(data: bytes, offset: int, size: int = 2) -> int:
    """A big-endian field."""
    return int.from_bytes(data[offset : offset + size], "big")


def ones_sum(data: bytes) -> int:
    """RFC 1071 by its definition: the 16-bit words' sum modulo 0xffff, 0 only for all zeros."""
    data += b"\0" * (len(data) % 2)
    total = sum(number(data, offset) for offset in range(0, len(data), 2))
    return 0 if total == 0 else (total - 1) % 0xFFFF + 1


def checksum(data: bytes) -> int:
    """The checksum of data whose checksum field is 0."""
    return 0xFFFF - ones_sum(data)


def is_host(address: IPv4Address) -> bool:
    """True if one host may have this address."""
    first = int(address) >> 24
    return first not in (0, 127) and first < 224


def classify(frame: bytes) -> Outcome:
    """What becomes of a frame."""
    if len(frame) < 14:
        return Outcome("ETHERNET_DROP_SHORT")
    if len(frame) > 1514:
        return Outcome("ETHERNET_DROP_LONG")
    if frame[:6] not in (OUR_MAC, ALL, ALL_HOSTS_MAC):
        return Outcome("ETHERNET_DROP_DESTINATION")
    if frame[6] & 1:
        return Outcome("ETHERNET_DROP_SOURCE")
    match number(frame, 12):
        case 0x0806:
            return _arp(frame)
        case 0x0800:
            return _ipv4(frame)
    return Outcome("ETHERNET_DROP_TYPE")


def _arp(frame: bytes) -> Outcome:
    packet = frame[14:]
    if len(packet) < 28:
        return Outcome("ARP_DROP_SHORT")
    if packet[:6] != bytes([0, 1, 8, 0, 6, 4]):
        return Outcome("ARP_DROP_FORMAT")
    operation = number(packet, 6)
    if operation not in (1, 2):
        return Outcome("ARP_DROP_OPERATION")
    sender_mac, target = packet[8:14], IPv4Address(packet[24:28])
    sender = IPv4Address(packet[14:18])
    if sender_mac[0] & 1 or not any(sender_mac):
        return Outcome("ARP_DROP_SENDER")
    if sender_mac == OUR_MAC:
        return Outcome("ARP_DROP_REFLECTED")
    if sender == US:
        return Outcome("ARP_DROP_CONFLICT", _announcement(), frozenset(_DEFENCE))
    if not is_host(sender) and (int(sender) != 0 or operation == 2):
        return Outcome("ARP_DROP_SENDER")
    if target != US:
        return Outcome("ARP_DROP_TARGET")
    if operation == 2:
        return Outcome("ARP_DROP_UNSOLICITED")
    reply = sender_mac + OUR_MAC + bytes.fromhex("0806 0001 0800 0604 0002")
    reply += OUR_MAC + US.packed + sender_mac + sender.packed
    return Outcome("ARP_ANSWERED", reply + _padding(frame, reply))


#: What a conflict counts, if there was none in the ten seconds before.
_DEFENCE = ("ARP_ANNOUNCED", "ARP_DEFENDED")


def _announcement() -> bytes:
    """We have our address, says a request for it."""
    packet = bytes.fromhex("0001 0800 0604 0001") + OUR_MAC + US.packed + bytes(6) + US.packed
    return (ALL + OUR_MAC + b"\x08\x06" + packet).ljust(60, b"\0")


def _padding(frame: bytes, content: bytes) -> bytes:
    """The padding that a frame turned in place keeps."""
    return frame[len(content) : 60]


def _ipv4(frame: bytes) -> Outcome:
    packet = frame[14:]
    if len(packet) < 20:
        return Outcome("IPV4_DROP_SHORT")
    if packet[0] >> 4 != 4:
        return Outcome("IPV4_DROP_VERSION")
    header_bytes, total = (packet[0] & 15) * 4, number(packet, 2)
    if header_bytes < 20 or header_bytes > len(packet):
        return Outcome("IPV4_DROP_HEADER_LENGTH")
    if total < header_bytes or total > len(packet):
        return Outcome("IPV4_DROP_TOTAL_LENGTH")
    if ones_sum(packet[:header_bytes]) != 0xFFFF:
        return Outcome("IPV4_DROP_CHECKSUM")
    if number(packet, 6) & 0x3FFF:
        return Outcome("IPV4_DROP_FRAGMENT")
    if header_bytes > 20 and packet[9] != 2:
        return Outcome("IPV4_DROP_OPTIONS")
    source, destination = IPv4Address(packet[12:16]), IPv4Address(packet[16:20])
    to_all = destination in (SUBNET.broadcast_address, IPv4Address("255.255.255.255"))
    to_many = to_all or destination == ALL_HOSTS
    if destination != US and not to_many:
        return Outcome("IPV4_DROP_DESTINATION")
    if destination == US and frame[:6] != OUR_MAC:
        return Outcome("IPV4_DROP_LINK_BROADCAST")
    nobody = int(source) == 0 and packet[9] == 2 and to_many
    if not nobody and (not is_host(source) or source in (US, SUBNET.broadcast_address)):
        return Outcome("IPV4_DROP_SOURCE")
    match packet[9]:
        case 1:
            return _icmp(frame, packet[:total], to_many)
        case 2:
            return _igmp(packet[header_bytes:total], destination)
        case 17:
            return _udp(frame, packet[:total], to_many)
    return _unreachable("IPV4_DROP_PROTOCOL", frame, packet[:total], 2, to_many)


def _igmp(message: bytes, destination: IPv4Address) -> Outcome:
    if len(message) < 8:
        return Outcome("IGMP_DROP_SHORT")
    if ones_sum(message) != 0xFFFF:
        return Outcome("IGMP_DROP_CHECKSUM")
    group = IPv4Address(message[4:8])
    match message[0]:
        case 0x11:
            version_1 = message[1] == 0
            asked = ALL_HOSTS if version_1 or int(group) == 0 else group
            return Outcome("IGMP_QUERIED" if destination == asked else "IGMP_DROP_GROUP")
        case 0x12 | 0x16:
            return Outcome("IGMP_IGNORED" if destination == group else "IGMP_DROP_GROUP")
    return Outcome("IGMP_DROP_TYPE")


def _unreachable(counter: str, frame: bytes, packet: bytes, code: int, to_many: bool) -> Outcome:
    if to_many:
        return Outcome(counter)
    message = bytes([3, code]) + bytes(6) + packet[: ERROR_BYTES - 28]
    message = message[:2] + checksum(message).to_bytes(2, "big") + message[4:]
    header = bytes([0x45, 0]) + (20 + len(message)).to_bytes(2, "big")
    header += bytes([0, 0, 0x40, 0, TTL, 1, 0, 0]) + US.packed + packet[12:16]
    header = header[:10] + checksum(header).to_bytes(2, "big") + header[12:]
    reply = frame[6:12] + OUR_MAC + b"\x08\0" + header + message
    return Outcome(counter, reply.ljust(60, b"\0"), frozenset(["ICMP_UNREACHABLE_SENT"]))


def _turn(frame: bytes, packet: bytes, payload: bytes) -> bytes:
    """The frame with which ``payload`` goes back to where ``packet`` came from."""
    header = bytearray(packet[:20])
    header[12:20] = packet[16:20] + packet[12:16]
    if header[8] != TTL:
        header[8] = TTL
        header[10:12] = bytes(2)
        header[10:12] = checksum(bytes(header)).to_bytes(2, "big")
    reply = frame[6:12] + OUR_MAC + frame[12:14] + bytes(header) + payload
    return reply + _padding(frame, reply)


def _icmp(frame: bytes, packet: bytes, to_many: bool) -> Outcome:
    message = packet[20:]
    if len(message) < 8:
        return Outcome("ICMP_DROP_SHORT")
    if message[:2] != b"\x08\0" and not any(message):
        # Neither a good checksum nor a type that matters: either counter will do.
        return Outcome("ICMP_DROP_CHECKSUM|ICMP_DROP_TYPE")
    if ones_sum(message) != 0xFFFF:
        return Outcome("ICMP_DROP_CHECKSUM")
    if message[:2] != b"\x08\0":
        return Outcome("ICMP_DROP_TYPE")
    if to_many:
        return Outcome("ICMP_DROP_BROADCAST")
    # 0 and 0xffff mean the same here; 0xffff is right for all-zero data too.
    field = checksum(bytes(4) + message[4:]) or 0xFFFF
    reply = _turn(frame, packet, bytes(2) + field.to_bytes(2, "big") + message[4:])
    return Outcome("ICMP_ECHOED", reply)


def _udp(frame: bytes, packet: bytes, to_many: bool) -> Outcome:
    datagram = packet[20:]
    if len(datagram) < 8:
        return Outcome("UDP_DROP_SHORT")
    length = number(datagram, 4)
    if length < 8 or length > len(datagram):
        return Outcome("UDP_DROP_LENGTH")
    pseudo = packet[12:20] + bytes([0, 17]) + datagram[4:6]
    if number(datagram, 6) and ones_sum(pseudo + datagram[:length]) != 0xFFFF:
        return Outcome("UDP_DROP_CHECKSUM")
    if number(datagram, 2) != ECHO_PORT:
        return _unreachable("UDP_DROP_PORT", frame, packet, 3, to_many)
    if to_many or number(datagram, 0) == 0:
        return Outcome("UDP_DROP_REPLY")
    turned = datagram[2:4] + datagram[:2] + datagram[4:]
    return Outcome("UDP_ECHOED", _turn(frame, packet, turned))
