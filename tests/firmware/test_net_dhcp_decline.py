"""DHCP: what becomes of an address that another host has or takes."""

from __future__ import annotations

import pytest
from dhcp_server import LEASED, SERVER, Client, answer, expect_fields, messages
from net_frames import arp_request


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
    assert client.net.receive(other).counted == {"ARP_DROP_TARGET": 1}, "no candidate any more"


@pytest.mark.parametrize("leased", [False, True])
def test_what_could_not_be_declined_is_at_the_next_tick(client: Client, leased: bool) -> None:
    conflict = arp_request(psrc=LEASED, pdst=SERVER)
    if leased:
        client.bind()
        client.net.receive(conflict)
    else:
        client.net.receive(answer("ack", client.request().bootp.xid))
    client.net.receive(conflict)
    client.net.bind(0, 4000, "queue")
    client.net.stall()
    for _ in range(2):
        missed = client.net.tick()
        assert (messages(missed.sent), missed.counted["DHCP_NO_PACKET"]) == ([], 1)
        assert "DHCP_DECLINED" not in missed.counted
    client.net.command("stall 0")
    said = client.net.tick()
    (decline,) = messages(said.sent)
    assert (decline.kind, decline.options["requested_addr"]) == (4, LEASED)
    assert said.counted["DHCP_DECLINED"] == 1
    assert all(messages(client.tick()) == [] for _ in range(9))


def decline_one(client: Client, xid: int) -> tuple[int, int]:
    """Another has what is offered; the next DISCOVER's number, and how long it took to come."""
    (request,) = messages(client.net.receive(answer("offer", xid)).sent)
    client.net.receive(answer("ack", request.bootp.xid))
    client.net.receive(arp_request(psrc=LEASED, pdst=LEASED))
    assert client.until_message(1).kind == 4
    before = client.now
    discover = client.until_message(100)
    assert discover.kind == 1
    return discover.bootp.xid, client.now - before


def test_after_ten_conflicts_an_address_is_tried_once_a_minute_until_there_is_a_lease(
    client: Client,
) -> None:
    xid = client.discover().bootp.xid
    for want in (*[10] * 9, *[60] * 300):
        xid, wait_s = decline_one(client, xid)
        assert wait_s == want
    client.net.receive(answer("offer", xid))
    client.net.receive(answer("ack", xid))
    client.net.tick(5)
    assert client.state == "bound"
    client.net.command("dhcp stop")
    xid, wait_s = decline_one(client, client.discover().bootp.xid)
    assert wait_s == 10


def test_leased_address_is_defended_once_and_then_given_up(client: Client) -> None:
    client.bind()
    conflict = arp_request(psrc=LEASED, pdst=SERVER)
    first = client.net.receive(conflict)
    assert first.counted == {"ARP_DROP_CONFLICT": 1, "ARP_ANNOUNCED": 1, "ARP_DEFENDED": 1}
    for _ in range(11):
        client.tick()
    assert "ARP_DEFENDED" in client.net.receive(conflict).counted
    for _ in range(10):
        client.tick()
    second = client.net.receive(conflict)
    assert second.counted == {"ARP_DROP_CONFLICT": 1, "ARP_YIELDED": 1}
    assert client.addresses[0] == "0.0.0.0"
    (decline,) = messages(client.tick())
    assert decline.kind == 4
    assert decline.options["requested_addr"] == LEASED
