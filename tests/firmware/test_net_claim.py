"""Announcing an address and defending it (RFC 5227). DHCP needs probing: it is tested there."""

from __future__ import annotations

import pytest
from net_frames import ALL_MAC, PEER, PEER_MAC, arp_request
from net_host import ADDRESS, ANNOUNCING_S, MAC, NetHost, config
from scapy.layers.l2 import ARP, Ether

DEFEND_INTERVAL_S = 10
CONFLICT = {"ARP_DROP_CONFLICT": 1}
DEFENDED = CONFLICT | {"ARP_ANNOUNCED": 1, "ARP_DEFENDED": 1}


def announcement(address: str) -> bytes:
    """What scapy would send: a request of the address for itself."""
    content = ARP(op=1, hwsrc=MAC, psrc=address, hwdst="00:00:00:00:00:00", pdst=address)
    return bytes(Ether(dst=ALL_MAC, src=MAC) / content).ljust(60, b"\0")


def test_new_address_is_announced_twice_two_seconds_apart(net: NetHost) -> None:
    net.command("configure 10.0.0.7 255.255.255.0 0.0.0.0")
    sent = [net.tick().sent for _ in range(8)]
    assert sent == [[announcement("10.0.0.7")], [], [announcement("10.0.0.7")], *[[]] * 5]


def test_no_address_is_not_announced(net: NetHost) -> None:
    net.command("configure 0.0.0.0 0.0.0.0 0.0.0.0")
    assert all(net.tick().sent == [] for _ in range(ANNOUNCING_S))


def test_announcement_waits_for_a_packet(net: NetHost) -> None:
    net.bind(0, 4000, "queue")
    net.stall()
    net.command("configure 10.0.0.7 255.255.255.0 0.0.0.0")
    assert net.tick().counted == {"ARP_NO_PACKET": 1}
    net.command("stall 0")
    assert net.tick().sent == [announcement("10.0.0.7")]


@pytest.mark.parametrize(
    "conflict",
    [
        arp_request(psrc=ADDRESS, pdst=PEER),
        arp_request(psrc=ADDRESS, pdst=ADDRESS),
        arp_request(op=2, psrc=ADDRESS, hwdst=MAC, pdst=ADDRESS, to=MAC),
        arp_request(op=2, psrc=ADDRESS, pdst=PEER),
    ],
    ids=["request", "announcement", "reply to us", "reply to another"],
)
def test_conflict_is_answered_by_an_announcement(net: NetHost, conflict: bytes) -> None:
    answer = net.receive(conflict)
    assert answer.counted == DEFENDED
    assert answer.sent == [announcement(ADDRESS)]


def test_address_is_defended_at_the_most_every_ten_seconds_and_kept(net: NetHost) -> None:
    conflict = arp_request(psrc=ADDRESS, pdst=PEER)
    assert net.receive(conflict).counted == DEFENDED
    # The first second may be over at once.
    for _ in range(DEFEND_INTERVAL_S):
        net.tick()
        assert net.receive(conflict).counted == CONFLICT
    net.tick()
    assert net.receive(conflict).counted == DEFENDED
    assert net.receive(arp_request()).counted == {"ARP_ANSWERED": 1}


def test_probe_for_our_address_is_answered(net: NetHost) -> None:
    answer = net.receive(arp_request(psrc="0.0.0.0"))
    assert answer.counted == {"ARP_ANSWERED": 1}
    assert Ether(answer.sent[0]).dst == PEER_MAC


def test_conflict_does_not_teach_the_table(net: NetHost) -> None:
    net.receive(arp_request(psrc=ADDRESS, pdst=PEER))
    for index in range(config("ARP_ENTRIES")):
        asked = arp_request(psrc=f"10.0.0.{100 + index}", hwsrc=f"02:00:00:00:01:{index:02x}")
        assert net.receive(asked).counted == {"ARP_ANSWERED": 1}, "an entry was not free"


def test_an_address_that_could_not_be_defended_is_at_the_next_conflict(net: NetHost) -> None:
    net.bind(0, 4000, "queue")
    net.stall()
    conflict = arp_request(psrc=ADDRESS, pdst=PEER)
    assert net.receive(conflict).counted == CONFLICT | {"ARP_NO_PACKET": 1}
    net.command("stall 0")
    assert net.receive(conflict).counted == DEFENDED
