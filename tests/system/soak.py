"""Frames of every kind, good and bad, for the whole SoC, and what must have become of them."""

from __future__ import annotations

import random
import re
import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from host_build import ROOT
from net_host import config
from net_malformed import MALFORMED
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from system_builds import READY

from tierv.sim.debug_info import member
from tierv.sim.elf import Program, Symbol
from tierv.sim.experiments.frames import (
    ECHO_PORT,
    FAST_ECHO_PORT,
    PEER_MAC,
    SINK_PORT,
    arp_request,
    udp_frame,
)
from tierv.sim.host.commands import COMMAND_PORT
from tierv.sim.records import FrameFlag
from tierv.sim.replay import Address, readdress
from tierv.sim.result import RunResult
from tierv.sim.stack_counters import COUNTERS, stack_counters
from tierv.sim.stimulus import Frame, UartBreak, UartBytes
from tierv.soc import map as soc_map
from tierv.soc.params import SocParams

BOARD = SocParams()
#: Nobody has this port.
NOBODY = 4242
#: The peer has asked for the board.
START_CYCLE = READY + 100_000
#: So long after the last frame everything has been answered.
QUIET_CYCLES = 300_000
#: Frames that come back to back, and the longest pause before others, in cycles.
_BURST, _PAUSE_CYCLES = 6, 14_000
#: Ethernet's limit without check sequence, and the longest frames sent.
_MOST_BYTES, _LONGEST_BYTES = 1514, 4000
#: LiteEth's check of the sequence can miss the end of a frame that is no longer than that, and take
#: the next frame with it.
_SHORTEST_BYTES = 5


def to_board(content: Packet, to: str = BOARD.mac_address) -> bytes:
    """A frame from the peer."""
    return bytes(Ether(dst=to, src=PEER_MAC) / content)


class Mix:
    """Frames at random, of each kind as often as any other; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kinds = (
            self._arp, self._ping, self._echo, self._fast_echo, self._discard, self._nobody,
            self._malformed, self._garbled, self._bad_fcs, self._bad_fcs, self._headless,
            self._runt, self._fragment, self._oversize,
        )  # fmt: skip
        #: How many of each kind were made, by the method's name.
        self.made: Counter[str] = Counter()

    def frames(self, cycles: int) -> list[Frame]:
        """Frames for so many cycles, in bursts and with pauses."""
        time, frames = START_CYCLE, [Frame(arp_request(), cycle=READY)]
        while time < START_CYCLE + cycles:
            for _ in range(self.random.randint(1, _BURST)):
                make = self.random.choice(self.kinds)
                self.made[make.__name__.strip("_")] += 1
                frame = make()
                frames.append(
                    Frame(frame.data, time, frame.flags, preamble_bytes=frame.preamble_bytes)
                )
                time += (len(frame.data) + 24) * 8
            time += self.random.randint(0, _PAUSE_CYCLES)
        return frames

    def _payload(self, most: int = 1472) -> bytes:
        # As many short ones as long ones.
        return self.random.randbytes(
            self.random.choice((18, 100, 500, most)) - self.random.randint(0, 18)
        )

    def _arp(self) -> Frame:
        return Frame(arp_request())

    def _ping(self) -> Frame:
        content = IP(src=BOARD.remote_ip, dst=BOARD.local_ip) / ICMP(id=1) / Raw(self._payload())
        return Frame(to_board(content))

    def _echo(self) -> Frame:
        return Frame(udp_frame(self._payload(600), ECHO_PORT))

    def _fast_echo(self) -> Frame:
        return Frame(udp_frame(self._payload(), FAST_ECHO_PORT))

    def _discard(self) -> Frame:
        return Frame(udp_frame(self._payload(), SINK_PORT))

    def _nobody(self) -> Frame:
        return Frame(udp_frame(self._payload(), NOBODY))

    def _malformed(self) -> Frame:
        data, _ = self.random.choice([one for one in MALFORMED.values() if len(one[0]) > 14])
        mac, address = (Address.parse(text).data for text in (BOARD.mac_address, BOARD.local_ip))
        return Frame(readdress(data, (), mac, address)[:_LONGEST_BYTES])

    def _garbled(self) -> Frame:
        data = bytearray(self.random.choice((self._echo, self._ping, self._arp))().data)
        for _ in range(self.random.randint(1, 4)):
            # Other stations' frames would be no test of what is behind the addresses.
            data[self.random.randrange(12, len(data))] = self.random.randrange(256)
        return Frame(bytes(data[: self.random.randint(14, len(data))]))

    def _bad_fcs(self) -> Frame:
        good = self.random.choice((self._echo, self._ping, self._arp))()
        return Frame(good.data, flags=FrameFlag.BAD_FCS)

    def _headless(self) -> Frame:
        # Nor shall a byte of it look like a delimiter; the check sequence may, which is then wrong.
        data = self._echo().data.replace(b"\xd5", b"\x55")
        return Frame(data, flags=FrameFlag.NO_DELIMITER)

    def _runt(self) -> Frame:
        # LiteEth loses one of two bytes behind a frame with a wrong check sequence.
        data = udp_frame(b"", ECHO_PORT)[: self.random.randint(_SHORTEST_BYTES, 42)]
        return Frame(data, flags=FrameFlag.NO_PAD)

    def _fragment(self) -> Frame:
        data = self.random.randbytes(self.random.randint(_SHORTEST_BYTES, 63))
        return Frame(data, flags=FrameFlag.NO_FCS)

    def _oversize(self) -> Frame:
        return Frame(
            udp_frame(b"", ECHO_PORT)[:14]
            + bytes(self.random.randint(_MOST_BYTES - 13, _LONGEST_BYTES - 14))
        )


@dataclass
class Account:
    """What a run says became of its frames."""

    program: Program
    result: RunResult
    #: Where the numbers of frames received and sent are.
    moved: tuple[str, str]
    stack: dict[str, int] = field(init=False)
    #: Frames that the MAC dropped: no slot free, check sequence, preamble.
    overruns: int = field(init=False)
    bad_fcs: int = field(init=False)
    bad_preamble: int = field(init=False)

    def __post_init__(self) -> None:
        self.stack = stack_counters(self.program, self.result)
        pattern = rb"MAC: no slot (\d+)  bad FCS (\d+)  bad preamble (\d+)"
        (words,) = (
            found for frame in self.result.frames if (found := re.search(pattern, frame.data))
        )
        self.overruns, self.bad_fcs, self.bad_preamble = map(int, words.groups())

    def number(self, name: str) -> int:
        """A variable of the run."""
        value = self.result.values[name]
        return value if isinstance(value, int) else int.from_bytes(value, "little")

    def waiting(self, ring: str) -> int:
        """Packets in one of the interface's rings."""
        head, tail = struct.unpack("<II", self.result.values[f"network.{ring}.ring"])
        return head - tail

    @property
    def lost(self) -> int:
        """Frames that did not come to the stack."""
        return len(self.result.frames_sent) - self.number(self.moved[0])

    @property
    def bad(self) -> int:
        """Those that the MAC dropped because of what they are."""
        return self.bad_fcs + self.bad_preamble

    @property
    def stack_frames(self) -> int:
        """Frames that ended in one of the stack's counters for them."""
        return sum(count for name, count in self.stack.items() if _KINDS[name] == "FRAME")

    @property
    def in_mac(self) -> int:
        """Packets that the MAC's driver has: in its rings, or in its list of those sent."""
        if _SENT in self.result.values:
            return self.listed(_SENT)
        words = struct.iter_unpack("<IIII", b"".join(self.result.values[name] for name in _PLACES))
        return sum(packet != 0 for _, _, packet, _ in words)

    def listed(self, name: str) -> int:
        """Packets in a list of which a variable has the first."""
        packets = self.result.values[_PACKETS]
        base = self.program.symbols[_PACKETS].address
        place, _ = member(self.program.path, "packets", ("0", "next"))
        count, packet = 0, self.number(name)
        while packet:
            (packet,) = struct.unpack_from("<I", packets, packet - base + place)
            count += 1
        return count


_COUNTERS_H = (ROOT / "firmware/net/counters.h").read_text()
#: Of every counter: FRAME, DATAGRAM, WAITING or EVENT.
_KINDS = dict(re.findall(r"^\s*X\((\w+), *(\w+)\)", _COUNTERS_H, re.MULTILINE))
#: The packets of the network interface; those of serial ports have the same name.
_PACKETS = "packets in local memory"
_RINGS = ("free", "received", "transmit", "sent", "supply", "outbox", "returned")
#: Where a driver has packets: rings of buffer, word, packet, next, or a list.
_PLACES = ("network_mac.receive_ring", "network_mac.transmit_ring")
_SENT = "network_mac.sent"
#: Frames that the driver has moved, by which kind of MAC it is.
_MOVED = {
    False: ("network_mac.received", "network_mac.transmitted"),
    True: ("network_mac.port.received", "network_mac.port.transmitted"),
}
_VARIABLES = (
    COUNTERS, "network.held", "network.spare", "network.added", _PACKETS,
    *(f"network.{ring}.ring" for ring in _RINGS),
)  # fmt: skip


def _find_packets(program: Program) -> Symbol:
    with program.path.open("rb") as file:
        for table in ELFFile(file).iter_sections():
            if isinstance(table, SymbolTableSection):
                for symbol in table.get_symbol_by_name("packets") or ():
                    if symbol["st_value"] < soc_map.ORIGINS["main_ram"]:
                        return Symbol(symbol["st_value"], symbol["st_size"], "")
    raise KeyError("packets")


def run(system, frames: list[Frame], uart: Iterable[UartBytes | UartBreak] = ()) -> Account:
    """Send the frames, ask for the MAC's counters, and read the stack's state when all is quiet."""
    program = system.services
    program.symbols[_PACKETS] = _find_packets(program)
    last = frames[-1].cycle + QUIET_CYCLES
    question = [
        Frame(arp_request(), cycle=last),
        Frame(udp_frame(b"1 ifconfig", COMMAND_PORT), cycle=last),
    ]
    by_dma = system.simulation.model.params.soc.eth_dma
    places = _PLACES if by_dma else (_SENT,)
    result = system.run(
        cycles=last + 2 * QUIET_CYCLES,
        frames=[*frames, *question],
        uart=uart,
        get=(*_VARIABLES, *_MOVED[by_dma], *places),
        limit_is_error=False,
    )
    assert len(result.frames_sent) == len(frames) + len(question)
    return Account(program, result, _MOVED[by_dma])


def check(account: Account) -> None:
    """Every frame is counted once, every answer was sent, and all packets are at home."""
    assert account.overruns + account.bad == account.lost
    check_stack(account)


def check_stack(account: Account) -> None:
    """The same of what the MAC did not drop."""
    stack, result = account.stack, account.result
    received, transmitted = (account.number(name) for name in account.moved)
    assert account.stack_frames == received
    assert stack["FAULT_RING_FULL"] == 0

    assert transmitted == len(result.frames)
    assert not any(frame.errors for frame in result.frames)
    answers = (
        "ARP_ANSWERED", "ARP_REQUESTED", "ARP_ANNOUNCED", "ARP_WAITING_SENT", "ICMP_ECHOED",
        "ICMP_UNREACHABLE_SENT", "IGMP_LEFT", "IGMP_REPORTED", "UDP_ECHOED", "UDP_REPLIED",
        "UDP_SENT",
    )  # fmt: skip
    assert sum(stack[name] for name in answers) == len(result.frames)

    homes = {
        "receive": account.waiting("free"),
        "application": account.waiting("supply"),
        "protocol": account.listed("network.spare"),
    }
    for ring in ("received", "transmit", "outbox", "returned"):
        assert account.waiting(ring) == 0, ring
    assert account.number("network.held") == 0
    # What has been sent goes home in batches.
    assert account.waiting("sent") < config("NET_SENT_BATCH")
    # Those of serial ports, and the MAC's copy, come last.
    added = struct.unpack("<5I", account.result.values["network.added"])
    at_home = sum(homes.values()) + account.waiting("sent") + account.in_mac
    assert at_home == sum(added[:3])
