"""ARP: what is believed, what gives way, how the first datagram waits, ageing."""

from __future__ import annotations

import pytest
from net_frames import ALL_MAC, PEER, PEER_MAC, arp_request, datagram, ethernet
from net_host import ADDRESS, GATEWAY, MAC, NetHost, config
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

ENTRIES = config("ARP_ENTRIES")
TRIES = config("ARP_TRIES")
LIFETIME_S = config("ARP_LIFETIME_S")
HOLD = config("NET_APPLICATION_HOLD")
RECEIVE_PACKETS = config("NET_RECEIVE_PACKETS")
PROTOCOL_PACKETS = config("NET_PROTOCOL_PACKETS")


@pytest.fixture
def sender(net: NetHost) -> NetHost:
    """A stack with a socket to send from."""
    assert net.bind(0, 4000, "queue") == 0
    return net


def neighbour(index: int) -> tuple[str, str]:
    """Address and MAC address of one of many hosts."""
    return f"10.0.0.{100 + index}", f"02:00:00:00:01:{index:02x}"


def reply_from(address: str, mac: str, to: str = MAC, target: str = ADDRESS) -> bytes:
    return arp_request(op=2, hwsrc=mac, psrc=address, hwdst=MAC, pdst=target, to=to)


def request_from(address: str, mac: str, target: str = ADDRESS) -> bytes:
    return arp_request(hwsrc=mac, psrc=address, pdst=target)


def learn(net: NetHost, address: str, mac: str) -> None:
    """Lets a neighbour ask for us."""
    assert "ARP_ANSWERED" in net.receive(request_from(address, mac)).counted


def destination(net: NetHost, address: str) -> str | None:
    """The MAC address to which a datagram goes at once, or None."""
    sent = [Ether(frame) for frame in net.send(0, b"x", address, 9).sent]
    return next((frame.dst for frame in sent if frame.type == 0x0800), None)


def test_datagram_to_unknown_neighbour_waits_for_the_reply(sender: NetHost) -> None:
    asked = sender.send(0, b"hello", PEER, 9)
    assert asked.counted == {"UDP_SENT_LATER": 1, "ARP_REQUESTED": 1}
    (request,) = asked.sent
    want = Ether(dst=ALL_MAC, src=MAC) / ARP(
        op=1, hwsrc=MAC, psrc=ADDRESS, hwdst="00:00:00:00:00:00", pdst=PEER
    )
    assert request == bytes(want).ljust(60, b"\0")
    resolved = sender.receive(reply_from(PEER, PEER_MAC))
    assert resolved.counted == {"ARP_RESOLVED": 1, "ARP_WAITING_SENT": 1}
    (frame,) = resolved.sent
    want = Ether(dst=PEER_MAC, src=MAC) / IP(src=ADDRESS, dst=PEER, id=0, flags="DF")
    want /= UDP(sport=4000, dport=9) / Raw(b"hello")
    assert frame == bytes(want).ljust(60, b"\0")
    assert destination(sender, PEER) == PEER_MAC


def test_newest_of_several_waiting_datagrams_is_sent(sender: NetHost) -> None:
    sender.send(0, b"first", PEER, 9)
    second = sender.send(0, b"second", PEER, 9)
    assert second.counted == {"UDP_SENT_LATER": 1, "ARP_WAITING_DROP_REPLACED": 1}
    assert second.for_application, "a packet is the application's again"
    assert second.sent == [], "no second request within the second"
    (frame,) = sender.receive(reply_from(PEER, PEER_MAC)).sent
    assert Ether(frame)[UDP].payload.load[:6] == b"second"


def test_request_of_the_neighbour_resolves_too(sender: NetHost) -> None:
    sender.send(0, b"hello", PEER, 9)
    answer = sender.receive(request_from(PEER, PEER_MAC))
    assert answer.counted == {"ARP_ANSWERED": 1, "ARP_WAITING_SENT": 1}
    assert {Ether(frame).type for frame in answer.sent} == {0x0800, 0x0806}


def test_unreachable_neighbour_is_asked_once_a_second_and_given_up(sender: NetHost) -> None:
    # The next datagram is none the worse for it.
    for _ in range(2):
        sender.send(0, b"hello", PEER, 9)
        # It was asked for in the middle of a second.
        assert sender.tick().sent == []
        for _ in range(TRIES - 1):
            answer = sender.tick()
            assert answer.counted == {"ARP_REQUESTED": 1}
            assert not answer.for_application
            assert Ether(answer.sent[0])[ARP].pdst == PEER
        assert sender.tick().counted == {"ARP_WAITING_DROP_UNREACHABLE": 1}
        quiet = sender.tick()
        assert (quiet.counted, quiet.sent) == ({}, [])
        late = sender.receive(reply_from(PEER, PEER_MAC))
        assert late.counted == {"ARP_DROP_UNSOLICITED": 1}


def test_unasked_reply_teaches_nothing(sender: NetHost) -> None:
    answer = sender.receive(reply_from(PEER, PEER_MAC))
    assert answer.counted == {"ARP_DROP_UNSOLICITED": 1}
    assert destination(sender, PEER) is None


def test_unasked_reply_does_not_change_a_known_neighbour(sender: NetHost) -> None:
    learn(sender, PEER, PEER_MAC)
    sender.receive(reply_from(PEER, "02:00:00:00:00:66"))
    assert destination(sender, PEER) == PEER_MAC


def test_reply_to_someone_else_is_dropped(sender: NetHost) -> None:
    sender.send(0, b"hello", PEER, 9)
    frame = arp_request(op=2, hwsrc=PEER_MAC, psrc=PEER, pdst="10.0.0.9", to=ALL_MAC)
    assert sender.receive(frame).counted == {"ARP_DROP_TARGET": 1}


def test_request_for_another_renews_only_what_is_known(sender: NetHost) -> None:
    unknown = sender.receive(request_from(PEER, PEER_MAC, "10.0.0.77"))
    assert unknown.counted == {"ARP_DROP_TARGET": 1}
    assert destination(sender, PEER) is None
    sender.receive(reply_from(PEER, PEER_MAC))
    announcement = sender.receive(request_from(PEER, "02:00:00:00:00:22", PEER))
    assert announcement.counted == {"ARP_UPDATED": 1}
    assert destination(sender, PEER) == "02:00:00:00:00:22"


def test_probe_is_answered_but_not_learned(sender: NetHost) -> None:
    answer = sender.receive(request_from("0.0.0.0", PEER_MAC))
    assert answer.counted == {"ARP_ANSWERED": 1}
    assert Ether(answer.sent[0])[ARP].pdst == "0.0.0.0"


def test_request_from_outside_the_subnet_is_answered_but_not_learned(sender: NetHost) -> None:
    answer = sender.receive(request_from("192.168.7.7", PEER_MAC))
    assert answer.counted == {"ARP_ANSWERED": 1}
    for index in range(ENTRIES):
        learn(sender, *neighbour(index))
    for index in range(ENTRIES):
        assert destination(sender, neighbour(index)[0]) == neighbour(index)[1]


@pytest.mark.parametrize(
    ("address", "mac", "counter"),
    [
        (PEER, MAC, "ARP_DROP_REFLECTED"),
        (PEER, ALL_MAC, "ARP_DROP_SENDER"),
        (PEER, "01:00:5e:00:00:01", "ARP_DROP_SENDER"),
        (PEER, "00:00:00:00:00:00", "ARP_DROP_SENDER"),
        ("255.255.255.255", PEER_MAC, "ARP_DROP_SENDER"),
        ("224.0.0.1", PEER_MAC, "ARP_DROP_SENDER"),
        ("127.0.0.1", PEER_MAC, "ARP_DROP_SENDER"),
    ],
)
def test_impossible_sender_is_neither_answered_nor_learned(
    net: NetHost, address: str, mac: str, counter: str
) -> None:
    for frame in (request_from(address, mac), reply_from(address, mac)):
        answer = net.receive(frame)
        assert answer.counted == {counter: 1}
        assert answer.sent == []


def test_stranger_takes_the_place_of_the_longest_unused_neighbour(sender: NetHost) -> None:
    for index in range(ENTRIES):
        learn(sender, *neighbour(index))
    learn(sender, *neighbour(0))
    answer = sender.receive(request_from(*neighbour(ENTRIES)))
    assert answer.counted == {"ARP_ANSWERED": 1, "ARP_EVICTED": 1}
    assert destination(sender, neighbour(0)[0]) == neighbour(0)[1]
    assert destination(sender, neighbour(ENTRIES)[0]) == neighbour(ENTRIES)[1]
    assert destination(sender, neighbour(1)[0]) is None


def test_flood_of_strangers_evicts_no_neighbour_in_use(sender: NetHost) -> None:
    for index in range(ENTRIES):
        learn(sender, *neighbour(index))
        assert destination(sender, neighbour(index)[0]) == neighbour(index)[1]
    for index in range(ENTRIES, 3 * ENTRIES):
        answer = sender.receive(request_from(*neighbour(index)))
        assert answer.counted == {"ARP_ANSWERED": 1, "ARP_NOT_LEARNED": 1}
    for index in range(ENTRIES):
        assert destination(sender, neighbour(index)[0]) == neighbour(index)[1]


def test_own_need_evicts_the_longest_unused_neighbour_in_use(sender: NetHost) -> None:
    for index in range(ENTRIES):
        learn(sender, *neighbour(index))
        destination(sender, neighbour(index)[0])
    destination(sender, neighbour(0)[0])
    answer = sender.send(0, b"x", neighbour(ENTRIES)[0], 9)
    assert answer.counted["ARP_EVICTED"] == 1
    assert destination(sender, neighbour(0)[0]) == neighbour(0)[1]
    assert "UDP_SENT" not in sender.send(0, b"x", neighbour(1)[0], 9).counted


def test_open_questions_do_not_give_way(sender: NetHost) -> None:
    # Packets that wait come from the application's receive side: there are enough of them.
    question = ethernet(0x0800, bytes(IP(src=PEER, dst=ADDRESS) / UDP(dport=4000)))
    for index in range(ENTRIES):
        sender.receive(question, exact=False)
        sender.take(0)
        answer = sender.send(0, b"x", neighbour(index)[0], 9, "reuse")
        assert answer.counted == {"UDP_SENT_LATER": 1, "ARP_REQUESTED": 1}
    answer = sender.receive(request_from(*neighbour(ENTRIES)))
    assert answer.counted == {"ARP_ANSWERED": 1, "ARP_NOT_LEARNED": 1}
    full = sender.output(0, neighbour(ENTRIES)[0], 9, 1)
    assert full.counted == {"UDP_SEND_DROP_ARP_FULL": 1}


def test_what_waits_is_as_if_the_application_held_it(sender: NetHost) -> None:
    sender.bind(1, 7, "echo")
    question = datagram(b"", sport=77)
    waiting = 6
    for index in range(waiting):
        sender.receive(question, exact=False)
        sender.take(0)
        sender.send(0, b"x", neighbour(index)[0], 9, "reuse")
    for _ in range(HOLD):
        sender.receive(question, exact=False)
    where = sender.audit()
    assert (where["waiting"], where["free"]) == (waiting, RECEIVE_PACKETS - HOLD)
    resolved = sender.receive(reply_from(*neighbour(0)))
    assert resolved.counted == {"ARP_RESOLVED": 1, "ARP_WAITING_SENT": 1}
    # There is room for another one then.
    assert "UDP_QUEUED" in sender.receive(question, exact=False).counted
    assert "UDP_QUEUED" not in sender.receive(question, exact=False).counted
    for _ in range(TRIES + 2):
        sender.tick()
    assert sender.audit()["waiting"] == 0
    sender.check()


def asked_for(net: NetHost, address: str) -> bool:
    """A datagram makes us ask for its neighbour; False if it is dropped instead."""
    counted = net.output(0, address, 9, 1).counted
    assert counted.get("UDP_SEND_DROP_ARP_FULL", 0) == (0 if "ARP_REQUESTED" in counted else 1)
    return "ARP_REQUESTED" in counted


def test_neighbour_that_has_answered_gives_way_no_sooner_than_it_may_be_asked_again(
    sender: NetHost,
) -> None:
    for index in range(ENTRIES):
        assert asked_for(sender, neighbour(index)[0])
        sender.receive(reply_from(*neighbour(index)))
    assert not asked_for(sender, neighbour(ENTRIES)[0])
    sender.tick()
    assert not asked_for(sender, neighbour(ENTRIES)[0]), "no second has passed for certain"
    sender.tick()
    assert asked_for(sender, neighbour(ENTRIES)[0])
    assert asked_for(sender, neighbour(0)[0])


def test_neighbour_that_is_asked_again_because_of_its_age_does_not_give_way(
    sender: NetHost,
) -> None:
    for index in range(ENTRIES):
        learn(sender, *neighbour(index))
        assert destination(sender, neighbour(index)[0]) == neighbour(index)[1]
        if index == 0:
            sender.tick()
    assert sender.tick(LIFETIME_S - 1).counted == {"ARP_REQUESTED": 1}
    assert asked_for(sender, neighbour(ENTRIES)[0])
    assert destination(sender, neighbour(0)[0]) == neighbour(0)[1]


def test_request_without_a_free_packet_is_put_off(sender: NetHost) -> None:
    sender.stall()
    answer = sender.send(0, b"x", PEER, 9)
    assert answer.counted == {"UDP_SENT_LATER": 1, "ARP_NO_PACKET": 1}
    sender.command("stall 0")
    assert sender.tick().counted == {"ARP_REQUESTED": 1}


def test_hosts_that_do_not_answer_keep_no_other_from_being_asked(sender: NetHost) -> None:
    hosts = [neighbour(index)[0] for index in range(PROTOCOL_PACKETS)]
    answers = [sender.output(0, host, 9, 1) for host in hosts]
    assert answers[-1].counted == {"UDP_SENT_LATER": 1, "ARP_NO_PACKET": 1}
    answers.append(sender.tick())
    assert answers[-1].counted == {"ARP_REQUESTED": 1, "ARP_WAITING_DROP_ASKED": 1}
    asked = [Ether(frame)[ARP].pdst for answer in answers for frame in answer.sent]
    assert asked == hosts


def test_a_question_that_cannot_be_sent_is_none_to_a_neighbour_that_is_known(
    sender: NetHost,
) -> None:
    learn(sender, PEER, PEER_MAC)
    sender.tick(LIFETIME_S - 1)
    assert destination(sender, PEER) == PEER_MAC
    sender.stall()
    assert sender.tick(5).counted == {"ARP_NO_PACKET": 1}
    sender.command("stall 0")
    assert sender.tick().counted == {"ARP_REQUESTED": 1}
    assert destination(sender, PEER) == PEER_MAC


def test_unused_neighbour_is_forgotten_at_its_age(sender: NetHost) -> None:
    learn(sender, PEER, PEER_MAC)
    assert sender.tick(LIFETIME_S - 1).counted == {}
    assert sender.tick().counted == {"ARP_EXPIRED": 1}
    assert destination(sender, PEER) is None


def test_used_neighbour_is_asked_alone_at_its_age_and_used_meanwhile(sender: NetHost) -> None:
    learn(sender, PEER, PEER_MAC)
    assert destination(sender, PEER) == PEER_MAC
    answer = sender.tick(LIFETIME_S)
    assert answer.counted == {"ARP_REQUESTED": 1}
    assert Ether(answer.sent[0]).dst == PEER_MAC
    assert destination(sender, PEER) == PEER_MAC
    resolved = sender.receive(reply_from(PEER, "02:00:00:00:00:33"))
    assert resolved.counted == {"ARP_RESOLVED": 1}
    assert destination(sender, PEER) == "02:00:00:00:00:33"


def test_used_neighbour_that_answers_at_last_is_as_good_as_new(sender: NetHost) -> None:
    learn(sender, PEER, PEER_MAC)
    for _ in range(2):
        assert destination(sender, PEER) == PEER_MAC
        seconds = [sender.tick().counted for _ in range(LIFETIME_S + TRIES - 1)]
        assert seconds == [{}] * (LIFETIME_S - 1) + [{"ARP_REQUESTED": 1}] * TRIES
        assert sender.receive(reply_from(PEER, PEER_MAC)).counted == {"ARP_RESOLVED": 1}


def test_used_neighbour_that_no_longer_answers_is_forgotten(sender: NetHost) -> None:
    learn(sender, PEER, PEER_MAC)
    destination(sender, PEER)
    sender.tick(LIFETIME_S + TRIES - 1)
    assert sender.tick().counted == {"ARP_EXPIRED": 1}
    assert destination(sender, PEER) is None


def test_destination_behind_the_gateway_asks_for_the_gateway(sender: NetHost) -> None:
    (request,) = sender.send(0, b"x", "192.0.2.1", 9).sent
    assert Ether(request)[ARP].pdst == GATEWAY
    (frame,) = sender.receive(reply_from(GATEWAY, "02:00:00:00:00:fe")).sent
    assert Ether(frame).dst == "02:00:00:00:00:fe"
    assert Ether(frame)[IP].dst == "192.0.2.1"


def test_new_address_forgets_neighbours_and_counts_what_waited(sender: NetHost) -> None:
    sender.send(0, b"x", PEER, 9)
    answer = sender.command("configure 10.0.0.3 255.255.255.0 0.0.0.0")
    assert answer.counted == {"ARP_WAITING_DROP_FLUSHED": 1}


def test_without_an_address_nothing_is_answered(net: NetHost) -> None:
    net.command("configure 0.0.0.0 0.0.0.0 0.0.0.0")
    for target in ("0.0.0.0", ADDRESS):
        request = request_from(PEER, PEER_MAC, target)
        reply = reply_from(PEER, PEER_MAC, target=target)
        for frame in (request, reply):
            answer = net.receive(frame)
            assert answer.counted == {"ARP_DROP_TARGET": 1}
            assert answer.sent == []
