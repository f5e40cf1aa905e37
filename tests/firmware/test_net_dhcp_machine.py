"""The DHCP client against servers that lose, delay, repeat and distort what they say.

Whatever happens, the interface has no address, the static one, or one that a server has granted to
it and whose time is not over; and every packet comes home.
"""

from __future__ import annotations

from dhcp_server import (
    FALLBACK,
    LEASED,
    MASK,
    OTHER_SERVER,
    SERVER,
    Client,
    Message,
    answer,
    messages,
)
from host_build import examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from net_frames import arp_request
from net_host import NetHost

ADDRESSES = (LEASED, "192.0.2.78", "198.51.100.3")
SERVERS = (SERVER, OTHER_SERVER)


class Dhcp(RuleBasedStateMachine):
    """Servers and a client; ``wire`` holds answers that have not arrived."""

    net: NetHost

    @initialize(seed=st.integers(1, 1 << 32))
    def begin(self, seed: int) -> None:
        self.net.reset()
        self.net.command(f"stir {seed & 0xFFFFFFFF}")
        self.client = Client(self.net)
        self.asked: list[int] = []
        self.wire: list[tuple[bytes, str, str, int]] = []
        self.ends: dict[str, int] = {}
        self.net.command("dhcp start")

    def listen(self, frames: list[bytes]) -> None:
        self.listen_to(messages(frames))

    def listen_to(self, said: list[Message]) -> None:
        self.asked += [message.bootp.xid for message in said]

    def arrive(self, frame: bytes, kind: str, address: str, granted: int) -> list[Message]:
        """An answer reaches the client; what that says to it."""
        reply = self.net.receive(frame)
        if "DHCP_ACKNOWLEDGED" in reply.counted:
            assert kind == "ack"
            assert granted > 0
            self.ends[address] = self.client.now + granted
        said = messages(reply.sent)
        self.listen_to(said)
        self.check_address()
        return said

    @rule(on=st.booleans())
    def switch(self, on: bool) -> None:
        self.listen(self.net.command(f"dhcp {'start' if on else 'stop'}").sent)

    @rule(address=st.sampled_from(ADDRESSES), lease_s=st.sampled_from([8, 60, 200, 900]))
    def serve(self, address: str, lease_s: int) -> None:
        """A server does what it should, for up to a minute and a half."""
        for _ in range(90):
            state = self.client.state
            if state not in ("waiting", "selecting", "requesting", "renewing", "rebinding"):
                break
            said = messages(self.client.tick())
            self.listen_to(said)
            if said and said[0].kind in (1, 3):
                self.answer_to(said[0], address, lease_s)
            self.check_address()

    def answer_to(self, message: Message, address: str, lease_s: int) -> None:
        """The right answer to a DISCOVER or REQUEST, and to what that brings about."""
        requested = message.options.get("requested_addr", message.bootp.ciaddr)
        server = message.options.get("server_id", SERVER)
        kind = "ack" if message.kind == 3 else "offer"
        yours = requested if kind == "ack" else address
        changes = {"server_id": server, "lease_time": lease_s, "router": None}
        frame = answer(kind, message.bootp.xid, bootp={"yiaddr": yours}, **changes)
        for following in self.arrive(frame, kind, yours, lease_s):
            self.answer_to(following, address, lease_s)

    @rule(seconds=st.sampled_from([1, 1, 5, 12, 40, 70]))
    def wait(self, seconds: int) -> None:
        for _ in range(seconds):
            self.listen(self.client.tick())
            self.check_address()

    @precondition(lambda self: self.asked)
    @rule(
        kind=st.sampled_from(["offer", "offer", "ack", "ack", "nak"]),
        back=st.integers(1, 3),
        server=st.sampled_from(SERVERS),
        address=st.sampled_from(ADDRESSES),
        lease_s=st.sampled_from([1, 8, 60, 200, 900]),
        wrong=st.sampled_from([{}, {}, {}, {"lease_time": None}, {"subnet_mask": "1.2.3.4"}]),
    )
    def say(
        self, kind: str, back: int, server: str, address: str, lease_s: int, wrong: dict[str, str]
    ) -> None:
        """A server answers one of the last questions, perhaps too late or wrongly."""
        xid = self.asked[-min(back, len(self.asked))]
        changes = {"server_id": server, "lease_time": lease_s, "router": None} | wrong
        if kind == "nak":
            changes = {"server_id": server}
        frame = answer(kind, xid, bootp={"yiaddr": address}, **changes)
        granted = lease_s if not wrong else 0
        self.wire.append((frame, kind, address, granted))

    @precondition(lambda self: self.wire)
    @rule(place=st.integers(0, 3), keep=st.booleans())
    def deliver(self, place: int, keep: bool) -> None:
        """One of the answers arrives, perhaps not for the last time."""
        place = min(place, len(self.wire) - 1)
        frame, kind, address, granted = self.wire[place]
        if not keep:
            del self.wire[place]
        self.arrive(frame, kind, address, granted)

    @precondition(lambda self: self.wire)
    @rule()
    def lose(self) -> None:
        self.wire.clear()

    @rule(address=st.sampled_from((*ADDRESSES, FALLBACK)), probe=st.booleans())
    def dispute(self, address: str, probe: bool) -> None:
        """Another host uses, or tries, an address."""
        sender = "0.0.0.0" if probe else address
        self.listen(self.net.receive(arp_request(psrc=sender, pdst=address)).sent)
        self.check_address()

    def check_address(self) -> None:
        address, mask, _ = self.client.addresses
        if address in ("0.0.0.0", FALLBACK):
            return
        assert address in ADDRESSES
        assert mask == MASK
        assert self.client.now < self.ends[address], "used beyond its end"

    @invariant()
    def off_means_static(self) -> None:
        if self.client.state == "off":
            assert self.client.addresses[0] == FALLBACK

    def teardown(self) -> None:
        self.net.check()


def test_client_uses_only_what_was_granted_whatever_servers_do(net_process: NetHost) -> None:
    Dhcp.net = net_process
    Dhcp.TestCase.settings = examples(60, steps=40)
    Dhcp.TestCase("runTest").runTest()
