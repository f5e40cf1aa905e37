"""The stack whose hardware moves frames and completes UDP's checksum, or does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from checksums import check_checksums
from host_build import build_net_driver
from net_frames import ALL_MAC, PEER, PEER_MAC, arp_request, ethernet, udp
from net_host import ADDRESS, MAC, UDP_BAD_LENGTH, UDP_BAD_PACKET, UDP_OK, NetHost, config
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

SIZES = (0, 1, 2, 17, 18, 19, 20, 333, 1471, 1472)


@pytest.fixture(scope="module")
def summing_program() -> Path:
    """The stack as it is built for a driver that sums."""
    return build_net_driver("net_driver_sums", "NET_DRIVER_SUMS=1")


@pytest.fixture(params=["rings", "port", "summed by the stack"])
def net(
    summing_program: Path, net_program: Path, request: pytest.FixtureRequest
) -> Iterator[NetHost]:
    """A stack that knows PEER, with a queue socket 0 on port 4000."""
    host = NetHost(net_program if request.param == "summed by the stack" else summing_program)
    if request.param == "port":
        host.command("port 0")
    host.receive(arp_request())
    assert host.bind(0, 4000, "queue") == UDP_OK
    yield host
    host.check()
    host.close()


def frame_of(payload: bytes, *, padding: bytes = b"", ttl: int = 64) -> bytes:
    ip = IP(src=PEER, dst=ADDRESS, ttl=ttl) / UDP(sport=77, dport=4000)
    return (bytes(Ether(src=PEER_MAC, dst=MAC) / ip / payload) + padding).ljust(60, b"\0")


def headers(frame: bytes) -> tuple:
    """What a datagram's headers say, if its checksums are right."""
    packet = Ether(frame)
    check_checksums(packet)
    ip, datagram = packet[IP], packet[UDP]
    return packet.src, packet.dst, ip.src, ip.dst, datagram.sport, datagram.dport


def payload_of(frame: bytes) -> bytes:
    return frame[42 : 34 + Ether(frame)[UDP].len]


OUT = (MAC, PEER_MAC, ADDRESS, PEER, 4000, 77)


@pytest.mark.parametrize("ttl", [64, 3])
def test_an_application_s_reply_goes_back_with_a_right_checksum(net, ttl):
    for size in SIZES:
        net.receive(frame_of(bytes(size), ttl=ttl), exact=False)
        assert net.take(0) == (PEER, 77, bytes(size))
        payload = bytes((7 * index + size) & 255 for index in range(size))
        answer = net.send(0, payload, how="reply")
        assert answer.counted == {"UDP_SENT": 1}
        (sent,) = answer.sent
        assert (headers(sent), payload_of(sent)) == (OUT, payload)
        assert Ether(sent)[IP].ttl == 64
        assert len(sent) == max(60, 42 + size)


@pytest.mark.parametrize("size", [0, 10, 18, 40, 41, 1000])
def test_a_reply_of_another_length_has_headers_of_its_own(net, size):
    net.receive(frame_of(bytes(40)), exact=False)
    net.take(0)
    (sent,) = net.send(0, b"a" * size, how="reply").sent
    assert (headers(sent), payload_of(sent)) == (OUT, b"a" * size)
    assert not any(sent[42 + size :])


@pytest.mark.parametrize("size", [4, 18])
def test_what_followed_the_datagram_is_not_summed(net, size):
    net.receive(frame_of(bytes(size), padding=b"\xff" * 20), exact=False)
    net.take(0)
    (sent,) = net.send(0, b"b" * size, how="reply").sent
    assert (headers(sent), payload_of(sent)) == (OUT, b"b" * size)


def test_a_reply_to_a_broadcast_comes_from_our_address(net):
    frame = ethernet(
        0x0800, udp(bytes(30), dport=4000, sport=77, dst="255.255.255.255"), to=ALL_MAC
    )
    net.receive(frame, exact=False)
    net.take(0)
    (sent,) = net.send(0, bytes(30), how="reply").sent
    assert headers(sent) == OUT


def test_a_callback_s_reply_and_an_echo_are_right(net):
    net.bind(1, 4001, "reply")
    net.bind(2, 4002, "echo")
    for port in (4001, 4002):
        frame = ethernet(0x0800, udp(b"c" * 50, dport=port, sport=77))
        (sent,) = net.receive(frame, exact=False).sent
        assert headers(sent) == (*OUT[:4], port, 77)
        assert payload_of(sent) == b"c" * 50 + b"!" * (port == 4001)


@pytest.mark.parametrize("how", ["copy", "place"])
def test_datagrams_of_one_s_own_are_what_scapy_would_send(net, how):
    for size in SIZES:
        payload = bytes(3 * index & 255 for index in range(size))
        (sent,) = net.send(0, payload, PEER, 5000, how).sent
        want = Ether(src=MAC, dst=PEER_MAC) / IP(src=ADDRESS, dst=PEER, id=0, flags="DF")
        want /= UDP(sport=4000, dport=5000) / payload
        assert sent == bytes(want).ljust(60, b"\0")


def test_only_what_was_received_can_be_replied(net):
    assert net.send(0, b"x", how="reply").result == UDP_BAD_PACKET
    net.receive(frame_of(b"x"), exact=False)
    net.take(0)
    assert net.send(0, bytes(1473), how="reply").result == UDP_BAD_LENGTH


def test_frames_wait_in_order_while_the_port_takes_none(summing_program):
    host = NetHost(summing_program)
    host.command("port 0")
    host.bind(0, 4000, "echo")
    host.command("stall 1")
    for index in range(5):
        assert not host.receive(frame_of(bytes([index]) * 20), exact=False).sent
    sent = host.command("stall 0").sent + host.tick().sent
    echoes = [frame for frame in sent if Ether(frame).haslayer(UDP)]
    assert [frame[42] for frame in echoes] == list(range(5))
    host.check()
    host.close()


#: Places for received frames of a port, fewer than the application may hold.
PLACES = 4
EXCESS = config("NET_EXCESS_DROPS")


@pytest.fixture(params=[False, True], ids=["rings", "port"])
def flooded(summing_program: Path, request: pytest.FixtureRequest) -> Iterator[NetHost]:
    """A stack with queues on ports 4000 and 4002 and an echo on 4001; its port has few places."""
    host = NetHost(summing_program)
    host.receive(arp_request())
    for socket, mode in enumerate(("queue", "echo", "queue")):
        host.bind(socket, 4000 + socket, mode)
    host.command(f"port {PLACES}" if request.param else "free")
    yield host
    host.check()
    host.close()


def to_port(port: int) -> bytes:
    return ethernet(0x0800, udp(bytes(30), dport=port))


def hold(net: NetHost, count: int, port: int = 4000) -> None:
    """The application leaves so many datagrams where they are."""
    for _ in range(count):
        assert "UDP_QUEUED" in net.receive(to_port(port), exact=False).counted


def fill(net: NetHost, reason: str) -> None:
    """The application has no room left for datagrams to port 4000."""
    if reason == "UDP_DROP_HOLD":
        for index in range(config("NET_APPLICATION_HOLD")):
            hold(net, 1, 4000 + 2 * (index % 2))
    else:
        hold(net, config("UDP_SOCKET_SLOTS"))


def test_room_is_for_the_frames_that_others_send_on_again(flooded):
    where = flooded.audit()
    for _ in range(3 * PLACES):
        assert flooded.receive(to_port(4001), exact=False).sent
    assert flooded.audit() == where
    assert where["wants"] == 0


def test_a_port_whose_room_the_application_holds_gets_what_else_is_free(summing_program):
    host = NetHost(summing_program)
    host.bind(0, 4000, "queue")
    host.command(f"port {PLACES}")
    free = host.audit()["free"]
    hold(host, PLACES - 1)
    assert (host.audit()["room"], host.audit()["free"]) == (1, free)
    hold(host, 1)
    assert (host.audit()["room"], host.audit()["free"]) == (PLACES, free - PLACES)
    host.check()
    host.close()


@pytest.mark.parametrize("reason", ["UDP_DROP_HOLD", "UDP_DROP_SOCKET_FULL"])
def test_packets_of_many_datagrams_that_are_dropped_are_out_of_use_for_a_while(flooded, reason):
    fill(flooded, reason)
    where = flooded.audit()
    assert where["wants"] == 0
    left = where["room"] + where["free"]
    for _ in range(2):
        for _ in range(EXCESS):
            assert flooded.receive(to_port(4000), exact=False).counted == {reason: 1}
        where = flooded.audit()
        assert (where["parked"], where["wants"], where["room"] + where["free"]) == (0, 1, left)
        for parked in range(1, left + 1):
            assert flooded.receive(to_port(4000), exact=False).counted == {reason: 1}
            assert flooded.audit()["parked"] == parked
        assert flooded.command("frame plain full 00").words("starved") is not None
        flooded.command("free")
        assert flooded.audit()["parked"] == flooded.audit()["wants"] == 0
        assert flooded.receive(to_port(4001), exact=False).sent


def test_there_is_no_such_limit_for_who_does_not_say_how_long(summing_program):
    host = NetHost(summing_program)
    host.bind(0, 4000, "queue")
    hold(host, config("UDP_SOCKET_SLOTS"))
    before = host.audit()
    for _ in range(3 * EXCESS):
        host.receive(to_port(4000), exact=False)
    assert host.audit() == before
    assert before["wants"] == 0
    host.check()
    host.close()
