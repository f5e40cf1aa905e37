"""Multicast: groups joined and left, IGMPv2 reports, queries of both versions, delays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from net_frames import (
    ALL_HOSTS,
    ALL_ROUTERS,
    LEAVE,
    PEER,
    QUERY,
    REPORT,
    REPORT_V1,
    ethernet,
    group_mac,
    igmp,
    udp,
)
from net_host import ADDRESS, MAC, NetHost, config
from scapy.layers.igmp import IGMP
from scapy.layers.inet import IP, IPOption_Router_Alert
from scapy.layers.l2 import Ether

GROUP, OTHER = "239.129.2.3", "239.1.2.4"
GROUPS = config("IGMP_GROUPS")
#: RFC 2236, section 8.
UNSOLICITED_REPORT_INTERVAL_S = 10
VERSION_1_ROUTER_PRESENT_S = 400


def message(kind: int, group: str, to: str) -> bytes:
    """What scapy would send."""
    content = bytes(IGMP(type=kind, mrcode=0, gaddr=group))
    ip = IP(src=ADDRESS, dst=to, ttl=1, id=0, flags="DF", proto=2, options=IPOption_Router_Alert())
    return bytes(Ether(src=MAC, dst=group_mac(to)) / ip / content).ljust(60, b"\0")


def join(net: NetHost, group: str = GROUP) -> list[bytes]:
    answer = net.command(f"join {group}")
    assert answer.result == 1
    return answer.sent


def until_report(net: NetHost, seconds: int) -> int:
    """Ticks until something is sent, which must be one report, or ``seconds`` + 1."""
    for second in range(1, seconds + 1):
        sent = net.tick().sent
        if sent:
            assert sent == [message(REPORT, GROUP, GROUP)]
            return second
    return seconds + 1


@pytest.fixture
def member(net: NetHost) -> Iterator[NetHost]:
    """A stack that has joined GROUP some time ago, with an application socket on port 4000."""
    join(net)
    assert until_report(net, UNSOLICITED_REPORT_INTERVAL_S) <= UNSOLICITED_REPORT_INTERVAL_S
    net.bind(0, 4000, "queue")
    return net


def test_joining_is_reported_at_once_and_again_within_ten_seconds(net: NetHost) -> None:
    assert join(net) == [message(REPORT, GROUP, GROUP)]
    assert until_report(net, UNSOLICITED_REPORT_INTERVAL_S) <= UNSOLICITED_REPORT_INTERVAL_S
    assert until_report(net, 60) > 60


def test_second_reports_are_spread(net: NetHost) -> None:
    delays = set()
    for seed in range(40):
        net.reset()
        net.command(f"stir {seed}")
        join(net)
        delays.add(until_report(net, UNSOLICITED_REPORT_INTERVAL_S))
    assert len(delays) > 5
    assert delays <= set(range(1, UNSOLICITED_REPORT_INTERVAL_S + 1))


def test_datagrams_to_a_joined_group_arrive_until_it_is_left(member: NetHost) -> None:
    frame = ethernet(0x0800, udp(b"all of you", dport=4000, dst=GROUP), to=group_mac(GROUP))
    assert member.receive(frame).counted == {"UDP_QUEUED": 1}
    assert member.take(0) == (PEER, 4711, b"all of you")
    assert member.command(f"leave {GROUP}").result == 1
    assert member.receive(frame).counted == {"ETHERNET_DROP_DESTINATION": 1}


def test_filter_takes_all_of_the_ethernet_address_and_all_of_the_group(member: NetHost) -> None:
    for to in ("01:00:5e:01:02:02", "01:00:5e:02:02:03", "01:00:5f:01:02:03", "03:00:5e:01:02:03"):
        frame = ethernet(0x0800, udp(b"x", dport=4000, dst=GROUP), to=to)
        assert member.receive(frame).counted == {"ETHERNET_DROP_DESTINATION": 1}
    # Thirty-two groups share each Ethernet address.
    for dst in ("239.1.2.3", "224.129.2.3", "239.129.2.2"):
        frame = ethernet(0x0800, udp(b"x", dport=4000, dst=dst), to=group_mac(GROUP))
        assert member.receive(frame).counted == {"IPV4_DROP_DESTINATION": 1}


def test_general_query_is_answered_within_its_time_and_at_random(member: NetHost) -> None:
    delays = set()
    for _ in range(60):
        answer = member.receive(igmp(QUERY, tenths=50))
        assert (answer.counted, answer.sent) == ({"IGMP_QUERIED": 1}, [])
        delays.add(until_report(member, 5))
    assert delays == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("tenths", [1, 9])
def test_query_that_wants_an_answer_within_a_second_gets_it_at_once(
    member: NetHost, tenths: int
) -> None:
    answer = member.receive(igmp(QUERY, GROUP, dst=GROUP, tenths=tenths))
    assert answer.sent == [message(REPORT, GROUP, GROUP)]
    assert answer.counted == {"IGMP_QUERIED": 1, "IGMP_REPORTED": 1}


def test_query_about_one_group_asks_for_that_alone(member: NetHost) -> None:
    join(member, OTHER)
    member.tick(UNSOLICITED_REPORT_INTERVAL_S)
    member.receive(igmp(QUERY, GROUP, dst=GROUP, tenths=10))
    assert member.tick().sent == [message(REPORT, GROUP, GROUP)]
    assert member.tick(5).sent == []


def test_general_query_asks_for_every_group(member: NetHost) -> None:
    join(member, OTHER)
    member.tick(UNSOLICITED_REPORT_INTERVAL_S)
    member.receive(igmp(QUERY, tenths=10))
    assert set(member.tick().sent) == {message(REPORT, group, group) for group in (GROUP, OTHER)}


def test_later_query_shortens_a_delay_but_does_not_lengthen_it(member: NetHost) -> None:
    for _ in range(20):
        member.receive(igmp(QUERY, tenths=255))
        member.receive(igmp(QUERY, tenths=10))
        member.receive(igmp(QUERY, tenths=255))
        assert until_report(member, 1) == 1


def test_another_members_report_makes_ours_needless(member: NetHost) -> None:
    for kind in (REPORT, REPORT_V1):
        member.receive(igmp(QUERY, tenths=100))
        answer = member.receive(igmp(kind, GROUP, dst=GROUP))
        assert answer.counted == {"IGMP_HEARD": 1}
        assert until_report(member, 20) > 20
    # The other was the last to report, so it is the one who tells the routers.
    assert member.command(f"leave {GROUP}").sent == []


def test_last_reporter_says_that_it_leaves(member: NetHost) -> None:
    answer = member.command(f"leave {GROUP}")
    assert answer.sent == [message(LEAVE, GROUP, ALL_ROUTERS)]
    assert answer.counted == {"IGMP_LEFT": 1}
    assert member.command(f"leave {GROUP}").result == 0


def test_group_that_is_left_before_its_second_report_is_not_reported_again(net: NetHost) -> None:
    join(net)
    assert net.command(f"leave {GROUP}").sent == [message(LEAVE, GROUP, ALL_ROUTERS)]
    assert until_report(net, 2 * UNSOLICITED_REPORT_INTERVAL_S) > 2 * UNSOLICITED_REPORT_INTERVAL_S


def test_group_joined_twice_is_left_the_second_time(member: NetHost) -> None:
    assert join(member) == []
    assert member.command(f"leave {GROUP}").sent == []
    assert member.command(f"leave {GROUP}").counted == {"IGMP_LEFT": 1}


def test_router_of_version_1_is_answered_in_its_version_and_told_no_leaving(
    member: NetHost,
) -> None:
    assert member.receive(igmp(QUERY, tenths=0)).counted == {"IGMP_QUERIED": 1}
    sent = [frame for _ in range(10) for frame in member.tick().sent]
    assert sent == [message(REPORT_V1, GROUP, GROUP)]
    member.tick(VERSION_1_ROUTER_PRESENT_S - 11)
    member.receive(igmp(QUERY, tenths=1))
    assert member.command(f"leave {GROUP}").sent == []
    assert join(member) == [message(REPORT_V1, GROUP, GROUP)]
    member.tick(UNSOLICITED_REPORT_INTERVAL_S)
    assert member.receive(igmp(QUERY, tenths=1)).sent == [message(REPORT, GROUP, GROUP)]


def test_all_hosts_group_is_always_there_and_never_reported(net: NetHost) -> None:
    assert join(net, ALL_HOSTS) == []
    net.receive(igmp(QUERY, tenths=10))
    assert net.tick(3).sent == []
    assert net.command(f"leave {ALL_HOSTS}").sent == []
    net.bind(0, 4000, "queue")
    frame = ethernet(0x0800, udp(b"x", dport=4000, dst=ALL_HOSTS), to=group_mac(ALL_HOSTS))
    assert net.receive(frame).counted == {"UDP_QUEUED": 1}


@pytest.mark.parametrize("address", ["10.0.0.5", "0.0.0.0", "255.255.255.255", "223.255.255.255"])
def test_what_is_no_group_can_not_be_joined(net: NetHost, address: str) -> None:
    assert net.command(f"join {address}").result == 0
    assert net.command(f"leave {address}").result == 0


def test_table_of_groups_has_an_end(net: NetHost) -> None:
    for index in range(GROUPS):
        join(net, f"239.0.0.{index}")
    assert net.command("join 239.0.1.0").result == 0
    net.command("leave 239.0.0.0")
    join(net, "239.0.1.0")


def test_groups_are_reported_under_a_new_address_and_not_without_one(member: NetHost) -> None:
    member.command("configure 0.0.0.0 0.0.0.0 0.0.0.0")
    member.receive(igmp(QUERY, tenths=10))
    assert member.tick(20).sent == []
    assert member.command(f"join {OTHER}").sent == []
    member.command("configure 10.0.0.9 255.255.255.0 0.0.0.0")
    sent = [Ether(frame) for frame in member.tick().sent]
    reports = [frame[IP] for frame in sent if IP in frame]
    assert {(report.src, report.dst) for report in reports} == {
        ("10.0.0.9", GROUP),
        ("10.0.0.9", OTHER),
    }


def test_report_without_a_free_packet_is_put_off(net: NetHost) -> None:
    net.bind(0, 4000, "queue")
    net.stall()
    assert net.command(f"join {GROUP}").counted == {"IGMP_NO_PACKET": 1}
    net.command("stall 0")
    assert net.tick().sent == [message(REPORT, GROUP, GROUP)]
