"""Packets of capture files, pcap and pcapng, with exact times.

The layouts are dpkt's. Its readers are not used: they make floating-point numbers of times, and
take a file that ends within a packet.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import dpkt
from dpkt import pcap, pcapng

#: The only kind of frames that is read.
LINK_TYPE_ETHERNET = 1
#: Bits of a link type in pcap's header. Of those above one says whether the highest four are the
#: length of the frames' check sequence, in units of 16 bits.
_LINK_TYPE_MASK = 0xFFFF
_HAS_FCS_LENGTH = 1 << 26
_FCS_LENGTH_LSB = 28
#: Bytes of a check sequence by what pcapng's option says. Its standard counts bits, and has an
#: example of bytes.
_IF_FCSLEN_BYTES = {0: 0, 4: 4, 32: 4}
_PCAP_HEADERS = {
    pcap.TCPDUMP_MAGIC: (pcap.FileHdr, pcap.PktHdr, 10**6),
    pcap.TCPDUMP_MAGIC_NANO: (pcap.FileHdr, pcap.PktHdr, 10**9),
    pcap.PMUDPCT_MAGIC: (pcap.LEFileHdr, pcap.LEPktHdr, 10**6),
    pcap.PMUDPCT_MAGIC_NANO: (pcap.LEFileHdr, pcap.LEPktHdr, 10**9),
}
_PCAP_HEADER_BYTES = 24
_PCAP_PACKET_BYTES = 16

_SECTION = struct.pack("<I", pcapng.PCAPNG_BT_SHB)
#: Type and length before the body of a block, and the length again behind it.
_LEAST_BLOCK_BYTES = 12
_ORDERS = {
    struct.pack("<I", pcapng.BYTE_ORDER_MAGIC): "<",
    struct.pack(">I", pcapng.BYTE_ORDER_MAGIC): ">",
}
_INTERFACES = {"<": pcapng.InterfaceDescriptionBlockLE, ">": pcapng.InterfaceDescriptionBlock}
_PACKETS = {
    ("<", pcapng.PCAPNG_BT_EPB): pcapng.EnhancedPacketBlockLE,
    (">", pcapng.PCAPNG_BT_EPB): pcapng.EnhancedPacketBlock,
    ("<", pcapng.PCAPNG_BT_PB): pcapng.PacketBlockLE,
    (">", pcapng.PCAPNG_BT_PB): pcapng.PacketBlock,
}

#: A file's contents.
_Data = bytes | mmap.mmap


@dataclass(frozen=True)
class Packet:
    """A packet of a capture: when it came, its bytes as far as they were kept, and how many it had.

    None of them are a check sequence's. ``number`` counts from 1. Raises ``ValueError`` for more
    bytes than it had.
    """

    number: int
    seconds: Fraction
    stored: bytes
    length: int

    def __post_init__(self) -> None:
        if len(self.stored) > self.length:
            raise ValueError(f"{len(self.stored)} bytes of {self.length} are kept")

    def without(self, last_bytes: int) -> Packet:
        """The packet if its last bytes had not been there; they need not have been kept."""
        length = max(self.length - last_bytes, 0)
        return replace(self, stored=self.stored[:length], length=length)


def read_capture(path: Path | str) -> list[Packet]:
    """All packets of a capture, as ``packets_of``."""
    return list(packets_of(path))


def packets_of(path: Path | str) -> Iterator[Packet]:
    """The packets of a capture of Ethernet frames, in the order of the file.

    The file may be larger than memory. Raises ``ValueError`` for one that is empty, no capture, of
    another link type, or damaged.
    """
    with _contents(Path(path)) as data:
        yield from _packets(path, data)


def some_packets(path: Path | str) -> Iterator[Packet]:
    """Those of ``packets_of``. Raises ``ValueError``, too, if there is none."""
    packets = packets_of(path)
    first = next(packets, None)
    if first is None:
        raise ValueError(f"{path} has no packets")
    yield first
    yield from packets


@contextlib.contextmanager
def _contents(path: Path) -> Iterator[_Data]:
    with path.open("rb") as file:
        try:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            # Empty, or a pipe.
            yield file.read()
            return
        with mapped:
            yield mapped


def _packets(path: Path | str, data: _Data) -> Iterator[Packet]:
    if not data:
        raise ValueError(f"{path} is empty, not a capture")
    if int.from_bytes(data[:4], "big") in _PCAP_HEADERS:
        reader = _pcap(data)
    elif data[: len(_SECTION)] == _SECTION:
        reader = _pcapng(data)
    else:
        raise ValueError(f"{path} must be a pcap or pcapng file")
    for number in itertools.count(1):
        try:
            record = next(reader, None)
            if record is None:
                return
            seconds, stored, length, fcs_bytes = record
            packet = Packet(number, seconds, stored, length).without(fcs_bytes)
        except (ValueError, IndexError, struct.error, dpkt.Error) as error:
            text = str(error) or "a record is damaged"
            raise ValueError(f"{path}, packet {number}: {text}") from error
        yield packet


#: Time in seconds, bytes that were kept, how many there were, and how many of them are the check
#: sequence.
_Record = tuple[Fraction, bytes, int, int]


def _check_link_type(number: int) -> None:
    if number != LINK_TYPE_ETHERNET:
        raise ValueError(f"frames must be Ethernet's (link type 1), not of link type {number}")


def _pcap(data: _Data) -> Iterator[_Record]:
    file_header, packet_header, units = _PCAP_HEADERS[int.from_bytes(data[:4], "big")]
    if len(data) < _PCAP_HEADER_BYTES:
        raise ValueError("the file ends before it")
    header = file_header(data[:_PCAP_HEADER_BYTES])
    _check_link_type(header.linktype & _LINK_TYPE_MASK)
    fcs_bytes = 0
    if header.linktype & _HAS_FCS_LENGTH:
        fcs_bytes = 2 * (header.linktype >> _FCS_LENGTH_LSB)
    position = _PCAP_HEADER_BYTES
    while position < len(data):
        start = position + _PCAP_PACKET_BYTES
        if len(data) < start:
            raise ValueError("the file ends within it")
        record = packet_header(data[position:start])
        position = start + record.caplen
        if len(data) < position:
            raise ValueError("the file ends within it")
        if record.tv_usec >= units:
            raise ValueError(f"a second has {units} parts, not {record.tv_usec}")
        seconds = record.tv_sec + Fraction(record.tv_usec, units)
        yield seconds, data[start:position], record.len, fcs_bytes


@dataclass(frozen=True)
class _Interface:
    link_type: int
    #: Time stamps count so many a second, from so many seconds on.
    units: int
    offset_s: int
    #: As the option says it.
    fcs_length: int


def _byte(option, name: str) -> int:
    if len(option.data) != 1:
        raise ValueError(f"{name} must have 1 byte, not {len(option.data)}")
    return option.data[0]


def _interface(block: bytes, order: str) -> _Interface:
    description = _INTERFACES[order](block)
    units, offset_s, fcs_length = 10**6, 0, 0
    for option in description.opts:
        if option.code == pcapng.PCAPNG_OPT_IF_TSRESOL:
            power = _byte(option, "if_tsresol")
            units = (2 if power & 0x80 else 10) ** (power & 0x7F)
        elif option.code == pcapng.PCAPNG_OPT_IF_TSOFFSET:
            (offset_s,) = struct.unpack(order + "q", option.data)
        elif option.code == pcapng.PCAPNG_OPT_IF_FCSLEN:
            fcs_length = _byte(option, "if_fcslen")
    return _Interface(description.linktype, units, offset_s, fcs_length)


def _blocks(data: _Data) -> Iterator[tuple[str, int, bytes]]:
    """Byte order, type and bytes of each block."""
    position, order = 0, "<"
    while position < len(data):
        if data[position : position + len(_SECTION)] == _SECTION:
            mark = data[position + 8 : position + 12]
            if mark not in _ORDERS:
                raise ValueError("the section before it has no known byte order")
            order = _ORDERS[mark]
        if len(data) < position + _LEAST_BLOCK_BYTES:
            raise ValueError("the file ends within it")
        kind, length = struct.unpack_from(order + "II", data, position)
        if length < _LEAST_BLOCK_BYTES or length % 4:
            raise ValueError(f"a block can't have {length} bytes")
        if len(data) < position + length:
            raise ValueError("the file ends within it")
        yield order, kind, data[position : position + length]
        position += length


def _pcapng(data: _Data) -> Iterator[_Record]:
    interfaces: list[_Interface] = []
    for order, kind, block in _blocks(data):
        if kind == pcapng.PCAPNG_BT_SHB:
            interfaces = []
        elif kind == pcapng.PCAPNG_BT_IDB:
            interfaces.append(_interface(block, order))
        elif kind == pcapng.PCAPNG_BT_SPB:
            raise ValueError("a simple packet block has no time")
        elif (order, kind) in _PACKETS:
            yield _record(_PACKETS[order, kind](block), interfaces)


def _record(block, interfaces: list[_Interface]) -> _Record:
    if block.iface_id >= len(interfaces):
        raise ValueError(f"interface {block.iface_id} is not described")
    interface = interfaces[block.iface_id]
    _check_link_type(interface.link_type)
    if interface.fcs_length not in _IF_FCSLEN_BYTES:
        raise ValueError(f"a check sequence of Ethernet has 4 bytes, not {interface.fcs_length}")
    if block.caplen > block.len - block.__hdr_len__:
        raise ValueError(f"{block.caplen} bytes do not fit in its block of {block.len}")
    ticks = block.ts_high << 32 | block.ts_low
    seconds = interface.offset_s + Fraction(ticks, interface.units)
    return seconds, bytes(block.pkt_data), block.pkt_len, _IF_FCSLEN_BYTES[interface.fcs_length]
