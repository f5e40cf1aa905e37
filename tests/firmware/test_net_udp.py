"""Sockets: ports, peers, queues, callbacks, sending, and packets that always come home."""

from __future__ import annotations

import pytest
from checksums import check_checksums
from net_frames import ALL_MAC, PEER, PEER_MAC, arp_request, datagram, ethernet, icmp_echo, udp
from net_host import (
    ADDRESS,
    ANNOUNCING_S,
    DRIVERS,
    MAC,
    UDP_BAD_LENGTH,
    UDP_BAD_PORT,
    UDP_BAD_SOCKET,
    UDP_OK,
    UDP_PORT_IN_USE,
    NetHost,
    config,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

SLOTS = config("UDP_SOCKET_SLOTS")
HOLD = config("NET_APPLICATION_HOLD")
BUCKETS = config("UDP_BUCKETS")
RECEIVE_PACKETS = config("NET_RECEIVE_PACKETS")
APPLICATION_PACKETS = config("NET_APPLICATION_PACKETS")


@pytest.fixture
def known(net: NetHost) -> NetHost:
    """A stack that knows PEER and has a queue socket 0 on port 4000."""
    net.receive(arp_request())
    assert net.bind(0, 4000, "queue") == UDP_OK
    return net


def test_queued_datagram_reaches_the_application(known: NetHost) -> None:
    answer = known.receive(datagram(b"hello", sport=1234))
    assert answer.counted == {"UDP_QUEUED": 1}
    assert answer.for_application
    assert known.take(0) == (PEER, 1234, b"hello")
    assert known.take(0) is None
    assert known.audit()["held"] == 1
    assert not known.command("release").for_application
    assert known.audit()["held"] == 0


def test_dropped_frame_is_nothing_for_the_application(known: NetHost) -> None:
    assert not known.receive(datagram(b"x", port=9)).for_application


def test_datagrams_stay_in_order_and_whole(known: NetHost) -> None:
    for index in range(SLOTS):
        known.receive(datagram(bytes([index]) * (index * 90)), driver=DRIVERS[index % 3])
    for index in range(SLOTS):
        taken = known.take(0)
        assert taken is not None
        assert taken[2] == bytes([index]) * (index * 90)


def test_full_socket_drops_and_counts(net: NetHost) -> None:
    assert SLOTS < HOLD, "one socket must fill up before the application's hold is used up"
    net.bind(0, 4000, "queue")
    net.bind(1, 4001, "queue")
    for _ in range(SLOTS):
        assert net.receive(datagram(b"x")).counted == {"UDP_QUEUED": 1}
    assert net.receive(datagram(b"x")).counted == {"UDP_DROP_SOCKET_FULL": 1}
    assert net.command("dropped 0").words("dropped") == ["1"]
    assert net.receive(datagram(b"x", port=4001)).counted == {"UDP_QUEUED": 1}
    net.take(0)
    assert net.receive(datagram(b"x")).counted == {"UDP_QUEUED": 1}


def test_slow_application_leaves_packets_to_the_urgent_tiers(net: NetHost) -> None:
    for socket in range(4):
        net.bind(socket, 4000 + socket, "queue")
    net.bind(9, 7, "echo")
    for index in range(HOLD):
        assert net.receive(datagram(b"x", port=4000 + index % 4)).counted == {"UDP_QUEUED": 1}
    for index in range(50):
        refused = net.receive(datagram(b"x", port=4000 + index % 4))
        assert refused.counted == {"UDP_DROP_HOLD": 1}
        assert net.receive(datagram(b"x", port=7)).counted == {"UDP_ECHOED": 1}
        assert net.receive(icmp_echo(b"x")).counted == {"ICMP_ECHOED": 1}
    assert net.audit()["free"] == RECEIVE_PACKETS - HOLD


def test_ports_are_bound_once(net: NetHost) -> None:
    assert net.bind(0, 4000, "queue") == UDP_OK
    assert net.bind(1, 4000, "queue") == UDP_PORT_IN_USE
    assert net.bind(0, 4001, "again") == UDP_BAD_SOCKET
    assert net.bind(2, 0, "queue") == UDP_BAD_PORT
    assert net.bind(2, 65536, "queue") == UDP_BAD_PORT
    assert net.bind(2, 65535, "queue") == UDP_OK


def test_sockets_of_one_bucket_are_told_apart_and_closed_alone(net: NetHost) -> None:
    ports = [4000 + BUCKETS * index for index in range(5)]
    for socket, port in enumerate(ports):
        assert net.bind(socket, port, "done") == UDP_OK
    for socket, port in enumerate(ports):
        assert net.receive(datagram(b"x", port=port)).words("callback")[0] == str(socket)
    for closed in (2, 0, 4):
        assert net.command(f"close {closed}").result == UDP_OK
        assert net.command(f"close {closed}").result == UDP_BAD_SOCKET
        assert "UDP_DROP_PORT" in net.receive(datagram(b"x", port=ports[closed])).counted
    for socket in (1, 3):
        assert net.receive(datagram(b"x", port=ports[socket])).words("callback")
    assert net.bind(2, ports[2], "done") == UDP_OK


def test_connected_socket_takes_its_peer_alone(net: NetHost) -> None:
    net.bind(0, 4000, "queue")
    for port in (0, 65536):
        assert net.command(f"connect 0 {PEER} {port}").result == UDP_BAD_PORT
    assert net.command(f"connect 0 {PEER} 65535").result == UDP_OK
    assert net.command(f"connect 0 {PEER} 1234").result == UDP_OK
    assert net.receive(datagram(b"x", sport=1234)).counted == {"UDP_QUEUED": 1}
    assert net.receive(datagram(b"x", sport=1235)).counted == {"UDP_DROP_PEER": 1}
    other = datagram(b"x", sport=1234, src="10.0.0.3")
    assert net.receive(other).counted == {"UDP_DROP_PEER": 1}
    assert net.command("connect 0 0.0.0.0 0").result == UDP_OK
    assert net.receive(other).counted == {"UDP_QUEUED": 1}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("to", ["10.0.10.0", "0.1.0.1", "0.1.10.0"])
def test_datagram_to_an_address_of_the_same_halves_is_not_ours(
    net: NetHost, to: str, driver: str
) -> None:
    net.bind(0, 4000, "queue")
    answer = net.receive(datagram(b"x", dst=to), driver=driver)
    assert answer.counted == {"IPV4_DROP_DESTINATION": 1}


def test_socket_made_anew_is_connected_to_nobody(net: NetHost) -> None:
    net.bind(0, 4000, "queue")
    assert net.command(f"connect 0 {PEER} 1234").result == UDP_OK
    assert net.command("close 0").result == UDP_OK
    net.bind(0, 4000, "queue")
    assert net.receive(datagram(b"x", sport=1235)).counted == {"UDP_QUEUED": 1}


def test_callback_may_keep_the_packet(net: NetHost) -> None:
    net.bind(0, 4000, "keep")
    assert net.receive(datagram(b"x")).counted == {"UDP_TAKEN": 1}
    assert net.audit()["kept"] == 1
    net.command("unkeep")
    assert net.audit()["free"] == RECEIVE_PACKETS


@pytest.mark.parametrize("how", ["copy", "place"])
@pytest.mark.parametrize("size", [0, 1, 17, 18, 19, 333, 1472])
def test_application_sends_what_scapy_would(known: NetHost, how: str, size: int) -> None:
    payload = bytes(index * 3 & 255 for index in range(size))
    answer = known.send(0, payload, PEER, 5000, how)
    assert answer.counted == {"UDP_SENT": 1}
    assert not answer.for_application
    want = Ether(src=MAC, dst=PEER_MAC) / IP(src=ADDRESS, dst=PEER, id=0, flags="DF")
    want /= UDP(sport=4000, dport=5000) / payload
    assert answer.sent == [bytes(want).ljust(60, b"\0")]


def test_checksum_that_computes_to_0_is_sent_as_ffff(known: NetHost) -> None:
    frame = Ether(known.send(0, bytes(2), PEER, 5000).sent[0])
    payload = frame[UDP].chksum.to_bytes(2, "big")
    for how in ("copy", "place"):
        frame = Ether(known.send(0, payload, PEER, 5000, how).sent[0])
        assert frame[UDP].chksum == 0xFFFF


def test_application_answers_in_the_packet_it_received(known: NetHost) -> None:
    known.receive(datagram(b"question", sport=77), exact=False)
    assert known.take(0) == (PEER, 77, b"question")
    answer = known.send(0, b"the answer", PEER, 77, "reuse")
    assert Ether(answer.sent[0])[UDP].payload.load[:10] == b"the answer"
    assert known.audit()["held"] == 0


@pytest.mark.parametrize("size", [0, 5, 19, 333, 1472])
@pytest.mark.parametrize("src", [PEER, "198.51.100.7"])
def test_application_answers_with_several_datagrams_though_no_neighbour_and_no_route_is_known(
    net: NetHost, src: str, size: int
) -> None:
    net.command(f"configure {ADDRESS} 255.255.255.0 0.0.0.0")
    net.tick(ANNOUNCING_S)
    net.bind(0, 4000, "queue")
    for _ in range(2):
        # What a packet was before does not matter.
        net.send(0, bytes(size), "10.0.0.255", 9)
    net.receive(datagram(b"question", src=src, sport=77), exact=False)
    assert net.take(0) == (src, 77, b"question")
    for index in range(APPLICATION_PACKETS + 2):
        payload = bytes(index + number & 255 for number in range(size))
        answer = net.send(0, payload, src, 77, "answer")
        assert answer.counted == {"UDP_SENT": 1}
        want = Ether(dst=PEER_MAC, src=MAC) / IP(src=ADDRESS, dst=src, id=0, flags="DF")
        want /= UDP(sport=4000, dport=77) / payload
        assert answer.sent == [bytes(want).ljust(60, b"\0")]
    assert net.send(0, bytes(1473), src, 77, "answer").result == UDP_BAD_LENGTH
    net.receive(datagram(b"x", sport=0), exact=False)
    net.command("release")
    assert net.take(0) == (PEER, 0, b"x")
    assert net.send(0, b"x", PEER, 0, "answer").result == UDP_BAD_PORT
    net.command("release")


def test_connected_socket_sends_to_its_peer(known: NetHost) -> None:
    assert known.send(0, b"x").result == UDP_BAD_SOCKET
    known.command(f"connect 0 {PEER} 5000")
    frame = Ether(known.send(0, b"x").sent[0])
    assert (frame[IP].dst, frame[UDP].dport) == (PEER, 5000)


def test_send_errors_are_reported_and_cost_no_packet(known: NetHost) -> None:
    assert known.send(0, b"x", PEER, 0).result == UDP_BAD_PORT
    assert known.send(0, b"x", PEER, 65536).result == UDP_BAD_PORT
    assert known.send(5, b"x", PEER, 9).result == UDP_BAD_SOCKET
    for how in ("copy", "place"):
        assert known.send(0, bytes(1473), PEER, 9, how).result == UDP_BAD_LENGTH
    assert known.audit()["supply"] == APPLICATION_PACKETS


def test_application_without_a_free_packet_is_told(known: NetHost) -> None:
    known.command("stall 1")
    for _ in range(APPLICATION_PACKETS):
        assert known.send(0, b"x", PEER, 9).words("result")
    assert known.send(0, b"x", PEER, 9).words("none") is not None
    assert known.command("stall 0").sent
    assert known.send(0, b"x", PEER, 9).counted == {"UDP_SENT": 1}


@pytest.mark.parametrize(
    "to", ["0.0.0.0", "0.1.2.3", "127.0.0.1", "240.0.0.1", "255.0.0.1", ADDRESS]
)
def test_impossible_destination_is_counted(known: NetHost, to: str) -> None:
    assert known.send(0, b"x", to, 9).counted == {"UDP_SEND_DROP_DESTINATION": 1}


@pytest.mark.parametrize("to", ["255.255.255.255", "10.0.0.255"])
def test_broadcast_goes_out_at_once(known: NetHost, to: str) -> None:
    assert Ether(known.send(0, b"x", to, 9).sent[0]).dst == ALL_MAC


def test_multicast_goes_to_its_group_address(known: NetHost) -> None:
    frame = Ether(known.send(0, b"x", "239.129.2.3", 9).sent[0])
    assert frame.dst == "01:00:5e:01:02:03"


def test_only_multicast_stays_in_the_subnet(known: NetHost) -> None:
    for to, ttl in (("239.129.2.3", 1), ("255.255.255.255", 64), (PEER, 64)):
        frame = Ether(known.send(0, b"x", to, 9).sent[0])
        assert frame[IP].ttl == ttl
        check_checksums(frame)


def test_without_gateway_only_the_subnet_is_reached(known: NetHost) -> None:
    known.command("configure 10.0.0.1 255.255.255.0 0.0.0.0")
    assert known.send(0, b"x", "192.0.2.1", 9).counted == {"UDP_SEND_DROP_ROUTE": 1}


def test_without_an_address_only_broadcasts_go_out_and_come_in(known: NetHost) -> None:
    known.command("configure 0.0.0.0 0.0.0.0 0.0.0.0")
    frame = Ether(known.send(0, b"discover", "255.255.255.255", 67).sent[0])
    assert (frame.dst, frame[IP].src) == (ALL_MAC, "0.0.0.0")
    assert known.send(0, b"x", PEER, 9).counted == {"UDP_SEND_DROP_ROUTE": 1}
    assert known.send(0, b"x", "239.1.2.3", 9).counted == {"UDP_SEND_DROP_ROUTE": 1}
    offer = ethernet(0x0800, udp(b"offer", dport=4000, dst="255.255.255.255"), to=ALL_MAC)
    assert known.receive(offer).counted == {"UDP_QUEUED": 1}
    for dst in ("0.0.0.0", ADDRESS):
        answer = known.receive(ethernet(0x0800, udp(b"x", dport=4000, dst=dst)))
        assert answer.counted == {"IPV4_DROP_DESTINATION": 1}


def test_protocol_tier_sends_and_overlong_is_counted(known: NetHost) -> None:
    assert known.output(0, PEER, 9, 1472).counted == {"UDP_SENT": 1}
    assert known.output(0, PEER, 9, 1473).counted == {"UDP_SEND_DROP_LONG": 1}
    assert known.output(0, PEER, 0, 1).counted == {"UDP_SEND_DROP_DESTINATION": 1}
