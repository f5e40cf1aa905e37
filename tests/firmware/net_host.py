"""The stack in a host process: frames in, frames out, counters, and what must always hold."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from host_build import ROOT, Program, hex_bytes

MAC = "02:00:00:00:00:01"
ADDRESS = "10.0.0.1"
#: What the driver does with a frame: nothing, or it sums it, or the hardware finds datagrams too.
DRIVERS = ("plain", "summed", "checked")
NETMASK = "255.255.255.0"
GATEWAY = "10.0.0.254"


#: A new address has been announced after so many ticks.
ANNOUNCING_S = 3

#: udp_result_t
(
    UDP_OK,
    UDP_BAD_PORT,
    UDP_BAD_SOCKET,
    UDP_PORT_IN_USE,
    UDP_BAD_LENGTH,
    UDP_QUEUE_FULL,
    UDP_BAD_PACKET,
) = range(7)


def config(name: str) -> int:
    """A number from ``firmware/config.h``."""
    text = (ROOT / "firmware" / "config.h").read_text()
    match = re.search(rf"^#define {name} (\d+)$", text, re.MULTILINE)
    assert match, name
    return int(match[1])


@dataclass
class Answer:
    """What one command did."""

    #: Frames given to the driver.
    sent: list[bytes] = field(default_factory=list)
    #: Counters that rose, and by how much.
    counted: dict[str, int] = field(default_factory=dict)
    #: Everything else that was printed, split into words.
    lines: list[list[str]] = field(default_factory=list)

    def words(self, first: str) -> list[str] | None:
        """The rest of the line that begins with ``first``, or None."""
        return next((line[1:] for line in self.lines if line[0] == first), None)

    @property
    def result(self) -> int:
        """The udp_result_t."""
        words = self.words("result")
        assert words, self.lines
        return int(words[0])

    @property
    def for_application(self) -> bool:
        """Something was left for the application."""
        words = self.words("posts")
        assert words, self.lines
        return words[0] == "1"


class NetHost:
    """One stack with address ADDRESS. ``check()`` compares counters and packets with each other."""

    def __init__(self, program: Path) -> None:
        self._program = Program(program, end=".")
        self.reset()

    def reset(self, address: str = ADDRESS, netmask: str = NETMASK, gateway: str = GATEWAY) -> None:
        """Begins anew: no sockets, no neighbours, counters 0, the address announced."""
        self.frames = 0
        self.datagrams = 0
        self.command("reset")
        self.command(f"configure {address} {netmask} {gateway}")
        self.tick(ANNOUNCING_S)

    def command(self, line: str) -> Answer:
        """Runs one command of net_driver.c."""
        answer = Answer()
        for text in self._program.command(line):
            words = text.split()
            if words[0] == "transmit":
                answer.sent.append(bytes.fromhex(words[1]))
            elif words[0] == "counted":
                answer.counted[words[1]] = int(words[2])
            else:
                answer.lines.append(words)
        return answer

    def counters(self) -> dict[str, tuple[int, int]]:
        """Kind and value of each counter."""
        lines = self.command("counters").lines
        return {line[1]: (int(line[2]), int(line[3])) for line in lines if line[0] == "counter"}

    def receive(self, frame: bytes, *, driver: str = "plain", exact: bool = True) -> Answer:
        """A frame comes in by one of ``DRIVERS``. ``exact``: in memory of just its length."""
        self.frames += 1
        room = "exact" if exact else "full"
        answer = self.command(f"frame {driver} {room} {frame.hex() or '-'}")
        assert answer.words("starved") is None, "no free packet"
        return answer

    def bind(self, socket: int, port: int, mode: str) -> int:
        """Binds a socket; its udp_result_t."""
        return self.command(f"bind {socket} {port} {mode}").result

    def serve(self, socket: int, port: int, mode: str) -> int:
        """Binds a socket as a service; its udp_result_t."""
        return self.command(f"serve {socket} {port} {mode}").result

    def take(self, socket: int) -> tuple[str, int, bytes] | None:
        """The application takes a datagram: peer address, port, payload."""
        words = self.command(f"receive {socket}").words("datagram")
        if words is None:
            return None
        return words[0], int(words[1]), hex_bytes(words[3])

    def send(
        self,
        socket: int,
        payload: bytes,
        to: str = "connected",
        port: int = 0,
        how: str = "copy",
    ) -> Answer:
        """The application sends a datagram."""
        answer = self.command(f"send {socket} {how} {to} {port} {payload.hex() or '-'}")
        if answer.words("none") is None and answer.result == UDP_OK:
            self.datagrams += 1
        return answer

    def output(self, socket: int, to: str, port: int, size: int) -> Answer:
        """The protocol tier sends a datagram of ``size`` bytes."""
        answer = self.command(f"output {socket} {to} {port} {size}")
        assert answer.words("none") is None, "no spare packet"
        self.datagrams += 1
        return answer

    def stall(self) -> None:
        """Nothing leaves until ``stall 0``, and the stack has no packet of its own any more.

        Socket 0 must be bound.
        """
        self.command("stall 1")
        for _ in range(config("NET_PROTOCOL_PACKETS")):
            self.output(0, "255.255.255.255", 9, 1)

    def tick(self, seconds: int = 1) -> Answer:
        """Time passes; the answer is of the last second."""
        answer = Answer()
        for _ in range(seconds):
            answer = self.command("tick")
        return answer

    def audit(self) -> dict[str, int]:
        """How many packets are where."""
        return {line[0]: int(line[1]) for line in self.command("audit").lines}

    def check(self) -> None:
        """Every frame and datagram is counted once, and no packet is lost or doubled."""
        counters = self.counters()
        values = {name: value for name, (_, value) in counters.items()}
        sums = [sum(v for k, v in counters.values() if k == kind) for kind in range(4)]
        for line in self.command("counters").lines:
            if line[0] == "sum":
                assert sums[int(line[1])] == int(line[2]), "net_counter_sum() is wrong"
        where = self.audit()
        assert sums[0] == self.frames, "a frame must end in exactly one counter"
        assert sums[1] == self.datagrams + values["DHCP_SENT"], (
            "a datagram must end in exactly one counter"
        )
        assert values["UDP_SENT_LATER"] == sums[2] + where["waiting"]
        assert values["FAULT_RING_FULL"] == 0
        places = ("free", "spare", "supply", "inboxes", "taken", "kept", "waiting", "stalled")
        places += ("room", "parked")
        assert sum(where[place] for place in places) == where["all"]
        assert where["pending"] == 0

    def close(self) -> None:
        """Ends the process. Raises ``AssertionError`` if a sanitizer has something to say."""
        self._program.close()
