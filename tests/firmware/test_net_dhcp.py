"""The DHCP client: a lease from nothing to its end, with the times of RFC 2131."""

from __future__ import annotations

from itertools import pairwise

import pytest
from checksums import check_checksums
from dhcp_server import (
    FALLBACK,
    LEASE_S,
    LEASED,
    MAC_BYTES,
    MASK,
    OTHER_SERVER,
    ROUTER,
    SERVER,
    Client,
    Message,
    answer,
    messages,
)
from net_frames import ALL_MAC, PEER_MAC, arp_request
from net_host import MAC, NetHost, config
from scapy.layers.dhcp import DHCP
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether

TRIES = config("DHCP_TRIES")
SPREAD_S = config("DHCP_SPREAD_S")
ENDLESS = 0xFFFFFFFF
PARAMETERS = [1, 3, 51, 58, 59]


@pytest.fixture
def client(net: NetHost) -> Client:
    """A client that is off."""
    return Client(net)


def expect_fields(message: Message, *, src: str, dst: str, ciaddr: str = "0.0.0.0") -> None:
    """What all messages have in common, and where they go."""
    packet, bootp = message.packet, message.bootp
    assert (packet[UDP].sport, packet[UDP].dport) == (68, 67)
    assert (packet[IP].src, packet[IP].dst) == (src, dst)
    assert (bootp.op, bootp.htype, bootp.hlen, bootp.hops) == (1, 1, 6, 0)
    assert bootp.chaddr == MAC_BYTES + bytes(10)
    assert bootp.ciaddr == ciaddr
    assert (bootp.yiaddr, bootp.siaddr, bootp.giaddr) == ("0.0.0.0",) * 3
    assert int(bootp.flags) == (0x8000 if ciaddr == "0.0.0.0" else 0)
    assert len(bytes(packet[UDP].payload)) >= 300
    if dst == "255.255.255.255":
        assert packet.dst == ALL_MAC
    check_checksums(packet)


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


def test_unanswered_request_is_repeated_and_then_begun_anew(client: Client) -> None:
    first = client.request()
    for _ in range(TRIES - 1):
        again = client.until_message(100)
        assert (again.kind, again.bootp.xid) == (3, first.bootp.xid)
        assert again.options == first.options
    again = client.until_message(100)
    assert again.kind == 1
    assert again.bootp.xid != first.bootp.xid


def test_lease_is_renewed_from_its_server_after_half_its_time(client: Client) -> None:
    client.bind()
    start = client.now - 5
    request = client.until_message()
    assert LEASE_S / 2 * 15 / 16 - 1 <= client.now - start <= LEASE_S / 2
    assert (client.state, request.kind) == ("renewing", 3)
    expect_fields(request, src=LEASED, dst=SERVER, ciaddr=LEASED)
    assert request.packet.dst == PEER_MAC
    assert request.options == {"message-type": 3, "param_req_list": PARAMETERS}
    client.tick()
    reply = client.net.receive(answer("ack", request.bootp.xid, dst=LEASED))
    assert reply.counted == {"UDP_TAKEN": 1, "DHCP_ACKNOWLEDGED": 1}
    assert client.state == "bound"
    # From the question on, not from the answer.
    assert client.remaining_s == LEASE_S - 1


def test_renewal_keeps_neighbours_unless_the_subnet_changes(client: Client) -> None:
    client.bind()
    client.net.bind(0, 4000, "queue")
    request = client.until_message()
    client.net.receive(answer("ack", request.bootp.xid, dst=LEASED))
    client.net.receive(arp_request(psrc="192.0.2.9", pdst=LEASED))
    assert client.net.send(0, b"x", "192.0.2.9", 9).counted == {"UDP_SENT": 1}
    request = client.until_message()
    client.net.receive(answer("ack", request.bootp.xid, dst=LEASED, router="192.0.2.253"))
    assert client.addresses == (LEASED, MASK, "192.0.2.253")
    assert "ARP_REQUESTED" in client.net.send(0, b"x", "192.0.2.9", 9).counted


def test_unanswered_renewal_is_put_to_all_and_any_server_may_answer(client: Client) -> None:
    client.bind(lease_time=4000)
    start = client.now - 5
    waits = []
    while True:
        request = client.until_message()
        if client.state == "rebinding":
            break
        assert client.state == "renewing"
        expect_fields(request, src=LEASED, dst=SERVER, ciaddr=LEASED)
        waits.append(client.now - start)
    assert client.now - start == 3500
    # Half of what is left each time, but a minute at the least (RFC 2131, section 4.4.5).
    for before, after in pairwise(waits):
        assert after - before == max((3500 - before) // 2, 60)
    expect_fields(request, src=LEASED, dst="255.255.255.255", ciaddr=LEASED)
    assert "server_id" not in request.options
    assert "requested_addr" not in request.options
    client.net.receive(
        answer("ack", request.bootp.xid, src=OTHER_SERVER, server_id=OTHER_SERVER, dst=LEASED)
    )
    assert client.state == "bound"
    assert client.until_message().packet[IP].dst == OTHER_SERVER


def test_lease_that_nobody_prolongs_ends_and_a_new_one_is_sought(client: Client) -> None:
    client.bind()
    start = client.now - 5
    while client.addresses[0] == LEASED:
        assert client.now - start < LEASE_S, "used beyond its end"
        client.tick()
    assert client.now - start == LEASE_S
    assert client.net.counters()["DHCP_EXPIRED"][1] == 1
    message = client.until_message(SPREAD_S)
    assert message.kind == 1
    expect_fields(message, src="0.0.0.0", dst="255.255.255.255")


@pytest.mark.parametrize("state", ["requesting", "renewing", "rebinding"])
def test_refusal_ends_the_lease_at_once(client: Client, state: str) -> None:
    if state == "requesting":
        xid = client.request().bootp.xid
    else:
        client.bind()
        while client.state != state:
            said = messages(client.tick())
        xid = said[0].bootp.xid
    reply = client.net.receive(answer("nak", xid))
    assert reply.counted == {"UDP_TAKEN": 1, "DHCP_REFUSED": 1}
    assert client.addresses[0] == "0.0.0.0"
    message = client.until_message(SPREAD_S)
    assert message.kind == 1
    assert message.bootp.xid != xid


def test_times_of_the_server_count_before_our_own(client: Client) -> None:
    client.bind(renewal_time=100, rebinding_time=300)
    start = client.now - 5
    client.until_message()
    assert 93 <= client.now - start <= 100
    while client.state == "renewing":
        client.tick()
    assert client.now - start == 300


@pytest.mark.parametrize(
    "times",
    [{"renewal_time": 900, "rebinding_time": 800}, {"renewal_time": 2000, "rebinding_time": 3000}],
)
def test_times_that_make_no_sense_are_replaced(client: Client, times: dict[str, int]) -> None:
    client.bind(**times)
    start = client.now - 5
    client.until_message()
    assert client.state == "renewing"
    assert 468 <= client.now - start <= 500


def test_lease_without_end_is_never_renewed(client: Client) -> None:
    client.bind(lease_time=ENDLESS)
    assert client.remaining_s == ENDLESS
    assert all(messages(client.tick()) == [] for _ in range(5000))


@pytest.mark.parametrize("seconds", [1, 2, 3, 7, 8])
def test_shortest_leases_end_in_time(client: Client, seconds: int) -> None:
    xid = client.request().bootp.xid
    client.net.receive(answer("ack", xid, lease_time=seconds))
    start = client.now
    while client.state in ("probing", "bound", "renewing", "rebinding"):
        client.tick()
        assert client.addresses[0] == "0.0.0.0" or client.now - start < seconds
    assert client.addresses[0] == "0.0.0.0"


@pytest.mark.parametrize("after", range(5))
@pytest.mark.parametrize("how", ["uses", "probes"])
def test_address_that_another_has_is_declined(client: Client, after: int, how: str) -> None:
    xid = client.request().bootp.xid
    client.net.receive(answer("ack", xid))
    for _ in range(after):
        client.tick()
    sender = LEASED if how == "uses" else "0.0.0.0"
    other = arp_request(psrc=sender, pdst=LEASED)
    assert client.net.receive(other).counted == {"ARP_DROP_CONFLICT": 1}
    (decline,) = messages(client.tick())
    expect_fields(decline, src="0.0.0.0", dst="255.255.255.255")
    assert decline.options == {
        "message-type": 4,
        "requested_addr": LEASED,
        "server_id": SERVER,
    }
    assert client.addresses[0] == "0.0.0.0"
    before = client.now
    assert client.until_message(20).kind == 1
    assert client.now - before == 10


def test_leased_address_is_defended_once_and_then_given_up(client: Client) -> None:
    client.bind()
    conflict = arp_request(psrc=LEASED, pdst=SERVER)
    first = client.net.receive(conflict)
    assert first.counted == {"ARP_DROP_CONFLICT": 1, "ARP_ANNOUNCED": 1, "ARP_DEFENDED": 1}
    for _ in range(10):
        client.tick()
    assert "ARP_DEFENDED" in client.net.receive(conflict).counted
    client.tick()
    second = client.net.receive(conflict)
    assert second.counted == {"ARP_DROP_CONFLICT": 1, "ARP_YIELDED": 1}
    assert client.addresses[0] == "0.0.0.0"
    (decline,) = messages(client.tick())
    assert decline.kind == 4
    assert decline.options["requested_addr"] == LEASED


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
