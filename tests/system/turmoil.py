"""Whatever a user may do to a board, at random and at once, and the way back to order."""

from __future__ import annotations

import random

import soak
from system_builds import READY
from terminal_frames import PEER_PORT, introduction, udp_frame

from tierv.sim import lin
from tierv.sim.experiments.frames import (
    ECHO_PORT,
    FAST_ECHO_PORT,
    FCS_BYTES,
    SINK_PORT,
    wire_cycles,
)
from tierv.sim.host import protocol
from tierv.sim.host.commands import COMMAND_PORT
from tierv.sim.host.lin import ALL_PORTS, HOST_PORT, Record, Request, encode
from tierv.sim.host.protocol import Command, Control, Item, Purge
from tierv.sim.model import SIMULATION_BAUD
from tierv.sim.stimulus import Frame, Parity, UartBreak, UartBytes, UartFormat

_SOURCE_PORT = 19
#: Addresses of those who talk to the board, and one that nobody has.
PEERS = {f"192.168.1.{100 + number}": f"02:00:00:00:00:{number + 1:02x}" for number in range(3)}
_ABSENT = "192.168.1.200"
#: Commands name one more.
SERIAL_PORTS = soak.BOARD.uarts
_CONSOLE = -1
_CLOCK_HZ = soak.BOARD.sys_clk_hz
USUAL_FORM = UartFormat(SIMULATION_BAUD)
_LIN_FORM = UartFormat(19_200)
_BAUDS = (9_600, 115_200, 921_600, SIMULATION_BAUD)
#: Longest pauses between two deeds, one of which is chosen for each.
_PAUSES = (200, 1_000, 5_000, 20_000)
#: Serial lines are booked so far ahead.
_AHEAD_CYCLES = 1_500_000
#: Between the commands that restore order: the slowest character may still be going out.
_CALM_CYCLES = 150_000
#: The application prints two histograms.
_LONG_ANSWER_CYCLES = 3_000_000
_LINES = ("ethmac", "console", "timer0", *(f"uart{port}" for port in range(SERIAL_PORTS)))
_COMMANDS = (
    "irqtune", "irqtune --suggest", "irqtune --suggest --apply", "irqtune -o", "irqtune -c",
    "irqtune 3 12", "irqtune -n 3", "serial", "counters", "help", "help lin", "join 239.1.2.3",
    "leave 239.1.2.3", "nonsense", "x" * 300, "latency start take interval 1000 spread 10",
    "latency start test interval 500", "latency stop", "latency show",
)  # fmt: skip
_LIN_COMMANDS = (
    "on 19200", "on 20000 commander", "on 9600", "off", "publish 1 2", "publish 0x21 8 error=0",
    "publish 0x41 9", "subscribe 2 4", "subscribe 0x3c 8", "remove 1", "remove 0x21", "set 1 0102",
    "set 0x21 0102030405060708", "get 2", "schedule 1:5 2:5", "schedule", "header 1", "header 0x21",
    "sleep", "wake", "",
)  # fmt: skip
#: Values of settings, good and bad.
_SETTINGS = {
    Command.SET_BAUDRATE: [rate.to_bytes(4, "big") for rate in (*_BAUDS, 0, 50_000_000)],
    Command.SET_DATASIZE: [bytes([bits]) for bits in range(4, 10)],
    Command.SET_PARITY: [bytes([parity]) for parity in range(7)],
    Command.SET_STOPSIZE: [bytes([size]) for size in range(5)],
    Command.SET_CONTROL: [bytes([value]) for value in range(14)],
    Command.SET_LINESTATE_MASK: [b"\0", b"\xff"],
    Command.SET_MODEMSTATE_MASK: [b"\0", b"\xff"],
    Command.PURGE_DATA: [bytes([which]) for which in range(5)],
    Command.PACK_TIME: [us.to_bytes(4, "big") for us in (0, 100, 5_000, 1_000_000)],
    Command.PACK_IDLE: [us.to_bytes(4, "big") for us in (0, 10, 100, 5_000)],
    Command.PACK_LENGTH: [length.to_bytes(2, "big") for length in (0, 1, 10, 1_472, 2_000)],
    Command.PACK_DELIMITER: [b"\0", b"\1\n", b"\2\r\n", b"\3abc"],
    Command.PEER: [
        protocol.peer(bytes(map(int, address.split("."))), port).value
        for address in ("0.0.0.0", *PEERS, _ABSENT, "10.0.0.1")
        for port in (0, PEER_PORT)
    ],
}


class Turmoil:
    """Frames and serial characters of ``cycles`` cycles; the same for the same seed.

    Lines move among the tiers from the protocol's up to ``tiers`` less one.
    """

    def __init__(self, seed: int, cycles: int, tiers: int) -> None:
        self._random = random.Random(seed)
        self._mix = soak.Mix(seed)
        self._tiers = tiers
        self._commands = 0
        self.frames: list[Frame] = []
        self.uart: list[UartBytes | UartBreak] = []
        self.cycle = READY
        self._wire_free = self.cycle
        for address, mac in PEERS.items():
            self.send(introduction(address, mac))
        self.cycle += _CALM_CYCLES
        #: When each serial line is free again.
        self._free = dict.fromkeys((*range(SERIAL_PORTS), _CONSOLE), self.cycle)
        deeds = {
            self._command: 6, self._settings: 6, self._data: 8, self._characters: 8, self._break: 2,
            self._echoes: 10, self._any_frame: 6, self._lin_requests: 3, self._lin_frame: 4,
            self._source: 1, self._flood: 1, self._typing: 2,
        }  # fmt: skip
        end = self.cycle + cycles
        while self.cycle < end:
            self.cycle += self._random.randint(1, self._random.choice(_PAUSES))
            (deed,) = self._random.choices(list(deeds), deeds.values())
            deed()
        self.cycle = max(self.cycle, self._wire_free, *self._free.values())
        self._restore_order()

    def send(self, data: bytes) -> None:
        """A frame, now, or when those before it are over."""
        self._add(Frame(data, self.cycle))

    def _add(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._wire_free = max(self._wire_free, frame.cycle)
        self._wire_free += round(wire_cycles(max(64, len(frame.data) + FCS_BYTES), _CLOCK_HZ))

    def udp(self, payload: bytes, port: int, peer: str) -> None:
        """A datagram to the board, now."""
        self.send(udp_frame(payload, port, PEER_PORT, peer, PEERS[peer]))

    def command(self, text: str, peer: str) -> None:
        """A command line, now."""
        self._commands += 1
        self.udp(f"{self._commands} {text}".encode(), COMMAND_PORT, peer)

    def settings(self, port: int, items: list[Item], peer: str) -> None:
        """Commands for the terminal server, now."""
        self.udp(protocol.encode(port, 1, items), protocol.CONTROL_PORT, peer)

    def _peer(self) -> str:
        return self._random.choice(list(PEERS))

    def _bytes(self, *lengths: int) -> bytes:
        return self._random.randbytes(self._random.choice(lengths))

    def _line(self) -> str:
        choose = self._random.choice
        return choose(
            (self._move(), f"lin {choose(range(5))} {choose(_LIN_COMMANDS)}", choose(_COMMANDS))
        )

    def _command(self) -> None:
        self.command(self._line(), self._peer())

    def _move(self) -> str:
        tier, priority = self._random.randint(1, self._tiers - 1), self._random.randrange(16)
        owner = self._random.choice((f"tier{tier}", f"tier{tier}:{priority}", f"{priority}"))
        return f"irqtune {self._random.choice(_LINES)}={owner}"

    def _typing(self) -> None:
        """On the console: lines that are commands, and others."""
        text = self._random.choice((self._line().encode(), self._bytes(1, 20, 200)))
        text += self._random.choice((b"\r", b"\r\n", b"\x03", b""))
        booked = self._book_port(_CONSOLE, lin.CHARACTER_BITS * len(text), USUAL_FORM)
        if booked:
            self.uart.append(UartBytes(0, text, booked[1]))

    def _settings(self) -> None:
        codes = self._random.choices(list(Command), k=self._random.randint(1, 4))
        items = [Item(code, self._random.choice(_SETTINGS.get(code, [b""]))) for code in codes]
        self.settings(self._random.randrange(SERIAL_PORTS + 1), items, self._peer())

    def _data(self) -> None:
        port = protocol.DATA_PORT + self._random.randrange(SERIAL_PORTS)
        self.udp(self._bytes(1, 5, 30, 200, protocol.MAX_DATA_BYTES), port, self._peer())

    def _book(self, bits: float, form: UartFormat) -> tuple[int, int] | None:
        """A serial line and when it is free, for so many bits; None if that takes too long."""
        return self._book_port(self._random.randrange(SERIAL_PORTS), bits, form)

    def _book_port(self, port: int, bits: float, form: UartFormat) -> tuple[int, int] | None:
        begin = max(self.cycle, self._free[port])
        end = begin + round((bits + 1) * _CLOCK_HZ / form.baud)
        if end > self.cycle + _AHEAD_CYCLES:
            return None
        self._free[port] = end
        return port, begin

    def _form(self) -> UartFormat:
        choose = self._random.choice
        return UartFormat(
            choose(_BAUDS), choose((7, 8, 8)), choose((*Parity, Parity.NONE)), choose((1, 2))
        )

    def _characters(self) -> None:
        form = self._form()
        data = [byte % (1 << form.data_bits) for byte in self._bytes(1, 3, 20, 200)]
        booked = self._book(12 * len(data), form)
        if booked:
            port, begin = booked
            bad = self._random.random() < 0.05
            self.uart.append(UartBytes(1 + port, data, begin, form, framing_error=bad))

    def _break(self) -> None:
        form, bits = self._form(), self._random.randint(1, 31)
        booked = self._book(bits, form)
        if booked:
            port, begin = booked
            self.uart.append(UartBreak(1 + port, begin, bits, form))

    def _lin_frame(self) -> None:
        """A header, for whoever is there to answer, or a whole frame."""
        identifier, data = self._random.choice((1, 2, 0x21, 0x3C)), self._bytes(2, 4, 8)
        room = lin.HEADER_BITS + lin.MOST_TIMES * lin.CHARACTER_BITS * 9
        booked = self._book(room, _LIN_FORM)
        if booked:
            port, begin = booked
            header = lin.header(1 + port, identifier, begin, _LIN_FORM)
            whole = lin.frame(1 + port, identifier, data, begin, _LIN_FORM)
            self.uart += self._random.choice((header, whole))

    def _lin_requests(self) -> None:
        choose = self._random.choice
        records = [
            Record(
                choose(list(Request)), choose((*range(SERIAL_PORTS + 1), ALL_PORTS)),
                choose((1, 2, 0x21)), self._bytes(0, 2, 4, 8), choose((0, 5, 10)),
            )
            for _ in range(self._random.randint(1, 5))
        ]  # fmt: skip
        self.udp(encode(records), HOST_PORT, self._peer())

    def _echoes(self) -> None:
        for _ in range(self._random.randint(1, 8)):
            port = self._random.choice((ECHO_PORT, ECHO_PORT, FAST_ECHO_PORT, SINK_PORT))
            self.udp(self._bytes(18, 100, 600, 1_472), port, self._peer())

    def _any_frame(self) -> None:
        frame = self._random.choice(self._mix.kinds)()
        self._add(Frame(frame.data, self.cycle, frame.flags, preamble_bytes=frame.preamble_bytes))

    def _source(self) -> None:
        count, length = self._random.choice((1, 5, 40)), self._random.choice((1, 100, 1_472))
        self.udp(f"{count} {length}".encode(), _SOURCE_PORT, self._peer())

    def _flood(self) -> None:
        ports = (
            ECHO_PORT,
            SINK_PORT,
            FAST_ECHO_PORT,
            soak.NOBODY,
            protocol.CONTROL_PORT,
            COMMAND_PORT,
        )
        port, peer, payload = self._random.choice(ports), self._peer(), self._bytes(18)
        for _ in range(self._random.choice((50, 300))):
            self.udp(payload, port, peer)
            self.cycle += round(wire_cycles(64, _CLOCK_HZ))

    def _restore_order(self) -> None:
        """Everything is as after reset, and the first peer gets what serial ports receive."""
        peer = next(iter(PEERS))
        self.cycle += _LONG_ANSWER_CYCLES
        commands = ["irqtune -o", "latency stop", "leave 239.1.2.3"]
        commands += [f"lin {port} off" for port in range(SERIAL_PORTS)]
        for text in commands:
            self.cycle += _CALM_CYCLES
            self.command(text, peer)
        number = protocol.number
        settings = [
            number(Command.SET_CONTROL, Control.BREAK_OFF),
            number(Command.SET_CONTROL, Control.FLOW_NONE),
            number(Command.SET_BAUDRATE, SIMULATION_BAUD),
            number(Command.SET_DATASIZE, 8),
            number(Command.SET_PARITY, protocol.Parity.NONE),
            number(Command.SET_STOPSIZE, 1),
            number(Command.SET_LINESTATE_MASK, 0),
            number(Command.SET_MODEMSTATE_MASK, 0),
            number(Command.PACK_TIME, 1_000),
            number(Command.PACK_IDLE, 0),
            number(Command.PACK_LENGTH, protocol.MAX_DATA_BYTES),
            protocol.delimiter(b""),
            number(Command.PURGE_DATA, Purge.RECEIVED | Purge.TRANSMIT),
            Item(Command.FLOWCONTROL_RESUME),
            protocol.peer(bytes(4), PEER_PORT),
        ]
        for port in range(SERIAL_PORTS):
            self.cycle += _CALM_CYCLES
            self.settings(port, settings, peer)
        self.cycle += _CALM_CYCLES
