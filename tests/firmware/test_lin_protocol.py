"""Reports of LIN nodes to hosts, and diagnostic requests: LIN's part of the protocol service."""

from __future__ import annotations

import re

import pytest
from lin_ports import PEER, Ports
from lin_reference import REQUEST, RESPONSE
from lin_reference import checksum as reference_checksum
from net_host import config

from tierv.sim.host.lin import ALL_PORTS, Counter, Failure, Outcome, Record, Request

REPORTS, WATCHERS = config("LIN_REPORTS"), config("LIN_WATCHERS")
#: Reports of a datagram.
MOST_TOLD = 16
OTHER = (0x0A00_0003, 1)


@pytest.fixture
def watched(ports: Ports) -> Ports:
    """Port 0 is a responder, which two hosts watch."""
    ports.tell("lin 0 on 19200")
    ports.watch()
    ports.watch(peer=OTHER)
    return ports


def test_reports_that_nobody_takes_in_time_are_counted(ports):
    ports.tell("lin 0 on 19200")
    ports.watch()
    for turn in range(3):
        for byte in range(REPORTS + 1 + turn):
            ports.bad_sync(0, byte)
            assert ports.told("posted") == [[]]
        assert ports.told_reports() == [
            (Outcome.BAD_SYNC, byte, bytes([byte])) for byte in range(REPORTS)
        ]
    assert ports.count(0, Counter.REPORTS_LOST) == 1 + 2 + 3
    assert ports.reports() == []


def test_nobody_is_told_what_he_does_not_watch(ports):
    for port in range(3):
        ports.tell(f"lin {port} on 19200")
    other = (0x0A00_0003, 65535)
    ports.watch(0)
    ports.watch(1, other)
    for port in range(3):
        ports.bad_sync(port, port)
    (first, (one,)), (second, (two,)) = ports.reports()
    assert (first, one.port, one.data) == (PEER, 0, b"\0")
    assert (second, two.port, two.data) == (other, 1, b"\x01")
    # Nobody watches any more.
    for peer in (PEER, other):
        ports.request(Record(Request.UNWATCH, ALL_PORTS), peer=peer)
    ports.bad_sync(0, 0)
    assert ports.reports() == []


def test_who_has_no_port_of_his_own_can_not_watch(ports):
    (answer,) = ports.request(Record(Request.WATCH, 0), peer=(PEER[0], 0))
    assert answer.failure is Failure.NO_NODE
    ports.tell("lin 0 on 19200")
    ports.bad_sync(0, 0)
    assert ports.reports() == []


def test_reports_for_the_same_watchers_go_together_up_to_a_limit(ports):
    peers = [(0x0A00_0002 + index, 1000 + index) for index in range(WATCHERS)]
    for port in range(3):
        ports.tell(f"lin {port} on 19200")
    for peer in peers:
        ports.watch(peer=peer)
    for port in range(3):
        for byte in range(REPORTS):
            ports.bad_sync(port, byte)
    found = ports.reports()
    assert [peer for peer, _ in found] == peers * 2
    told = [(port, bytes([byte])) for port in range(3) for byte in range(REPORTS)]
    for _, records in found[:WATCHERS]:
        assert [(record.port, record.data) for record in records] == told[:MOST_TOLD]
    for _, records in found[WATCHERS:]:
        assert [(record.port, record.data) for record in records] == told[MOST_TOLD:]


def test_reports_that_nobody_watches_do_not_part_the_others(ports):
    for port in range(3):
        ports.tell(f"lin {port} on 19200")
        ports.bad_sync(port, port)
    ports.watch(0)
    ports.watch(2)
    ((_, records),) = ports.reports()
    assert [record.port for record in records] == [0, 2]


def test_what_can_not_be_told_for_want_of_packets_is_counted(watched):
    watched.do("spare", 1)
    for byte in range(3):
        watched.bad_sync(0, byte)
    ((peer, records),) = watched.reports()
    assert (peer, len(records)) == (PEER, 3)
    assert watched.number("lost") == 3
    watched.do("spare", 2)
    watched.bad_sync(0, 7)
    assert [(peer, len(records)) for peer, records in watched.reports()] == [(PEER, 1), (OTHER, 1)]


def records_of(found):
    """Bytes that reports to the same host tell, and that host."""
    return [(peer, [record.data for record in records]) for peer, records in found]


def test_reports_to_a_neighbour_that_is_asked_for_wait_for_it_and_others_do_not(watched):
    watched.do("unknown", PEER[0])
    for byte in range(4):
        watched.bad_sync(0, byte)
        assert records_of(watched.reports()) == [(OTHER, [bytes([byte])])]
    assert records_of(watched.found_neighbour()) == [(PEER, [b"\0"])]
    assert records_of(watched.reports()) == [(PEER, [b"\1", b"\2", b"\3"])]
    assert watched.reports() == []
    assert watched.number("lost") == 0


def test_the_newest_reports_to_a_neighbour_that_does_not_answer_are_counted_as_lost(ports):
    ports.tell("lin 0 on 19200")
    ports.watch()
    ports.do("unknown", PEER[0])
    for byte in range(1 + MOST_TOLD + 3):
        ports.bad_sync(0, byte)
        assert ports.reports() == []
    assert ports.number("lost") == 3
    assert records_of(ports.found_neighbour()) == [(PEER, [b"\0"])]
    kept = [bytes([byte]) for byte in range(1, 1 + MOST_TOLD)]
    assert records_of(ports.reports()) == [(PEER, kept)]


def test_reports_to_a_neighbour_that_can_not_be_asked_for_are_counted_as_lost(watched):
    watched.do("refused", PEER[0])
    for byte in range(2):
        watched.bad_sync(0, byte)
        assert records_of(watched.reports()) == [(OTHER, [bytes([byte])])]
    assert watched.number("lost") == 2
    watched.do("refused", 0)
    watched.bad_sync(0, 2)
    assert records_of(watched.reports()) == [(PEER, [b"\2"]), (OTHER, [b"\2"])]


def test_reports_that_wait_do_not_go_to_whoever_watches_in_the_place_of_another(ports):
    ports.tell("lin 0 on 19200")
    ports.watch()
    ports.do("unknown", PEER[0])
    for byte in range(3):
        ports.bad_sync(0, byte)
        ports.reports()
    ports.request(Record(Request.UNWATCH, ALL_PORTS))
    ports.watch(peer=OTHER)
    ports.bad_sync(0, 3)
    assert records_of(ports.reports()) == [(OTHER, [b"\3"])]
    assert ports.number("lost") == 2
    ports.found_neighbour()
    assert ports.reports() == []


def test_a_datagram_that_is_none_is_answered(ports):
    ports.do("datagram", 7200, *PEER, "-")
    ((address, port, payload),) = ports.told("reply")
    assert (int(address), int(port)) == PEER
    assert re.fullmatch("c0000000" + f"{Failure.MALFORMED:08x}" + "0" * 16, payload)


#: Read the product identification of whoever is there, of any supplier.
READ_BY_IDENTIFIER = bytes.fromhex("06b200ff7fffff")


def test_a_request_of_the_commander_is_answered_under_the_next_header(ports):
    ports.tell("lin 0 on 19200")
    ports.tell("lin 0 identity 0x11 0x1234 0x5678 0x9a 77")
    ports.frame(0, REQUEST, b"\x11" + READ_BY_IDENTIFIER)
    assert ports.header(0, RESPONSE) == []
    ports.do("protocol")
    content = bytes.fromhex("1106f2341278569a")
    assert ports.response(0, RESPONSE) == content + bytes([reference_checksum(content)])
    # Once.
    assert ports.header(0, RESPONSE) == []


def test_another_request_takes_the_place_of_a_response_that_waits(ports):
    ports.tell("lin 0 on 19200")
    ports.tell("lin 0 identity 0x11 1 2 3 4")
    ports.frame(0, REQUEST, b"\x11" + READ_BY_IDENTIFIER)
    ports.do("protocol")
    # Another node's.
    ports.frame(0, REQUEST, b"\x12" + READ_BY_IDENTIFIER)
    ports.do("protocol")
    assert ports.header(0, RESPONSE) == []


def test_only_requests_that_came_well_are_carried_out(ports):
    ports.tell("lin 0 on 19200")
    ports.tell("lin 0 subscribe 0x21 8")
    request = b"\x01" + READ_BY_IDENTIFIER
    ports.frame(0, 0x21, request)
    ports.header(0, REQUEST)
    for byte in [*request, reference_checksum(request) ^ 1]:
        ports.burst(0, bytes([byte]))
    ports.do("protocol")
    assert ports.header(0, RESPONSE) == []
    # A commander's own requests are for others.
    ports.tell("lin 1 on 19200 commander")
    ports.request(Record(Request.SET, 1, REQUEST, request))
    assert ports.response(1, REQUEST)[:8] == request
    ports.do("protocol")
    assert ports.header(1, RESPONSE) == []
