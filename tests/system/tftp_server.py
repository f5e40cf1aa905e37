"""A TFTP server (RFC 1350; blksize of RFC 2348) at the other end of a simulated wire."""

from __future__ import annotations

from collections.abc import Mapping

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.layers.tftp import (
    TFTP,
    TFTP_ACK,
    TFTP_DATA,
    TFTP_ERROR,
    TFTP_OACK,
    TFTP_RRQ,
    TFTP_Option,
    TFTP_Options,
)
from scapy.packet import Packet, Raw

_MAC = "02:00:00:00:00:01"
_PORT, _DATA_PORT = 69, 30_069
_NOT_FOUND = 1
_DEFAULT_BLOCK_BYTES = 512


class TftpServer:
    """Answers each frame with one or none."""

    def __init__(self, address: str, files: Mapping[str, bytes]) -> None:
        self._address, self._files = address, files
        #: Names of the files that were asked for.
        self.asked: list[str] = []
        self._content = b""
        self._block_bytes = _DEFAULT_BLOCK_BYTES

    def answer(self, frame: Packet) -> Packet | None:
        """The answer to a frame, if it is for the server and wants one."""
        if ARP in frame and frame[ARP].op == 1 and frame[ARP].pdst == self._address:
            reply = ARP(op=2, hwsrc=_MAC, psrc=self._address, hwdst=frame.src, pdst=frame[ARP].psrc)
            return Ether(src=_MAC, dst=frame.src) / reply
        if UDP not in frame or frame[IP].dst != self._address:
            return None
        udp = frame[UDP]
        request = TFTP(bytes(udp.payload))
        told = None
        if udp.dport == _PORT and TFTP_RRQ in request:
            told = self._begin(request)
        elif udp.dport == _DATA_PORT and TFTP_ACK in request:
            told = self._block(request[TFTP_ACK].block + 1)
        if told is None:
            return None
        ports = UDP(sport=_DATA_PORT, dport=udp.sport)
        return (
            Ether(src=_MAC, dst=frame.src) / IP(src=self._address, dst=frame[IP].src) / ports / told
        )

    def _begin(self, request: Packet) -> Packet | None:
        name = request[TFTP_RRQ].filename.decode()
        self.asked.append(name)
        if name not in self._files:
            return TFTP(op="ERROR") / TFTP_ERROR(errorcode=_NOT_FOUND, errormsg="no such file")
        self._content = self._files[name]
        options = {one.oname: one.value for one in request[TFTP_Options].options}
        if b"blksize" not in options:
            self._block_bytes = _DEFAULT_BLOCK_BYTES
            return self._block(1)
        self._block_bytes = int(options[b"blksize"])
        taken = TFTP_Option(oname="blksize", value=str(self._block_bytes))
        return TFTP(op="OACK") / TFTP_OACK() / TFTP_Options(options=[taken])

    def _block(self, number: int) -> Packet | None:
        """A block, the last of which is not full; None behind that."""
        begin = (number - 1) * self._block_bytes
        if begin > len(self._content):
            return None
        data = self._content[begin : begin + self._block_bytes]
        return TFTP(op="DATA") / TFTP_DATA(block=number) / Raw(data)
