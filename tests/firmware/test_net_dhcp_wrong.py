"""DHCP answers that must change nothing: each is counted under its reason and dropped."""

from __future__ import annotations

from typing import Any

import pytest
from dhcp_server import LEASED, OTHER_SERVER, Client, answer
from host_build import examples
from hypothesis import given
from hypothesis import strategies as st
from net_frames import ALL_MAC, ethernet, udp
from net_host import NetHost

TYPE = {kind: bytes([53, 1, number]) for kind, number in (("offer", 2), ("ack", 5), ("nak", 6))}
SERVER_ID = bytes([54, 4, 192, 0, 2, 1])
LEASE = bytes([51, 4, 0, 0, 4, 0])
END = b"\xff"

#: What is wrong in any state: arguments of ``answer``, the counter.
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "request instead of reply": ({"bootp": {"op": 1}}, "FORMAT"),
    "operation 0": ({"bootp": {"op": 0}}, "FORMAT"),
    "hardware type": ({"bootp": {"htype": 6}}, "FORMAT"),
    "hardware size 0": ({"bootp": {"hlen": 0}}, "FORMAT"),
    "hardware size 16": ({"bootp": {"hlen": 16}}, "FORMAT"),
    "cookie": ({"bootp": {"options": b"c\x82Sd"}}, "FORMAT"),
    "no options at all": ({"raw_options": b""}, "OPTIONS"),
    "options without end": ({"raw_options": LEASE + SERVER_ID}, "OPTIONS"),
    "padding without end": ({"raw_options": bytes(60)}, "OPTIONS"),
    "option without length": ({"raw_options": SERVER_ID + bytes([51])}, "OPTIONS"),
    "option longer than the message": ({"raw_options": bytes([12, 255, 1, 2, 3])}, "OPTIONS"),
    "option one byte too long": ({"raw_options": bytes([12, 4, 1, 2, 255])}, "OPTIONS"),
    "type of 0 bytes": ({"raw_options": bytes([53, 0, 255])}, "OPTIONS"),
    "type of 2 bytes": ({"raw_options": bytes([53, 2, 2, 2, 255])}, "OPTIONS"),
    "netmask of 3 bytes": ({"raw_options": bytes([1, 3, 255, 255, 255, 255])}, "OPTIONS"),
    "router of 0 bytes": ({"raw_options": bytes([3, 0, 255])}, "OPTIONS"),
    "router of 5 bytes": ({"raw_options": bytes([3, 5, 1, 2, 3, 4, 5, 255])}, "OPTIONS"),
    "lease of 2 bytes": ({"raw_options": bytes([51, 2, 1, 0, 255])}, "OPTIONS"),
    "lease of 8 bytes": ({"raw_options": bytes([51, 8, *range(8), 255])}, "OPTIONS"),
    "server of 1 byte": ({"raw_options": bytes([54, 1, 192, 255])}, "OPTIONS"),
    "renewal time of 0 bytes": ({"raw_options": bytes([58, 0, 255])}, "OPTIONS"),
    "rebinding time of 5 bytes": ({"raw_options": bytes([59, 5, *range(5), 255])}, "OPTIONS"),
    "overload of 2 bytes": ({"raw_options": bytes([52, 2, 1, 1, 255])}, "OPTIONS"),
    "file without end": (
        {"raw_options": bytes([52, 1, 1, 255]), "bootp": {"file": bytes([12, 126]) + bytes(126)}},
        "OPTIONS",
    ),
    "name without end": (
        {"raw_options": bytes([52, 1, 2, 255]), "bootp": {"sname": bytes(64)}},
        "OPTIONS",
    ),
    "name's option beyond it": (
        {"raw_options": bytes([52, 1, 2, 255]), "bootp": {"sname": bytes([12, 63]) + bytes(62)}},
        "OPTIONS",
    ),
    "another client's address": ({"bootp": {"chaddr": bytes.fromhex("020000000002")}}, "OTHERS"),
    "another question": ({"bootp": {"xid": 0x12345678}}, "OTHERS"),
    "another port": ({"sport": 66}, "SERVER"),
    "client's port": ({"sport": 68}, "SERVER"),
    "no message type": ({"message-type": None}, "UNASKED"),
    "message type 0": ({"raw_options": bytes([53, 1, 0, 255])}, "UNASKED"),
    "a DISCOVER": ({"message-type": "discover"}, "UNASKED"),
    "a REQUEST": ({"message-type": "request"}, "UNASKED"),
    "an INFORM": ({"message-type": "inform"}, "UNASKED"),
    "message type 255": ({"raw_options": bytes([53, 1, 255, 255])}, "UNASKED"),
}

#: What no offer and no acknowledgement may say.
BAD_LEASES: dict[str, dict[str, Any]] = {
    "address 0": {"bootp": {"yiaddr": "0.0.0.0"}},
    "loopback address": {"bootp": {"yiaddr": "127.0.0.1"}},
    "group's address": {"bootp": {"yiaddr": "224.0.0.1"}},
    "all hosts' address": {"bootp": {"yiaddr": "255.255.255.255"}},
    "network's address": {"bootp": {"yiaddr": "192.0.2.0"}},
    "broadcast address": {"bootp": {"yiaddr": "192.0.2.255"}},
    "netmask with a hole": {"subnet_mask": "255.0.255.0"},
    "netmask backwards": {"subnet_mask": "0.0.0.255"},
    "no lease time": {"lease_time": None},
    "lease time 0": {"lease_time": 0},
}

KIND = {"selecting": "offer", "requesting": "ack", "renewing": "ack", "rebinding": "ack"}
#: Types that a state does not wait for.
UNASKED = {
    "off": ("offer", "ack", "nak"),
    "init": ("offer", "ack", "nak"),
    "selecting": ("ack", "nak"),
    "requesting": ("offer",),
    "probing": ("offer", "ack", "nak"),
    "bound": ("offer", "ack", "nak"),
    "renewing": ("offer",),
    "rebinding": ("offer",),
    "releasing": ("offer", "ack", "nak"),
}


def bring_to(net: NetHost, state: str) -> tuple[Client, int]:
    """A client in a state, and the number of its open or last question."""
    client = Client(net)
    match state:
        case "off":
            return client, 0
        case "init":
            net.command("dhcp start")
            return client, 0
        case "selecting":
            return client, client.discover().bootp.xid
    xid = client.request().bootp.xid
    if state == "requesting":
        return client, xid
    net.receive(answer("ack", xid))
    if state == "probing":
        return client, xid
    while client.state == "probing":
        client.tick()
    if state == "releasing":
        net.command("dhcp stop")
        return client, xid
    while client.state != state:
        xid = client.until_message().bootp.xid
    return client, xid


def expect_nothing(client: Client, frame: bytes, counter: str) -> None:
    """The frame is dropped and counted; the client stays as it was."""
    before = (client.state, client.addresses, client.remaining_s)
    reply = client.net.receive(frame)
    assert reply.counted == {"UDP_TAKEN": 1, f"DHCP_DROP_{counter}": 1}
    assert reply.sent == []
    assert (client.state, client.addresses, client.remaining_s) == before


@pytest.mark.parametrize("name", WRONG)
def test_malformed_offer_is_dropped_and_counted(net_process: NetHost, name: str) -> None:
    net_process.reset()
    client, xid = bring_to(net_process, "selecting")
    how, counter = WRONG[name]
    expect_nothing(client, answer("offer", **{"xid": xid} | how), counter)
    net_process.check()


@pytest.mark.parametrize("state", KIND)
def test_wrong_answer_is_dropped_in_every_state(net: NetHost, state: str) -> None:
    client, xid = bring_to(net, state)
    for how, counter in WRONG.values():
        expect_nothing(client, answer(KIND[state], **{"xid": xid} | how), counter)


@pytest.mark.parametrize("state", KIND)
def test_lease_that_can_not_be_is_dropped_in_every_state(net: NetHost, state: str) -> None:
    client, xid = bring_to(net, state)
    for how in BAD_LEASES.values():
        expect_nothing(client, answer(KIND[state], xid, **how), "LEASE")


def test_offer_without_a_server_is_dropped(net: NetHost) -> None:
    client, xid = bring_to(net, "selecting")
    for server in (None, "0.0.0.0", "255.255.255.255"):
        expect_nothing(client, answer("offer", xid, server_id=server), "LEASE")


@pytest.mark.parametrize("state", UNASKED)
def test_answer_that_was_not_asked_for_is_dropped(net: NetHost, state: str) -> None:
    client, xid = bring_to(net, state)
    for kind in UNASKED[state]:
        # Who gives its lease back has taken a new number.
        expect_nothing(client, answer(kind, xid), "OTHERS" if state == "releasing" else "UNASKED")


@pytest.mark.parametrize("kind", ["ack", "nak"])
@pytest.mark.parametrize("state", ["requesting", "renewing"])
def test_only_the_server_that_was_asked_may_answer(net: NetHost, state: str, kind: str) -> None:
    client, xid = bring_to(net, state)
    for server in (None, OTHER_SERVER, LEASED):
        expect_nothing(client, answer(kind, xid, server_id=server), "SERVER")


@pytest.mark.parametrize("state", ["requesting", "renewing", "rebinding"])
def test_acknowledgement_of_another_address_is_dropped(net: NetHost, state: str) -> None:
    client, xid = bring_to(net, state)
    expect_nothing(client, answer("ack", xid, bootp={"yiaddr": "192.0.2.78"}), "LEASE")


def test_second_offer_and_repeated_answers_change_nothing(net: NetHost) -> None:
    client, xid = bring_to(net, "requesting")
    expect_nothing(client, answer("offer", xid), "UNASKED")
    other = answer("offer", xid, server_id=OTHER_SERVER, bootp={"yiaddr": "192.0.2.78"})
    expect_nothing(client, other, "UNASKED")
    client.net.receive(answer("ack", xid))
    expect_nothing(client, answer("ack", xid), "UNASKED")
    expect_nothing(client, answer("nak", xid), "UNASKED")


@pytest.mark.parametrize("state", KIND)
def test_answer_cut_off_anywhere_is_dropped(net: NetHost, state: str) -> None:
    client, xid = bring_to(net, state)
    good = answer(KIND[state], xid)[42:]
    for size in range(good.rindex(END)):
        datagram = udp(good[:size], sport=67, dport=68, dst="255.255.255.255")
        frame = ethernet(0x0800, datagram, to=ALL_MAC)
        expect_nothing(client, frame, "SHORT" if size < 240 else "OPTIONS")


@examples(300)
@given(options=st.binary(max_size=80), overload=st.binary(max_size=192), tail=st.booleans())
def test_options_are_read_as_their_definition_says(
    net_process: NetHost, options: bytes, overload: bytes, tail: bool
) -> None:
    net_process.reset()
    client, xid = bring_to(net_process, "selecting")
    if tail:
        options = TYPE["offer"] + SERVER_ID + LEASE + bytes([52, 1, 3]) + options + END
    fields = {"sname": overload[:64], "file": overload[64:]}
    frame = answer("offer", xid, bootp=fields, raw_options=options)
    counted = net_process.receive(frame).counted
    want = definition(options, overload[64:].ljust(128, b"\0"), overload[:64].ljust(64, b"\0"))
    assert ("DHCP_DROP_OPTIONS" in counted) == (want is None)
    if want is not None and want.get(53) != b"\x02":
        assert "DHCP_DROP_UNASKED" in counted
    net_process.check()


def definition(options: bytes, file: bytes, name: bytes) -> dict[int, bytes] | None:
    """The options by RFC 2132, or None if they break a rule."""
    sizes = {53: 1, 52: 1, 1: 4, 51: 4, 54: 4, 58: 4, 59: 4}
    found: dict[int, bytes] = {}

    def read(area: bytes) -> bool:
        rest = area
        while rest and rest[0] != 255:
            if rest[0] == 0:
                rest = rest[1:]
                continue
            if len(rest) < 2 or len(rest) < 2 + rest[1]:
                return False
            code, value = rest[0], rest[2 : 2 + rest[1]]
            if code in sizes and len(value) != sizes[code]:
                return False
            if code == 3 and (not value or len(value) % 4):
                return False
            found[code] = value
            rest = rest[2 + len(value) :]
        return bool(rest)

    if not read(options):
        return None
    areas = found.get(52, b"\0")[0]
    if areas & 1 and not read(file):
        return None
    if areas & 2 and not read(name):
        return None
    return found
