"""The DHCP client: how it comes to a lease, gives it back and has it taken away."""

from __future__ import annotations

import pytest
from dhcp_server import (
    FALLBACK,
    LEASE_S,
    LEASED,
    MASK,
    PARAMETERS,
    ROUTER,
    SERVER,
    SPREAD_S,
    Client,
    answer,
    expect_fields,
    messages,
)
from net_frames import ALL_MAC, arp_request
from net_host import MAC, NetHost, config
from scapy.layers.dhcp import DHCP
from scapy.layers.l2 import ARP, Ether

TRIES = config("DHCP_TRIES")


def test_client_that_is_off_says_nothing_and_takes_nothing(client: Client) -> None:
    assert all(client.tick() == [] for _ in range(100))
    assert client.state == "off"
    counted = client.net.receive(answer("offer", 0)).counted
    assert set(counted) == {"UDP_TAKEN", "DHCP_DROP_UNASKED"}


def test_lease_is_asked_for_probed_taken_and_announced(client: Client) -> None:
    net = client.net
    discover = client.discover()
    assert client.addresses[0] == "0.0.0.0"
    expect_fields(discover, src="0.0.0.0", dst="255.255.255.255")
    assert discover.options == {"message-type": 1, "param_req_list": PARAMETERS}
    client.tick()
    offer = net.receive(answer("offer", discover.bootp.xid))
    assert offer.counted == {"UDP_TAKEN": 1, "DHCP_OFFERED": 1, "DHCP_SENT": 1, "UDP_SENT": 1}
    (request,) = messages(offer.sent)
    expect_fields(request, src="0.0.0.0", dst="255.255.255.255")
    assert request.bootp.xid == discover.bootp.xid
    assert request.bootp.secs == discover.bootp.secs
    assert request.options == {
        "message-type": 3,
        "requested_addr": LEASED,
        "server_id": SERVER,
        "param_req_list": PARAMETERS,
    }
    assert net.receive(answer("ack", request.bootp.xid)).sent == []
    sent = [client.tick() for _ in range(8)]
    probe = Ether(dst=ALL_MAC, src=MAC)
    probe /= ARP(op=1, hwsrc=MAC, psrc="0.0.0.0", hwdst="00:00:00:00:00:00", pdst=LEASED)
    ours = Ether(dst=ALL_MAC, src=MAC)
    ours /= ARP(op=1, hwsrc=MAC, psrc=LEASED, hwdst="00:00:00:00:00:00", pdst=LEASED)
    probed, told = ([bytes(frame).ljust(60, b"\0")] for frame in (probe, ours))
    assert sent == [probed, probed, probed, [], [], told, [], told]
    assert client.state == "bound"
    assert client.addresses == (LEASED, MASK, ROUTER)
    assert client.remaining_s == LEASE_S - 8


def test_first_message_waits_for_a_random_time(net: NetHost) -> None:
    waits = set()
    for seed in range(40):
        net.reset()
        net.command(f"stir {seed}")
        client = Client(net)
        client.discover()
        waits.add(client.now)
    assert waits <= set(range(1, SPREAD_S + 1))
    assert len(waits) > 5


def test_questions_have_random_numbers(net: NetHost) -> None:
    numbers = set()
    for seed in range(20):
        net.reset()
        net.command(f"stir {seed}")
        numbers.add(Client(net).discover().bootp.xid)
    assert len(numbers) == 20


def test_unanswered_discover_is_repeated_ever_more_rarely_and_with_jitter(net: NetHost) -> None:
    seen: list[set[int]] = [set() for _ in range(7)]
    for seed in range(20):
        net.reset()
        net.command(f"stir {seed}")
        client = Client(net)
        first = client.discover()
        start = client.now
        assert first.bootp.secs == 0
        for gaps in seen:
            before = client.now
            again = client.until_message(100)
            gaps.add(client.now - before)
            assert (again.kind, again.bootp.xid) == (1, first.bootp.xid)
            assert again.bootp.secs == client.now - start
    for gaps, middle in zip(seen, (4, 8, 16, 32, 64, 64, 64), strict=True):
        assert gaps == {middle - 1, middle, middle + 1}


def test_static_address_is_taken_without_a_server_and_given_up_for_a_lease(
    client: Client,
) -> None:
    client.discover()
    for _ in range(TRIES - 1):
        client.until_message()
        assert client.addresses[0] == "0.0.0.0"
    message = client.until_message()
    assert client.addresses == (FALLBACK, "255.255.255.0", "10.0.0.254")
    # Who asks has no address, whatever the interface has.
    expect_fields(message, src="0.0.0.0", dst="255.255.255.255")
    assert client.net.receive(arp_request()).counted == {"ARP_ANSWERED": 1}
    client.net.receive(answer("offer", message.bootp.xid))
    client.net.receive(answer("ack", message.bootp.xid))
    for _ in range(5):
        assert client.addresses[0] == FALLBACK
        client.tick()
    assert client.addresses[0] == LEASED


def test_static_address_is_taken_once_however_long_nobody_answers(client: Client) -> None:
    client.discover()
    for _ in range(TRIES):
        client.until_message()
    assert client.addresses[0] == FALLBACK
    sent = [Ether(frame) for _ in range(300) for frame in client.tick()]
    assert len([frame for frame in sent if ARP in frame]) == 2, "announced as any new address"
    assert len([frame for frame in sent if DHCP in frame]) >= 4


def test_unanswered_request_is_repeated_and_then_begun_anew(client: Client) -> None:
    first = client.request()
    for _ in range(TRIES - 1):
        again = client.until_message(100)
        assert (again.kind, again.bootp.xid) == (3, first.bootp.xid)
        assert again.options == first.options
    again = client.until_message(100)
    assert again.kind == 1
    assert again.bootp.xid != first.bootp.xid


def test_switching_off_gives_the_lease_back_and_takes_the_static_address(client: Client) -> None:
    client.bind()
    client.net.receive(arp_request(psrc=SERVER, pdst=LEASED))
    (release,) = messages(client.net.command("dhcp stop").sent)
    expect_fields(release, src=LEASED, dst=SERVER, ciaddr=LEASED)
    assert release.options == {"message-type": 7, "server_id": SERVER}
    client.tick()
    assert client.state == "off"
    assert client.addresses[0] == FALLBACK
    assert all(messages(client.tick()) == [] for _ in range(2 * LEASE_S))


def test_server_is_asked_for_by_arp_before_the_lease_is_given_back(client: Client) -> None:
    client.bind()
    (request,) = client.net.command("dhcp stop").sent
    assert Ether(request)[ARP].pdst == SERVER
    reply = arp_request(op=2, psrc=SERVER, hwdst=MAC, pdst=LEASED, to=MAC)
    (release,) = messages(client.net.receive(reply).sent)
    assert release.kind == 7


def test_lease_is_given_back_also_if_the_server_answers_late(client: Client) -> None:
    client.bind()
    client.net.command("dhcp stop")
    client.tick()
    assert client.state == "releasing"
    reply = arp_request(op=2, psrc=SERVER, hwdst=MAC, pdst=LEASED, to=MAC)
    (release,) = messages(client.net.receive(reply).sent)
    assert release.kind == 7
    client.tick()
    assert (client.state, client.addresses[0]) == ("off", FALLBACK)


def release_and_replace(client: Client) -> None:
    """Switches the client off; the release waits for ARP until something newer takes its place."""
    client.bind()
    client.net.bind(0, 4000, "queue")
    client.net.command("dhcp stop")
    sent = client.net.send(0, b"newer", SERVER, 9)
    assert sent.counted["ARP_WAITING_DROP_REPLACED"] == 1


def test_lease_is_given_back_also_if_a_newer_datagram_waits_instead(client: Client) -> None:
    release_and_replace(client)
    reply = arp_request(op=2, psrc=SERVER, hwdst=MAC, pdst=LEASED, to=MAC)
    assert messages(client.net.receive(reply).sent) == []
    (release,) = messages(client.tick())
    expect_fields(release, src=LEASED, dst=SERVER, ciaddr=LEASED)
    assert release.kind == 7
    assert messages(client.tick()) == []
    assert (client.state, client.addresses[0]) == ("off", FALLBACK)


def test_lease_is_given_back_twice_at_the_most(client: Client) -> None:
    release_and_replace(client)
    for _ in range(config("ARP_TRIES") + 1):
        client.net.tick()
    assert client.state == "releasing"
    # Again there is no answer, and something newer.
    client.net.send(0, b"newer", SERVER, 9)
    for _ in range(config("ARP_TRIES") + 1):
        client.net.tick()
    assert (client.state, client.addresses[0]) == ("off", FALLBACK)


def test_lease_that_can_not_be_given_back_is_kept_no_longer_than_arp_asks(client: Client) -> None:
    client.bind()
    client.net.command("dhcp stop")
    for _ in range(config("ARP_TRIES") + 1):
        assert client.addresses[0] == LEASED
        client.net.tick()
    assert (client.state, client.addresses[0]) == ("off", FALLBACK)


def test_lease_that_ends_while_it_is_given_back_is_no_longer_used(client: Client) -> None:
    client.bind(lease_time=20)
    client.net.tick(client.remaining_s - 1)
    (request,) = client.net.command("dhcp stop").sent
    assert Ether(request)[ARP].pdst == SERVER
    client.net.tick()
    assert (client.state, client.addresses[0]) == ("off", FALLBACK)


@pytest.mark.parametrize("after", ["off", "releasing"])
def test_static_address_is_kept_until_the_first_question(client: Client, after: str) -> None:
    client.net.bind(0, 4000, "queue")
    if after == "releasing":
        client.bind()
        client.net.command("dhcp stop")
        assert client.state == after
    client.net.command("dhcp start")
    while client.state == "waiting":
        # Who has switched it on is answered.
        sent = client.net.send(0, b"answer", "10.0.0.255", 9)
        assert sent.counted == {"UDP_SENT": 1}
        assert client.addresses == (FALLBACK, "255.255.255.0", "10.0.0.254")
        said = messages(client.tick())
    assert [message.kind for message in said] == [1]
    assert client.addresses[0] == "0.0.0.0"


def test_switching_on_again_begins_anew(client: Client) -> None:
    client.bind()
    client.net.command("dhcp stop")
    assert client.discover().kind == 1
    client.net.command("dhcp stop")
    assert client.state == "off"
    assert client.addresses[0] == FALLBACK


@pytest.mark.parametrize("field", ["file", "sname", "both"])
def test_options_may_go_on_in_other_fields(client: Client, field: str) -> None:
    xid = client.request().bootp.xid
    rest = bytes([0, 54, 4, 192, 0, 2, 1, 255])
    lease = bytes([51, 4, 0, 0, 1, 0, 255])
    overload = {"file": 1, "sname": 2, "both": 3}[field]
    first = bytes([53, 1, 5, 52, 1, overload])
    fields = {"file": rest} if field == "file" else {"sname": rest}
    if field == "both":
        fields = {"file": lease, "sname": rest}
    else:
        first += lease[:-1]
    reply = client.net.receive(answer("ack", xid, bootp=fields, raw_options=first + b"\xff"))
    assert reply.counted == {"UDP_TAKEN": 1, "DHCP_ACKNOWLEDGED": 1}


@pytest.mark.parametrize(
    ("address", "mask"),
    [("10.1.2.3", "255.0.0.0"), ("172.16.0.9", "255.255.0.0"), ("192.0.2.77", "255.255.255.0")],
)
def test_netmask_that_is_not_given_is_that_of_the_class(
    client: Client, address: str, mask: str
) -> None:
    xid = client.discover().bootp.xid
    changes = {"bootp": {"yiaddr": address}, "subnet_mask": None, "router": None}
    client.net.receive(answer("offer", xid, **changes))
    client.net.receive(answer("ack", xid, **changes))
    for _ in range(5):
        client.tick()
    assert client.addresses == (address, mask, "0.0.0.0")


@pytest.mark.parametrize(
    "router", ["198.51.100.1", "192.0.2.0", "192.0.2.255", LEASED, "0.0.0.0", "255.255.255.255"]
)
def test_router_that_can_not_be_one_is_left_out(client: Client, router: str) -> None:
    client.bind(router=router)
    assert client.addresses == (LEASED, MASK, "0.0.0.0")


def test_message_waits_for_its_next_time_if_no_packet_is_free(client: Client) -> None:
    client.net.bind(0, 4000, "queue")
    client.discover()
    client.net.command("stall 1")
    client.net.command("stir 1")
    for _ in range(config("NET_PROTOCOL_PACKETS")):
        client.net.command("output 0 255.255.255.255 9 1")
        client.net.datagrams += 1
    for _ in range(10):
        client.tick()
    assert client.net.counters()["DHCP_NO_PACKET"][1] > 0
    client.net.command("stall 0")
    assert client.until_message(20).packet[DHCP]
