"""The DHCP client: what becomes of a lease with time, by the times of RFC 2131."""

from __future__ import annotations

from itertools import pairwise

import pytest
from dhcp_server import (
    LEASE_S,
    LEASED,
    MASK,
    OTHER_SERVER,
    PARAMETERS,
    SERVER,
    SPREAD_S,
    Client,
    answer,
    expect_fields,
    messages,
)
from net_frames import PEER_MAC, arp_request
from scapy.layers.inet import IP

ENDLESS = 0xFFFFFFFF


def test_lease_is_renewed_from_its_server_after_half_its_time(client: Client) -> None:
    client.bind()
    start = client.now - 5
    request = client.until_message()
    assert LEASE_S / 2 * 15 / 16 - 1 <= client.now - start <= LEASE_S / 2
    assert (client.state, request.kind, request.bootp.secs) == ("renewing", 3, 0)
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


@pytest.mark.parametrize("again", ["renewing", "rebinding"])
def test_time_counts_from_the_request_that_is_answered(client: Client, again: str) -> None:
    client.bind(lease_time=86400)
    first = client.until_message()
    while client.state != again:
        client.until_message()
    request = client.until_message()
    assert client.state == again
    # Who repeats a question after hours means another.
    late = client.net.receive(answer("ack", first.bootp.xid, dst=LEASED, lease_time=3600))
    assert "DHCP_DROP_OTHERS" in late.counted
    client.tick()
    reply = client.net.receive(answer("ack", request.bootp.xid, dst=LEASED, lease_time=3600))
    assert reply.counted == {"UDP_TAKEN": 1, "DHCP_ACKNOWLEDGED": 1}
    assert (client.state, client.addresses[0]) == ("bound", LEASED)
    assert client.remaining_s == 3600 - 1


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
        assert request.bootp.secs == waits[-1] - waits[0]
    assert client.now - start == 3500
    assert request.bootp.secs == 0
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
