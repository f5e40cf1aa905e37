"""Replies: of callbacks and of the application, from which address, and who gets none."""

from __future__ import annotations

import pytest
from net_frames import ALL_MAC, PEER, PEER_MAC, datagram, ethernet, udp
from net_host import (
    ADDRESS,
    DRIVERS,
    MAC,
    UDP_BAD_PORT,
    UDP_BAD_SOCKET,
    UDP_OK,
    UDP_PORT_IN_USE,
    NetHost,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether


def test_callback_reply_carries_its_new_payload(net: NetHost) -> None:
    net.bind(0, 4000, "reply")
    for size in (0, 1, 2, 17, 18, 19, 500, 1471):
        payload = bytes(index & 255 for index in range(size))
        for driver in DRIVERS:
            frame = datagram(payload, sport=99)
            answer = net.receive(frame, driver=driver, exact=False)
            assert answer.counted == {"UDP_REPLIED": 1}
            want = Ether(src=MAC, dst=PEER_MAC) / IP(src=ADDRESS, dst=PEER, id=0, flags="DF")
            want /= UDP(sport=4000, dport=99) / (payload[::-1] + b"!")
            assert answer.sent == [bytes(want).ljust(60, b"\0")]


def test_callback_reply_to_a_broadcast_comes_from_our_address(net: NetHost) -> None:
    net.bind(0, 4000, "reply")
    frame = ethernet(0x0800, udp(b"who", dport=4000, dst="255.255.255.255"), to=ALL_MAC)
    (reply,) = net.receive(frame, exact=False).sent
    assert (Ether(reply)[IP].src, Ether(reply)[IP].dst) == (ADDRESS, PEER)


@pytest.mark.parametrize("how", ["reply", "rewrite"])
@pytest.mark.parametrize(
    ("dst", "mac"),
    [("10.0.0.255", ALL_MAC), ("239.1.2.3", "01:00:5e:01:02:03"), ("239.1.2.3", MAC)],
)
def test_reply_as_long_as_what_was_sent_to_many_comes_from_our_address(
    net: NetHost, dst: str, mac: str, how: str
) -> None:
    assert net.command("join 239.1.2.3").result == 1
    net.bind(0, 4000, "queue")
    asked = ethernet(0x0800, udp(b"sample??", dst=dst, sport=77, dport=4000), to=mac)
    for driver in DRIVERS:
        net.receive(asked, driver=driver, exact=False)
        assert net.take(0) == (PEER, 77, b"sample??")
        answer = net.send(0, b"answer!!", PEER, 77, how)
        want = Ether(src=MAC, dst=PEER_MAC) / IP(src=ADDRESS, dst=PEER, id=0, flags="DF")
        want /= UDP(sport=4000, dport=77) / b"answer!!"
        assert answer.sent == [bytes(want).ljust(60, b"\0")]


@pytest.mark.parametrize("how", ["reply", "rewrite"])
@pytest.mark.parametrize("driver", DRIVERS)
def test_reply_comes_from_the_address_that_we_have_by_then(
    net: NetHost, how: str, driver: str
) -> None:
    net.bind(0, 4000, "queue")
    net.receive(datagram(b"question", sport=77), driver=driver, exact=False)
    net.take(0)
    net.command("configure 10.0.0.3 255.255.255.0 0.0.0.0")
    (frame,) = net.send(0, b"answer!!", PEER, 77, how).sent
    want = Ether(src=MAC, dst=PEER_MAC) / IP(src="10.0.0.3", dst=PEER, id=0, flags="DF")
    want /= UDP(sport=4000, dport=77) / b"answer!!"
    assert frame == bytes(want).ljust(60, b"\0")


@pytest.mark.parametrize("how", ["over-long", "to port 0"])
def test_callback_reply_that_can_not_be_sent_is_counted(net: NetHost, how: str) -> None:
    net.bind(0, 4000, "reply")
    frame = datagram(bytes(1472)) if how == "over-long" else datagram(b"x", sport=0)
    answer = net.receive(frame, exact=False)
    assert answer.counted == {"UDP_DROP_REPLY": 1}
    assert answer.sent == []


def test_echo_of_a_broadcast_is_refused(net: NetHost) -> None:
    net.bind(0, 7, "echo")
    for to in (ALL_MAC, MAC):
        for dst in ("255.255.255.255", "10.0.0.255"):
            answer = net.receive(ethernet(0x0800, udp(b"x", dst=dst), to=to))
            assert answer.counted == {"UDP_DROP_REPLY": 1}
            assert answer.sent == []


#: Both bytes of a port count: each of the others shares one with a service.
SERVICES, OTHERS = (7, 19, 7000, 7107, 7200, 8191), (4711, 6919, 7108, 8, 8192, 40967, 59367)


@pytest.mark.parametrize("driver", DRIVERS)
def test_services_do_not_answer_services(net: NetHost, driver: str) -> None:
    kinds = {"echo": "ECHOED", "queue": "QUEUED", "reply": "REPLIED", "done": "TAKEN"}
    for kind, (mode, counter) in enumerate(kinds.items()):
        for socket, port in enumerate(SERVICES[kind::4]):
            assert net.serve(kind + 4 * socket, port, mode) == UDP_OK
        for port in SERVICES[kind::4]:
            frames = [datagram(b"x", port=port, sport=source) for source in OTHERS]
            answers = [net.receive(frame, driver=driver, exact=False) for frame in frames]
            assert all(answer.counted == {f"UDP_{counter}": 1} for answer in answers)
    for port in SERVICES:
        for source in SERVICES:
            answer = net.receive(datagram(b"x", port=port, sport=source), driver=driver)
            assert answer.counted == {"UDP_DROP_REPLY": 1}
            assert answer.sent == []


def test_other_sockets_and_services_that_are_closed_take_datagrams_of_any_port(
    net: NetHost,
) -> None:
    net.serve(0, 7, "echo")
    net.serve(1, 7107, "echo")
    net.bind(2, 4000, "echo")
    assert net.receive(datagram(b"x", sport=7)).counted == {"UDP_ECHOED": 1}
    assert net.receive(datagram(b"x", port=7, sport=4000)).counted == {"UDP_ECHOED": 1}
    assert net.receive(datagram(b"x", port=7, sport=7107)).counted == {"UDP_DROP_REPLY": 1}
    # What a high port shares with a service does not matter.
    net.bind(3, 7 + 0xA000, "done")
    net.command("close 3")
    assert net.receive(datagram(b"x", port=7107, sport=7)).counted == {"UDP_DROP_REPLY": 1}
    net.command("close 1")
    assert net.receive(datagram(b"x", port=7, sport=7107)).counted == {"UDP_ECHOED": 1}
    net.bind(1, 7107, "echo")
    assert net.receive(datagram(b"x", port=7107, sport=7)).counted == {"UDP_ECHOED": 1}


def test_services_have_low_ports(net: NetHost) -> None:
    assert net.serve(0, 8192, "echo") == UDP_BAD_PORT
    assert net.serve(0, 0, "echo") == UDP_BAD_PORT
    assert net.serve(0, 8191, "echo") == UDP_OK
    assert net.serve(1, 8191, "echo") == UDP_PORT_IN_USE
    assert net.serve(0, 7, "again") == UDP_BAD_SOCKET
    # What was refused is no service.
    assert net.receive(datagram(b"x", port=8191, sport=7)).counted == {"UDP_ECHOED": 1}
