"""Replay of captures: which frames go into the SoC, and with whose addresses."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tierv.soc.params import SocParams

from .capture import Packet, some_packets
from .pcap import time_frames
from .stimulus import Frame

#: The longest frame of Ethernet, without check sequence.
MOST_BYTES = 1514

_MAC = re.compile(r"[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}")
_MAC_BYTES = 6
_VLAN, _IPV4, _ARP = b"\x81\x00", b"\x08\x00", b"\x08\x06"
#: Offsets in an IPv4 header and in an ARP packet for it.
_IPV4_BYTES, _IPV4_PROTOCOL, _IPV4_CHECKSUM, _IPV4_SOURCE, _IPV4_DESTINATION = 20, 9, 10, 12, 16
_ARP_BYTES, _ARP_SOURCE, _ARP_TARGET = 28, 14, 24
#: Offset of the checksum in a datagram or segment, by protocol: those that include the addresses.
_CHECKSUMS = {6: 16, 17: 6}
_UDP = 17
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Address:
    """A MAC address or an IPv4 address of a capture."""

    data: bytes

    @classmethod
    def parse(cls, text: str) -> Address:
        """Raises ``ValueError`` naming the text unless it is one or the other."""
        if _MAC.fullmatch(text):
            return cls(bytes.fromhex(text.replace(":", "").replace("-", "")))
        try:
            return cls(ipaddress.IPv4Address(text).packed)
        except ipaddress.AddressValueError:
            raise ValueError(f"address must be a MAC or an IPv4 address, not {text!r}") from None

    def __str__(self) -> str:
        if len(self.data) == _MAC_BYTES:
            return self.data.hex(":")
        return str(ipaddress.IPv4Address(self.data))


@dataclass(frozen=True)
class Choice:
    """Frames that go in: to one of some addresses and from one of others; empty: whatever it is."""

    to: frozenset[Address] = frozenset()
    source: frozenset[Address] = frozenset()

    def takes(self, frame: bytes) -> bool:
        """True for a frame that goes in."""
        sources, destinations = _ends(frame)
        return (not self.to or bool(self.to & destinations)) and (
            not self.source or bool(self.source & sources)
        )


def _network(frame: bytes) -> tuple[bytes, int]:
    """Type of what the frame carries, behind a VLAN tag if it has one, and where it begins."""
    at = 18 if frame[12:14] == _VLAN else 14
    return frame[at - 2 : at], at


def _address_places(frame: bytes) -> Iterator[tuple[int, int, int]]:
    """Where source and destination are, and how many bytes each has, in each layer."""
    if len(frame) >= 2 * _MAC_BYTES:
        yield _MAC_BYTES, 0, _MAC_BYTES
    kind, at = _network(frame)
    if kind == _IPV4 and len(frame) >= at + _IPV4_BYTES:
        yield at + _IPV4_SOURCE, at + _IPV4_DESTINATION, 4
    elif kind == _ARP and len(frame) >= at + _ARP_BYTES:
        yield at + _ARP_SOURCE, at + _ARP_TARGET, 4


def _ends(frame: bytes) -> tuple[frozenset[Address], frozenset[Address]]:
    """Addresses of the source and of the destination."""
    ends: tuple[list[Address], list[Address]] = ([], [])
    for *places, length in _address_places(frame):
        for end, place in zip(ends, places, strict=True):
            end.append(Address(frame[place : place + length]))
    return frozenset(ends[0]), frozenset(ends[1])


def _adjust(frame: bytearray, place: int, old: bytes, new: bytes) -> None:
    """Correct a checksum for changed bytes; a wrong one stays wrong (RFC 1624, equation 3)."""
    total = ~int.from_bytes(frame[place : place + 2], "big") & 0xFFFF
    for index in range(0, len(old), 2):
        total += ~int.from_bytes(old[index : index + 2], "big") & 0xFFFF
        total += int.from_bytes(new[index : index + 2], "big")
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    frame[place : place + 2] = (~total & 0xFFFF).to_bytes(2, "big")


def _transport_checksum(frame: bytes, at: int) -> int | None:
    """Where the checksum of UDP or TCP is, if the frame has one."""
    protocol = frame[at + _IPV4_PROTOCOL]
    start = at + (frame[at] & 15) * 4
    fragment_offset = int.from_bytes(frame[at + 6 : at + 8], "big") & 0x1FFF
    if protocol not in _CHECKSUMS or fragment_offset:
        return None
    place = start + _CHECKSUMS[protocol]
    if len(frame) < place + 2 or (protocol == _UDP and frame[place : place + 2] == b"\0\0"):
        return None
    return place


def readdress(frame: bytes, to: Iterable[Address], mac: bytes, address: bytes) -> bytes:
    """The frame for the board instead of the one that it was for; checksums change with it.

    A frame to one station gets ``mac``, and ``address`` as its IPv4 destination or ARP target; one
    to a group or to all only gets ``address``, and only instead of one of ``to``.
    """
    places = list(_address_places(frame))
    if not places:
        return frame
    changed = bytearray(frame)
    to_one = not frame[0] & 1
    if to_one:
        changed[:_MAC_BYTES] = mac
    for _, place, length in places[1:]:
        old = frame[place : place + length]
        if not to_one and Address(old) not in to:
            continue
        changed[place : place + length] = address
        kind, at = _network(frame)
        if kind == _IPV4:
            _adjust(changed, at + _IPV4_CHECKSUM, old, address)
            checksum = _transport_checksum(frame, at)
            if checksum is not None:
                _adjust(changed, checksum, old, address)
                is_udp = frame[at + _IPV4_PROTOCOL] == _UDP
                # 0 stands for none there (RFC 768).
                if is_udp and changed[checksum : checksum + 2] == b"\0\0":
                    changed[checksum : checksum + 2] = b"\xff\xff"
    return bytes(changed)


def _busiest(counts: Counter[Address]) -> str:
    """The most frequent addresses, for a message."""
    return ", ".join(f"{address} ({count})" for address, count in counts.most_common(_MOST_SHOWN))


def choose(packets: Iterable[Packet], choice: Choice, path: Path) -> tuple[list[Packet], int]:
    """The packets that go in, and how many there are.

    Raises ``ValueError`` if there is none; the message has the most frequent addresses.
    """
    chosen: list[Packet] = []
    counts: tuple[Counter[Address], Counter[Address]] = (Counter(), Counter())
    total = 0
    for packet in packets:
        total += 1
        if choice.takes(packet.stored):
            chosen.append(packet)
        elif not chosen:
            for one, addresses in zip(counts, _ends(packet.stored), strict=True):
                one.update(addresses)
    if not chosen:
        raise ValueError(
            f"{path} has no frame of that choice among {total};"
            f" sources: {_busiest(counts[0])}; destinations: {_busiest(counts[1])}"
        )
    return chosen, total


def replay_frames(
    path: Path,
    choice: Choice,
    soc: SocParams,
    *,
    speed: float = 1.0,
    start_cycle: int = 0,
    as_board: bool = False,
) -> tuple[list[Frame], int]:
    """Frames of a capture for a SoC, and how many packets the capture has.

    With ``as_board`` they get the board's own addresses (``readdress``). Raises ``ValueError`` as
    ``read_pcap`` and ``choose``.
    """
    chosen, total = choose(some_packets(path), choice, path)
    if as_board:
        mac = Address.parse(soc.mac_address).data
        address = Address.parse(soc.local_ip).data
        chosen = [
            replace(packet, stored=readdress(packet.stored, choice.to, mac, address))
            for packet in chosen
        ]
    frames = time_frames(
        chosen,
        path,
        soc.sys_clk_hz,
        speed=speed,
        start_cycle=start_cycle,
        most_bytes=MOST_BYTES,
    )
    return frames, total
