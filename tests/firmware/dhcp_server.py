"""A DHCP server made of scapy: what it says to the client's messages, and how to say it wrongly."""

from __future__ import annotations

from typing import Any

from checksums import check_checksums
from net_frames import ALL_MAC, PEER_MAC, arp_request
from net_host import MAC, NetHost, config
from scapy.layers.dhcp import BOOTP, DHCP
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether

SERVER = "192.0.2.1"
OTHER_SERVER = "192.0.2.2"
LEASED = "192.0.2.77"
MASK = "255.255.255.0"
ROUTER = "192.0.2.254"
FALLBACK = "10.0.0.1"
LEASE_S = 1000
#: The options that the client asks for.
PARAMETERS = [1, 3, 51, 58, 59]
#: Boards that were switched on together ask within so many seconds.
SPREAD_S = config("DHCP_SPREAD_S")
MAC_BYTES = bytes.fromhex(MAC.replace(":", ""))


class Message:
    """A client's message, as scapy reads it."""

    def __init__(self, frame: bytes) -> None:
        self.packet = Ether(frame)
        self.bootp = self.packet[BOOTP]
        self.options: dict[str, Any] = {
            option[0]: option[1] if len(option) == 2 else option[1:]
            for option in self.packet[DHCP].options
            if isinstance(option, tuple)
        }

    @property
    def kind(self) -> int:
        """1 DISCOVER, 3 REQUEST, 4 DECLINE, 7 RELEASE."""
        return self.options["message-type"]


def messages(frames: list[bytes]) -> list[Message]:
    """The client's messages among frames."""
    return [Message(frame) for frame in frames if BOOTP in Ether(frame)]


def expect_fields(message: Message, *, src: str, dst: str, ciaddr: str = "0.0.0.0") -> None:
    """What all messages have in common, and where they go."""
    packet, bootp = message.packet, message.bootp
    assert (packet[UDP].sport, packet[UDP].dport) == (68, 67)
    assert (packet[IP].src, packet[IP].dst) == (src, dst)
    assert (bootp.op, bootp.htype, bootp.hlen, bootp.hops) == (1, 1, 6, 0)
    assert bootp.chaddr == MAC_BYTES + bytes(10)
    assert bootp.ciaddr == ciaddr
    assert (bootp.yiaddr, bootp.siaddr, bootp.giaddr) == ("0.0.0.0",) * 3
    asks = message.kind in (1, 3)
    assert int(bootp.flags) == (0x8000 if asks and ciaddr == "0.0.0.0" else 0)
    assert asks or bootp.secs == 0
    assert len(bytes(packet[UDP].payload)) >= 300
    if dst == "255.255.255.255":
        assert packet.dst == ALL_MAC
    check_checksums(packet)


def options(kind: str, **changes: Any) -> list[Any]:
    """The options of an answer; a change to None leaves one out."""
    values: dict[str, Any] = {
        "message-type": kind,
        "server_id": SERVER,
        "lease_time": LEASE_S,
        "subnet_mask": MASK,
        "router": ROUTER,
    }
    if kind == "nak":
        values = {name: values[name] for name in ("message-type", "server_id")}
    values |= changes
    return [(name, value) for name, value in values.items() if value is not None] + ["end"]


def answer(
    kind: str,
    xid: int,
    *,
    bootp: dict[str, Any] | None = None,
    raw_options: bytes | None = None,
    sport: int = 67,
    src: str = SERVER,
    dst: str = "255.255.255.255",
    **changes: Any,
) -> bytes:
    """A server's frame. ``bootp`` changes fixed fields, ``raw_options`` are put behind the cookie
    as they are, ``changes`` are of options."""
    fields = {"op": 2, "xid": xid, "chaddr": MAC_BYTES, "yiaddr": LEASED} | (bootp or {})
    if kind == "nak":
        fields["yiaddr"] = "0.0.0.0"
    content = BOOTP(**{"options": b"c\x82Sc"} | fields)
    content /= raw_options if raw_options is not None else DHCP(options=options(kind, **changes))
    to = ALL_MAC if dst == "255.255.255.255" else MAC
    packet = Ether(dst=to, src=PEER_MAC) / IP(src=src, dst=dst) / UDP(sport=sport, dport=68)
    return bytes(packet / content)


class Client:
    """The client in the stack, and a clock of seconds."""

    def __init__(self, net: NetHost) -> None:
        self.net = net
        self.now = 0
        assert net.command(f"dhcp init {FALLBACK} 255.255.255.0 10.0.0.254").result == 1

    @property
    def state(self) -> str:
        """As ``ifconfig`` shows it."""
        words = self.net.command("dhcp show").words("dhcp")
        assert words
        return words[0]

    @property
    def remaining_s(self) -> int:
        """Of the lease."""
        words = self.net.command("dhcp show").words("dhcp")
        assert words
        return int(words[1])

    @property
    def addresses(self) -> tuple[str, ...]:
        """Address, netmask, gateway of the interface."""
        return tuple(line[1] for line in self.net.command("address").lines if line[0] == "address")

    def tick(self) -> list[bytes]:
        """A second passes; the frames sent, and those sent when servers have answered by ARP."""
        self.now += 1
        sent = self.net.tick().sent
        return sent + [frame for request in sent for frame in self._resolve(Ether(request))]

    def _resolve(self, request: Ether) -> list[bytes]:
        if ARP not in request or request[ARP].pdst not in (SERVER, OTHER_SERVER):
            return []
        reply = arp_request(op=2, psrc=request[ARP].pdst, hwdst=MAC, pdst=request[ARP].psrc, to=MAC)
        return self.net.receive(reply).sent

    def until_message(self, limit_s: int = 100_000) -> Message:
        """Seconds pass until the client says something."""
        for _ in range(limit_s):
            said = messages(self.tick())
            if said:
                (message,) = said
                return message
        raise AssertionError(f"nothing was said within {limit_s} seconds")

    def discover(self) -> Message:
        """Switches the client on and waits for its first message."""
        self.net.command("dhcp start")
        message = self.until_message(10)
        assert (self.state, message.kind) == ("selecting", 1)
        return message

    def request(self) -> Message:
        """Goes on to the REQUEST for an offer."""
        xid = self.discover().bootp.xid
        (message,) = messages(self.net.receive(answer("offer", xid)).sent)
        assert (self.state, message.kind) == ("requesting", 3)
        return message

    def bind(self, **changes: Any) -> None:
        """Goes on until the lease is in use."""
        xid = self.request().bootp.xid
        reply = self.net.receive(answer("ack", xid, **changes))
        assert reply.counted == {"UDP_TAKEN": 1, "DHCP_ACKNOWLEDGED": 1}
        for _ in range(5):
            assert self.state == "probing"
            self.tick()
        assert self.state == "bound"
        assert self.addresses[0] == LEASED
