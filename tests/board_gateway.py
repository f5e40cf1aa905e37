"""UDP between programs of this host and a simulated board on a UNIX datagram socket."""

from __future__ import annotations

import select
import socket
import threading
from pathlib import Path

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

HERE, HERE_MAC = "192.168.1.50", "10:e2:d5:00:00:01"
THERE, THERE_MAC = "192.168.1.100", "02:00:00:00:00:01"
_FRAME_BYTES = 2000


class Gateway(threading.Thread):
    """Each UDP port of the board in ``ports`` gets one of this host, in ``local``."""

    def __init__(self, board: Path, own: Path, ports: list[int]) -> None:
        super().__init__(daemon=True)
        self._board = str(board)
        self._frames = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._frames.bind(str(own))
        self._sockets = {port: socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for port in ports}
        for end in self._sockets.values():
            end.bind(("127.0.0.1", 0))
        #: Port of this host by port of the board.
        self.local = {port: end.getsockname()[1] for port, end in self._sockets.items()}
        self._ends = False

    def run(self) -> None:
        ports = {end: port for port, end in self._sockets.items()}
        arp = ARP(hwsrc=THERE_MAC, psrc=THERE, pdst=HERE)
        self._send(bytes(Ether(src=THERE_MAC, dst="ff:ff:ff:ff:ff:ff") / arp))
        while not self._ends:
            ready, _, _ = select.select([self._frames, *ports], [], [], 0.05)
            for end in ready:
                if end is self._frames:
                    self._receive(Ether(self._frames.recv(_FRAME_BYTES)))
                else:
                    payload, (_, source) = end.recvfrom(_FRAME_BYTES)
                    header = Ether(src=THERE_MAC, dst=HERE_MAC) / IP(src=THERE, dst=HERE)
                    self._send(bytes(header / UDP(sport=source, dport=ports[end]) / Raw(payload)))

    def end(self) -> None:
        """Stop, and close everything."""
        self._ends = True
        self.join()
        for end in (self._frames, *self._sockets.values()):
            end.close()

    def _send(self, frame: bytes) -> None:
        self._frames.sendto(frame, self._board)

    def _receive(self, packet: Ether) -> None:
        if UDP in packet and packet[UDP].sport in self._sockets:
            payload = bytes(packet[UDP].payload)[: packet[UDP].len - 8]
            self._sockets[packet[UDP].sport].sendto(payload, ("127.0.0.1", packet[UDP].dport))
        elif ARP in packet and packet[ARP].op == 1 and packet[ARP].pdst == THERE:
            answer = ARP(op=2, hwsrc=THERE_MAC, psrc=THERE, hwdst=HERE_MAC, pdst=HERE)
            self._send(bytes(Ether(src=THERE_MAC, dst=HERE_MAC) / answer))
