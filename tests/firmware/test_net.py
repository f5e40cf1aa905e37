"""The receive path, frame by frame: golden frames, lying lengths, every truncation, mutations."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from host_build import examples
from hypothesis import given
from hypothesis import strategies as st
from net_frames import (
    PEER,
    PEER_MAC,
    arp_request,
    ethernet,
    frames_of_every_kind,
    icmp_echo,
    ipv4,
    mutations,
    udp,
)
from net_host import ADDRESS, DRIVERS, MAC, NetHost
from net_malformed import MALFORMED
from net_reference import ECHO_PORT, Outcome, checksum, classify, ones_sum
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw


@pytest.fixture
def echo(net_process: NetHost) -> NetHost:
    """A stack with an echo socket."""
    net_process.reset()
    assert net_process.bind(0, ECHO_PORT, "echo") == 0
    return net_process


def expect(net: NetHost, frame: bytes, outcome: Outcome, *, driver: str = "plain") -> None:
    """Feeds a frame and compares counters and reply with ``outcome``."""
    net.command("refill")
    answer = net.receive(frame, driver=driver)
    (end,) = answer.counted.keys() - outcome.events
    assert end in outcome.counter.split("|")
    assert outcome.events <= answer.counted.keys()
    assert [reply.hex() for reply in answer.sent] == (
        [outcome.reply.hex()] if outcome.reply else []
    )


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_frame_is_dropped_and_counted(echo: NetHost, name: str, driver: str) -> None:
    frame, counter = MALFORMED[name]
    outcome = classify(frame)
    assert outcome.counter == counter, "the reference disagrees with the list"
    expect(echo, frame, outcome, driver=driver)
    echo.check()


def test_frames_beyond_the_allowance_wait_until_more_are_allowed(echo: NetHost) -> None:
    frame = ethernet(0x0800, udp(b"x"))
    echo.command("allow 2")
    answers = [echo.receive(frame, exact=False) for _ in range(4)]
    assert [answer.words("due") for answer in answers] == [["1"], ["1"], ["0"], ["0"]]
    assert [len(answer.sent) for answer in answers] == [1, 1, 0, 0]
    assert echo.audit()["pending"] == 0
    answer = echo.command("allow 1")
    assert (len(answer.sent), answer.words("held")) == (1, ["1"])
    answer = echo.command("allow 8")
    assert (len(answer.sent), answer.words("held")) == (1, ["0"])
    echo.check()


@pytest.mark.parametrize("name", frames_of_every_kind())
def test_frame_cut_off_at_every_length_is_dropped(echo: NetHost, name: str) -> None:
    frame = frames_of_every_kind()[name]
    for length in range(len(frame)):
        for driver in DRIVERS:
            expect(echo, frame[:length], classify(frame[:length]), driver=driver)
    echo.check()


@pytest.mark.parametrize("name", frames_of_every_kind())
def test_trailing_bytes_change_nothing_but_padding(echo: NetHost, name: str) -> None:
    frame = frames_of_every_kind()[name]
    for extra in (1, 2, 3, 17, 46, 400):
        padded = frame + bytes(range(1, 256))[:extra].ljust(extra, b"\x55")
        if len(padded) <= 1514:
            for driver in DRIVERS:
                expect(echo, padded, classify(padded), driver=driver)
    echo.check()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 17, 18, 19, 20, 21, 22, 23, 100, 1471, 1472])
def test_udp_echo_is_what_scapy_would_send(echo: NetHost, size: int) -> None:
    payload = bytes(i * 7 & 255 for i in range(size))
    frame = ethernet(0x0800, udp(payload, sport=4711))
    for driver in DRIVERS:
        (reply,) = echo.receive(frame, driver=driver).sent
        want = Ether(src=MAC, dst=PEER_MAC) / IP(src=ADDRESS, dst=PEER, id=Ether(frame)[IP].id)
        want /= UDP(sport=ECHO_PORT, dport=4711) / Raw(payload)
        assert reply == bytes(want)


@pytest.mark.parametrize("ttl", [0, 1, 63, 64, 65, 128, 255])
def test_reply_leaves_with_our_time_to_live(echo: NetHost, ttl: int) -> None:
    for frame in (ipv4(udp(b"abc", raw=True), ttl=ttl), icmp_echo(b"abc", ttl=ttl)):
        (reply,) = echo.receive(frame).sent
        parsed = Ether(reply)
        assert parsed[IP].ttl == 64
        field = parsed[IP].chksum
        del parsed[IP].chksum
        assert Ether(bytes(parsed))[IP].chksum == field


def test_udp_checksum_0_means_none_and_stays_0(echo: NetHost) -> None:
    (reply,) = echo.receive(ethernet(0x0800, udp(b"abc", chksum=0))).sent
    assert Ether(reply)[UDP].chksum == 0


def test_udp_length_below_ip_payload_is_taken_at_its_word(echo: NetHost) -> None:
    inner = UDP(sport=9, dport=ECHO_PORT, len=11) / Raw(b"abcdefgh")
    whole = IP(src=PEER, dst=ADDRESS, proto=17) / Raw(bytes(8))
    pseudo = bytes(IP(bytes(whole)))[12:20] + b"\0\x11\0\x0b"
    inner[UDP].chksum = 0
    inner[UDP].chksum = checksum(pseudo + bytes(inner)[:11])
    frame = ipv4(bytes(inner), proto=17)
    for driver in DRIVERS:
        answer = echo.receive(frame, driver=driver)
        assert answer.words("callback") == ["0", PEER, "9", b"abc".hex()]
        expect(echo, frame, classify(frame), driver=driver)


@pytest.mark.parametrize("size", [0, 1, 55, 56, 1471, 1472])
def test_ping_is_answered_as_scapy_would(echo: NetHost, size: int) -> None:
    frame = icmp_echo(bytes(i & 255 for i in range(size)), id=0x1234, seq=7)
    for driver in DRIVERS:
        (reply,) = echo.receive(frame, driver=driver).sent
        want = Ether(frame)
        want[Ether].src, want[Ether].dst = MAC, PEER_MAC
        want[IP].src, want[IP].dst = ADDRESS, PEER
        want[ICMP].type = 0
        del want[IP].chksum, want[ICMP].chksum
        assert reply == bytes(want)


@pytest.mark.parametrize("data", [b"", bytes(18), b"\xff\xff"], ids=["empty", "zeros", "ones"])
def test_ping_whose_reply_sums_to_zero_gets_a_checksum_that_verifies(
    echo: NetHost, data: bytes
) -> None:
    (reply,) = echo.receive(icmp_echo(data, id=0, seq=0)).sent
    message = reply[34 : 34 + 8 + len(data)]
    assert ones_sum(message) == 0xFFFF


def test_arp_request_is_answered_as_scapy_would(echo: NetHost) -> None:
    for driver in DRIVERS:
        (reply,) = echo.receive(arp_request(), driver=driver).sent
        want = Ether(src=MAC, dst=PEER_MAC) / ARP(
            op=2, hwsrc=MAC, psrc=ADDRESS, hwdst=PEER_MAC, pdst=PEER
        )
        assert reply == bytes(want)


@examples(1000)
@given(frame=mutations(), driver=st.sampled_from(DRIVERS))
def test_mutated_frame_is_treated_as_the_reference_says(
    net_process: NetHost, frame: bytes, driver: str
) -> None:
    net_process.reset()
    net_process.bind(0, ECHO_PORT, "echo")
    expect(net_process, frame, classify(frame), driver=driver)
    net_process.check()


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_datagram_with_any_bit_of_its_addresses_changed_is_for_another(
    echo: NetHost, driver: str
) -> None:
    ours, host = int(MAC.replace(":", ""), 16), int(IPv4Address(ADDRESS))
    for bit in range(48):
        mac = (ours ^ 1 << bit).to_bytes(6, "big").hex(":")
        frame = ethernet(0x0800, udp(bytes(18), dport=ECHO_PORT), to=mac)
        expect(echo, frame, classify(frame), driver=driver)
    for bit in range(32):
        address = str(IPv4Address(host ^ 1 << bit))
        frame = ethernet(0x0800, udp(bytes(18), dport=ECHO_PORT, dst=address))
        expect(echo, frame, classify(frame), driver=driver)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(
    "source", ["0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "255.255.255.255", ADDRESS]
)
def test_a_datagram_from_what_is_no_host_is_dropped(
    echo: NetHost, driver: str, source: str
) -> None:
    frame = ethernet(0x0800, udp(bytes(18), dport=ECHO_PORT, src=source))
    assert echo.receive(frame, driver=driver).counted == {"IPV4_DROP_SOURCE": 1}
