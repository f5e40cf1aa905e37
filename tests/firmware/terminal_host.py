"""The terminal server in a host process: serial lines on one side, datagrams on the other."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address
from pathlib import Path

from host_build import (
    FAKE,
    ROOT,
    TESTS,
    Program,
    build,
    hex_bytes,
    net_sources,
    write_headers,
)
from net_frames import arp_request, ethernet, udp
from net_host import ADDRESS, MAC, config
from net_reference import checksum
from serial_headers import serial_headers
from terminal_rules import Rules

from tierv.sim.host import protocol
from tierv.sim.host.protocol import COUNTERS, Command, Item, TransmitState
from tierv.soc.serial.params import SerialParams

PORTS, DEPTH, CLOCK_HZ, BAUD = 2, 64, 100_000_000, 1_000_000
US_CYCLES, BIT_CYCLES = CLOCK_HZ // 1_000_000, CLOCK_HZ // BAUD
#: A clock that the firmware sees pass 2^32 soon.
START_CYCLE = (1 << 32) - 50_000
QUEUE_WORDS, WORD_BYTES = config("TERMINAL_TRANSMIT_WORDS"), 3
PORT_PACKETS = config("TERMINAL_PORT_PACKETS")
#: Flags of a received character.
BREAK, FRAMING, PARITY = 1, 2, 4
#: Of the ports' registers: what they have to do with settings.
REGISTERS = ("tuning", "format", "flow", "watermarks", "flow_levels", "timeout", "ev_enable")

#: No rule; and a rule with which a packet is begun at once and seldom closed.
NO_RULE = Rules(0, 0, protocol.MAX_DATA_BYTES, b"")
SLOW = Rules(protocol.MAX_RULE_US * US_CYCLES, 0, NO_RULE.length, b"")


@dataclass(frozen=True)
class Client:
    """Who sends datagrams to the server: address and port."""

    address: IPv4Address
    port: int = 4711

    @property
    def mac(self) -> bytes:
        """Its Ethernet address."""
        return bytes([2, 1]) + self.address.packed

    def peer(self) -> bytes:
        """As commands say it."""
        return struct.pack(">4sH", self.address.packed, self.port)


CLIENT = Client(IPv4Address("10.0.0.2"))
DATA_CLIENT = Client(IPv4Address("10.0.0.2"), 4712)


@dataclass(frozen=True)
class Datagram:
    """What the server has sent, when, and to whom."""

    cycle: int
    source: int
    to: Client
    payload: bytes


def character_cycles(baud: int = BAUD, bits: int = 9) -> int:
    """From a start bit to what the server takes for the character's time; ``bits`` before the stop
    bit."""
    return CLOCK_HZ * (4 * bits + 3) // 4 // baud + 8


#: From a character's time to the next one's, of a sender that is a tenth faster than the port, with
#: a stop bit less.
NEAREST_CYCLES = character_cycles() * 81 // 100 + 1


@cache
def build_terminal(transmit_depth: int = DEPTH) -> Path:
    """The program under the sanitizers."""
    firmware = ROOT / "firmware"
    server = sorted((firmware / "apps" / "terminal").glob("*.c"))
    others = ("apps/serial_ports", "apps/command", "drivers/serial")
    own = ("terminal_server_driver", "terminal_board", "terminal_serial", "text")
    depths = {"receive_depth": DEPTH, "transmit_depth": transmit_depth}
    params = SerialParams(sys_clk_hz=CLOCK_HZ, baud=BAUD, ports=PORTS, **depths)
    headers = serial_headers(params, first_line=0, mac_line=PORTS)
    return build(
        f"terminal_server_driver_{transmit_depth}",
        [
            *(TESTS / f"{name}.c" for name in own),
            *server,
            *(firmware / f"{name}.c" for name in others),
            *net_sources(),
        ],
        include=[FAKE, write_headers(f"terminal_{transmit_depth}", **headers), TESTS],
    )


def _datagram(cycle: int, frame: bytes) -> Datagram:
    length = int.from_bytes(frame[16:18], "big")
    packet = frame[14 : 14 + length]
    source, port, size = struct.unpack(">HHH", packet[20:26])
    pseudo = packet[12:20] + b"\0\x11" + packet[24:26]
    assert checksum(packet[:20]) == checksum(pseudo + packet[20:]) == 0
    assert (size, packet[12:16]) == (length - 20, IPv4Address(ADDRESS).packed)
    return Datagram(cycle, source, Client(IPv4Address(packet[16:20]), port), packet[28:])


class TerminalHost:
    """A server whose clients are known to it as neighbours."""

    def __init__(self, cycle: int = START_CYCLE, transmit_depth: int = DEPTH) -> None:
        self._program = Program(build_terminal(transmit_depth), end=".")
        #: Datagrams sent and not looked at yet; frames that are none; bytes sent by the lines.
        self.sent: list[Datagram] = []
        self.others: list[bytes] = []
        self.line = [b""] * PORTS
        self.cycle = cycle
        self._sequence = 0
        self.command("start", cycle)
        self.ask_for_us(CLIENT)
        self.others.clear()

    def command(self, *words: object) -> list[list[str]]:
        """Runs one command of terminal_server_driver.c; what it says itself."""
        return [line.split() for line in self._run(*words)]

    def said(self, command: str) -> list[str]:
        """What a command of the console prints."""
        return self._run("command", command)

    def _run(self, *words: object) -> list[str]:
        rest = []
        for line in self._program.command(" ".join(map(str, words))):
            said = line.split()
            if said[0] == "transmit":
                frame = bytes.fromhex(said[2])
                if frame[12:14] == b"\x08\0":
                    self.sent.append(_datagram(int(said[1]), frame))
                else:
                    self.others.append(frame)
            elif said[0] == "line":
                self.line[int(said[1])] += hex_bytes(said[2])
            else:
                rest.append(line)
        return rest

    def close(self) -> None:
        """Ends the program. Raises ``AssertionError`` if a sanitizer or the board complained."""
        self._program.close()

    def __enter__(self) -> TerminalHost:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        # What the program says about its end is of no use behind another failure.
        with contextlib.suppress(*(() if kind is None else (AssertionError,))):
            self.close()

    # --- the network

    def arp(self, operation: int, client: Client) -> None:
        """The client asks for the server's Ethernet address (1), or tells it its own (2)."""
        sender = {"hwsrc": client.mac.hex(":"), "psrc": str(client.address)}
        frame = arp_request(op=operation, hwdst=MAC if operation == 2 else None, **sender)
        self.command("frame", frame.hex())

    def ask_for_us(self, client: Client) -> None:
        """The client is a neighbour that the server knows."""
        self.arp(1, client)

    def give(self, payload: bytes, port: int, client: Client) -> None:
        """A datagram comes to a UDP port."""
        packet = udp(payload, src=str(client.address), sport=client.port, dport=port)
        self.command("frame", ethernet(0x0800, packet, source=client.mac.hex(":")).hex())

    def take(self, source: int) -> list[Datagram]:
        """Datagrams that have come from a UDP port of the server."""
        taken = [datagram for datagram in self.sent if datagram.source == source]
        self.sent = [datagram for datagram in self.sent if datagram.source != source]
        return taken

    def data(self, port: int = 0, client: Client = DATA_CLIENT, *, payload: bytes) -> None:
        """A datagram for a serial line."""
        self.give(payload, protocol.DATA_PORT + port, client)

    def received(self, port: int = 0) -> list[Datagram]:
        """Datagrams with what has come by a serial line."""
        return self.take(protocol.DATA_PORT + port)

    def payloads(self, port: int = 0) -> list[bytes]:
        """What is in those."""
        return [one.payload for one in self.received(port)]

    def control(self, *items: Item, port: int = 0, client: Client = CLIENT) -> list[Item]:
        """Commands; their answers with the codes of the commands."""
        self._sequence = self._sequence % 255 + 1
        before = self.take(protocol.CONTROL_PORT)
        self.give(protocol.encode(port, self._sequence, items), protocol.CONTROL_PORT, client)
        answers, self.sent = self.take(protocol.CONTROL_PORT), before + self.sent
        mine = [one for one in answers if protocol.decode(one.payload)[1] == self._sequence]
        self.sent += [one for one in answers if one not in mine]
        assert len(mine) == 1
        assert mine[0].to == client
        number, _, found = protocol.decode(mine[0].payload)
        assert number == port
        return protocol.check(port, items, found)

    def set(self, command: Command, value: int, port: int = 0) -> int:
        """Makes a setting; what holds."""
        (answer,) = self.control(protocol.number(command, value), port=port)
        return answer.number

    def pack(self, rules: Rules, port: int = 0, client: Client = DATA_CLIENT) -> None:
        """Makes packing rules hold, and a client the data's peer."""
        self.control(
            protocol.number(Command.PACK_TIME, rules.time // US_CYCLES),
            protocol.number(Command.PACK_IDLE, rules.idle // US_CYCLES),
            protocol.number(Command.PACK_LENGTH, rules.length),
            protocol.delimiter(rules.delimiter),
            Item(Command.PEER, client.peer()),
            port=port,
        )

    def told(self) -> list[tuple[int, int, bytes]]:
        """Notifications of the client: serial port, code, value."""
        found = []
        for datagram in self.take(protocol.CONTROL_PORT):
            port, sequence, items = protocol.decode(datagram.payload)
            assert sequence == 0
            assert datagram.to == CLIENT
            found += [(port, item.code - protocol.ANSWER, item.value) for item in items]
        return found

    def counters(self, port: int = 0) -> dict[str, int]:
        """All counters of a port."""
        (answer,) = self.control(Item(Command.COUNTERS), port=port)
        return dict(zip(COUNTERS, struct.unpack(f">{len(COUNTERS)}I", answer.value), strict=True))

    def transmit_state(self, port: int = 0) -> TransmitState:
        """Of the queue to a serial line."""
        (answer,) = self.control(Item(Command.TRANSMIT_STATE), port=port)
        return TransmitState(*struct.unpack(">3I", answer.value))

    # --- the lines

    def advance(self, cycles: int) -> None:
        """Time passes."""
        self.cycle += cycles
        self.command("advance", cycles)

    def arrive(
        self,
        arrivals: Sequence[tuple[int, int]],
        port: int = 0,
        *,
        flags: int | Sequence[int] = 0,
        baud: int = BAUD,
        bits: int = 9,
    ) -> None:
        """Characters will come, each at the time that the server has for it.

        They are in the FIFO in the middle of the stop bit, a quarter of a bit and more before.
        ``flags`` are for all of them, or one number for each.
        """
        before, length = CLOCK_HZ // baud // 4 + 8, character_cycles(baud, bits)
        each = [flags] * len(arrivals) if isinstance(flags, int) else flags
        records = [
            struct.pack(">BBIQ", flag, byte, (cycle - length) & 0xFFFFFFFF, cycle - before)
            for flag, (byte, cycle) in zip(each, arrivals, strict=True)
        ]
        self.command("receive", port, b"".join(records).hex())

    def come(self, data: bytes, port: int = 0, *, flags: int = 0) -> None:
        """Characters come one behind the other from now on, and nothing for a moment."""
        times = [self.cycle + (2 + index) * 10 * BIT_CYCLES for index in range(len(data))]
        self.arrive([*zip(data, times, strict=True)], port, flags=flags)
        self.advance(times[-1] + 12 * BIT_CYCLES - self.cycle)

    def send(self, count: int, port: int = 0) -> None:
        """The line sends so many characters, and what follows them in the FIFO meanwhile."""
        while count:
            self.command("send", port, min(count, DEPTH // 2))
            count -= min(count, DEPTH // 2)

    def registers(self, port: int = 0) -> dict[str, int]:
        """Settings as the hardware has them."""
        words = [int(said[1]) for said in self.command("registers", port)]
        return dict(zip(REGISTERS, words, strict=True))
