"""Packets come home: the whole interface driven at random, with the books checked afterwards."""

from __future__ import annotations

from host_build import examples
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from net_frames import PEER_MAC, arp_request, ethernet, udp
from net_host import NetHost, config


class PacketsComeHome(RuleBasedStateMachine):
    """Any order of receiving, taking, sending, failing and waiting loses no packet."""

    net: NetHost

    @initialize()
    def begin(self) -> None:
        self.net.reset()
        for socket, mode in enumerate(("queue", "queue", "echo", "reply", "keep")):
            self.net.bind(socket, 4000 + socket, mode)
        self.taken = self.kept = 0

    @rule(port=st.integers(4000, 4005), size=st.sampled_from([0, 18, 1472]))
    def receive(self, port: int, size: int) -> None:
        if self.net.audit()["free"] > 1:
            answer = self.net.receive(ethernet(0x0800, udp(bytes(size), dport=port)), exact=False)
            self.kept += "UDP_TAKEN" in answer.counted

    @rule(socket=st.integers(0, 1))
    def take(self, socket: int) -> None:
        self.taken += self.net.take(socket) is not None

    @precondition(lambda self: self.taken)
    @rule()
    def release(self) -> None:
        self.net.command("release")
        self.taken -= 1

    @precondition(lambda self: self.taken)
    @rule(host=st.integers(2, 12))
    def reuse(self, host: int) -> None:
        self.net.send(0, b"again", f"10.0.0.{host}", 9, "reuse")
        self.taken -= 1

    @rule(host=st.integers(2, 12), size=st.sampled_from([0, 1472, 1473]))
    def send(self, host: int, size: int) -> None:
        self.net.send(1, bytes(size), f"10.0.0.{host}", 9)

    @precondition(lambda self: self.kept)
    @rule()
    def unkeep(self) -> None:
        self.net.command("unkeep")
        self.kept -= 1

    @rule(host=st.integers(2, 12), op=st.integers(1, 2))
    def arp(self, host: int, op: int) -> None:
        if self.net.audit()["free"]:
            self.net.receive(arp_request(op=op, psrc=f"10.0.0.{host}", hwsrc=PEER_MAC))

    @rule(on=st.booleans())
    def stall(self, on: bool) -> None:
        self.net.command(f"stall {int(on)}")

    @rule(seconds=st.sampled_from([1, 3, 70]))
    def tick(self, seconds: int) -> None:
        self.net.tick(seconds)

    def teardown(self) -> None:
        self.net.check()


def test_packets_come_home_whatever_happens(net_process: NetHost) -> None:
    PacketsComeHome.net = net_process
    PacketsComeHome.TestCase.settings = examples(100, steps=60)
    PacketsComeHome.TestCase("runTest").runTest()


def test_packet_handed_over_twice_too_often_is_counted_and_overwrites_nothing(
    net_process: NetHost,
) -> None:
    net_process.reset()
    free = net_process.audit()["free"]
    slots = config("NET_RING_SLOTS")
    answer = net_process.command("overfill")
    assert answer.counted == {"FAULT_RING_FULL": (slots + 1 - (slots - free)) + 1}
    assert net_process.audit()["free"] == slots
    net_process.reset()
