"""A network with a DHCP server and a host, around a simulated board whose run is repeatable.

What the board is answered depends on what it says. So it is run again and again, each time with the
answers to all that it said the time before, until it says nothing that has no answer yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scapy.layers.dhcp import BOOTP, DHCP
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw

from tierv.sim.elf import Program
from tierv.sim.result import RunResult
from tierv.sim.run import Simulation
from tierv.sim.stack_counters import COUNTERS
from tierv.sim.stimulus import Frame
from tierv.soc.params import SocParams

BOARD_MAC = SocParams().mac_address
MAC_BYTES = bytes.fromhex(BOARD_MAC.replace(":", ""))
SERVER, SERVER_MAC = "10.7.0.1", "02:00:00:00:00:07"
LEASED, MASK = "10.7.0.99", "255.255.255.0"
DISCOVER, REQUEST = 1, 3
#: From the end of what the board says to the answer.
ANSWER_CYCLES = 5_000
MOST_RUNS = 12


@dataclass
class Lan:
    """The server gives ``LEASED`` for ``lease_s`` seconds."""

    lease_s: int
    #: The kinds of messages that came in the last run, in order, and where from and to.
    messages: list[tuple[int, str, str]] = field(default_factory=list)

    def run(
        self, simulation: Simulation, program: Program, frames: Sequence[Frame], cycles: int
    ) -> RunResult:
        """The run in which all is answered; ``frames`` come in any case."""
        answers: list[Frame] = []
        for _ in range(MOST_RUNS):
            result = simulation.run(
                program,
                frames=sorted([*frames, *answers], key=lambda frame: frame.cycle),
                cycles=cycles,
                get=[COUNTERS],
                limit_is_error=False,
            )
            self.messages.clear()
            before, answers = answers, []
            for frame in result.frames:
                packet = self._answer(Ether(frame.data))
                if packet is not None:
                    answers.append(Frame(bytes(packet), cycle=frame.end_cycle + ANSWER_CYCLES))
            if answers == before:
                return result
        raise AssertionError(f"the board says something else in each of {MOST_RUNS} runs")

    def _answer(self, packet: Packet) -> Packet | None:
        if ARP in packet and packet[ARP].op == 1 and packet[ARP].pdst == SERVER:
            asker = packet[ARP].psrc
            reply = ARP(op=2, hwsrc=SERVER_MAC, psrc=SERVER, hwdst=BOARD_MAC, pdst=asker)
            return Ether(src=SERVER_MAC, dst=BOARD_MAC) / reply
        if BOOTP not in packet:
            return None
        kind = next(value for name, value in packet[DHCP].options if name == "message-type")
        self.messages.append((kind, packet[IP].src, packet[IP].dst))
        assert bytes(packet[BOOTP].chaddr)[:6] == MAC_BYTES
        options = [
            ("message-type", {DISCOVER: "offer", REQUEST: "ack"}[kind]),
            ("server_id", SERVER),
            ("lease_time", self.lease_s),
            ("subnet_mask", MASK),
            "end",
        ]
        to = packet[IP].src if packet[IP].src != "0.0.0.0" else "255.255.255.255"
        mac = BOARD_MAC if to != "255.255.255.255" else "ff:ff:ff:ff:ff:ff"
        bootp = BOOTP(op=2, xid=packet[BOOTP].xid, chaddr=MAC_BYTES, yiaddr=LEASED)
        header = Ether(src=SERVER_MAC, dst=mac) / IP(src=SERVER, dst=to) / UDP(sport=67, dport=68)
        return header / bootp / DHCP(options=options)


def ping(address: str, source: str, number: int) -> bytes:
    """A request to the board at an address, and from one in the same subnet."""
    header = Ether(src=SERVER_MAC, dst=BOARD_MAC) / IP(src=source, dst=address)
    return bytes(header / ICMP(type=8, id=1, seq=number) / Raw(b"x" * 20))


def pongs(result: RunResult) -> list[tuple[str, int]]:
    """Where answers to pings came from, and their numbers."""
    packets = [Ether(frame.data) for frame in result.frames if not frame.errors]
    return [
        (packet[IP].src, packet[ICMP].seq)
        for packet in packets
        if ICMP in packet and packet[ICMP].type == 0
    ]
