"""The firmware's services on the whole SoC, in every build and on another CPU."""

from __future__ import annotations

import pytest
from checksums import check_checksums
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw
from system_builds import READY

from tierv.sim.run import Until
from tierv.sim.stimulus import Frame, FrameFlag, UartBytes

HERE, THERE = "192.168.1.50", "192.168.1.100"
HERE_MAC, THERE_MAC = "10:e2:d5:00:00:01", "02:00:00:00:00:01"
ECHO, DISCARD, SOURCE, SETTINGS, COMMANDS, FAST_ECHO, LIN = 7, 9, 19, 7000, 7100, 7107, 7200
#: PicoRV32's build answers by then.
LATE_READY = 900_000
GAP = 60_000
QUIET = 400_000


def to_board(content: Packet, **addresses: str) -> bytes:
    header = Ether(**{"dst": HERE_MAC, "src": THERE_MAC} | addresses)
    return bytes(header / content)


def udp(payload: bytes, port: int, **fields: int) -> bytes:
    packet = IP(src=THERE, dst=HERE) / UDP(sport=4711, dport=port, **fields) / Raw(payload)
    return to_board(packet)


def arp_request() -> bytes:
    return to_board(ARP(hwsrc=THERE_MAC, psrc=THERE, pdst=HERE), dst="ff:ff:ff:ff:ff:ff")


def exchange(
    system, frames: list[bytes | Frame], *, ready: int = READY, **arguments
) -> list[Ether]:
    """Send frames from the cycle ``ready`` on, well apart; returns what comes back, all of it well
    formed."""
    timed = []
    for index, frame in enumerate([arp_request(), *frames]):
        if isinstance(frame, bytes):
            frame = Frame(frame)
        cycle = ready + index * GAP
        timed.append(Frame(frame.data, cycle, frame.flags, frame.gap_nibbles))
    result = system.run(
        cycles=20_000_000, frames=timed, until=Until(quiet_cycles=QUIET), **arguments
    )
    assert all(frame.errors == 0 for frame in result.frames)
    answers = [Ether(frame.data) for frame in result.frames]
    assert answers[0][ARP].hwsrc == HERE_MAC
    assert answers[0][ARP].psrc == HERE
    return answers[1:]


def check_ping(system, size: int) -> None:
    data = bytes(index & 0xFF for index in range(size))
    request = IP(src=THERE, dst=HERE) / ICMP(type=8, id=7, seq=3) / Raw(data)
    (answer,) = exchange(system, [to_board(request)])
    assert (answer[IP].src, answer[IP].dst) == (HERE, THERE)
    assert (answer[ICMP].type, answer[ICMP].id, answer[ICMP].seq) == (0, 7, 3)
    assert bytes(answer[ICMP].payload)[:size] == data
    check_checksums(answer)


@pytest.mark.parametrize("size", [0, 1, 57, 1472])
def test_ping_is_answered(system, size):
    check_ping(system, size)


@pytest.mark.parametrize("build", ["single", "vexriscv"])
def test_ping_is_answered_with_one_context(systems, build):
    check_ping(systems(build), 57)


@pytest.mark.parametrize("port", [ECHO, FAST_ECHO])
def test_datagrams_of_all_lengths_come_back(system, port):
    payloads = [bytes((n + index) & 0xFF for index in range(n)) for n in (0, 1, 18, 64, 511, 1472)]
    answers = exchange(system, [udp(payload, port) for payload in payloads])
    assert len(answers) == len(payloads)
    for answer, payload in zip(answers, payloads, strict=True):
        assert (answer[UDP].sport, answer[UDP].dport) == (port, 4711)
        assert answer[UDP].len == 8 + len(payload)
        assert bytes(answer[UDP].payload)[: len(payload)] == payload
        check_checksums(answer)


@pytest.mark.slow
def test_a_core_with_interrupts_of_its_own_kind_is_polled(systems):
    system = systems("picorv32")
    ping = to_board(IP(src=THERE, dst=HERE) / ICMP(type=8, id=7, seq=3) / Raw(b"abc"))
    pong, *echoes = exchange(
        system, [ping, udp(b"one", ECHO), udp(b"two", FAST_ECHO)], ready=LATE_READY
    )
    assert pong[ICMP].type == 0
    assert [bytes(echo[UDP].payload)[:3] for echo in echoes] == [b"one", b"two"]
    said = system.run(
        cycles=20_000_000,
        uart=[UartBytes(0, b"ifconfig\n", LATE_READY)],
        until=Until(quiet_cycles=QUIET),
    )
    assert HERE in said.uart(0).decode()


def test_a_burst_at_line_rate_comes_back_whole_and_in_order(system):
    payloads = [index.to_bytes(4, "big") * 100 for index in range(8)]
    frames = [Frame(udp(payload, FAST_ECHO), READY + GAP) for payload in payloads]
    result = system.run(
        cycles=20_000_000,
        frames=[Frame(arp_request(), READY), *frames],
        until=Until(quiet_cycles=QUIET),
    )
    echoes = [Ether(frame.data) for frame in result.frames[1:]]
    assert [bytes(echo[UDP].payload) for echo in echoes] == payloads


def test_the_source_sends_what_is_asked_for(system):
    answers = exchange(system, [udp(text, SOURCE) for text in (b"5 100", b"2 4\r\n", b"1 3")])
    assert [answer[UDP].len - 8 for answer in answers] == [100] * 5 + [4] * 2 + [3]
    numbers = [int.from_bytes(bytes(answer[UDP].payload)[:4], "big") for answer in answers[:7]]
    assert numbers == [5, 4, 3, 2, 1, 2, 1]
    for answer in answers:
        check_checksums(answer)


def test_who_asks_from_beyond_the_subnet_is_answered_in_full_without_arp(system):
    far = "10.9.9.9"
    requests = [
        to_board(IP(src=far, dst=HERE) / UDP(sport=4711, dport=port) / Raw(text))
        for port, text in ((SOURCE, b"5 100"), (COMMANDS, b"1 help"))
    ]
    answers = exchange(system, requests)
    assert {(answer.dst, answer[IP].dst) for answer in answers} == {(THERE_MAC, far)}
    assert [answer[UDP].sport for answer in answers[:5]] == [SOURCE] * 5
    (said,) = answers[5:]
    assert said[UDP].sport == COMMANDS
    assert bytes(said[UDP].payload).split()[:3] == [b"1", b"0", b"ok"]


def test_services_do_not_answer_a_service_of_another_board(system):
    services = (ECHO, SOURCE, SETTINGS, COMMANDS, FAST_ECHO, LIN)
    frames = [
        to_board(IP(src=THERE, dst=HERE) / UDP(sport=source, dport=port) / Raw(b"1 100"))
        for port in services
        for source in (ECHO, LIN)
    ]
    (answer,) = exchange(system, [*frames, udp(b"x", FAST_ECHO)])
    assert (answer[UDP].sport, answer[UDP].dport) == (FAST_ECHO, 4711)


def test_the_source_refuses_a_request_that_can_not_be_answered(system):
    nobody = IP(src=THERE, dst=HERE) / UDP(sport=0, dport=SOURCE) / Raw(b"5 100")
    # The third would be 1 and the fourth 0 modulo 2^32.
    bad = (b"5", b"5 1473", b"4294967297 9", b"5 4294967296", b"5 100 1", b"-5 1")
    frames = [arp_request(), udp(b"2 100", SOURCE), to_board(nobody)]
    frames += [udp(text, SOURCE) for text in bad]
    result = system.run(
        cycles=20_000_000,
        frames=[Frame(frame, READY + GAP * index) for index, frame in enumerate(frames)],
        get=["source_bad_requests"],
        until=Until(quiet_cycles=QUIET),
    )
    assert result.values == {"source_bad_requests": 1 + len(bad)}
    assert len(result.frames) == 3


def test_the_sink_counts(system):
    frames = [Frame(arp_request(), READY)]
    frames += [Frame(udp(bytes(100), DISCARD), READY + GAP * n) for n in range(1, 4)]
    result = system.run(
        cycles=20_000_000,
        frames=frames,
        get=["discarded_datagrams", "discarded_bytes"],
        until=Until(quiet_cycles=QUIET),
    )
    assert result.values == {"discarded_datagrams": 3, "discarded_bytes": 300}


def test_what_is_wrong_is_dropped_and_the_next_datagram_is_answered(system):
    good = udp(b"still here", ECHO)
    lying = bytearray(good)
    lying[16:18] = (1400).to_bytes(2, "big")
    bad = [
        Frame(good, flags=FrameFlag.BAD_FCS),
        Frame(good, flags=FrameFlag.NO_DELIMITER),
        Frame(good[:20], flags=FrameFlag.NO_PAD),
        udp(b"wrong sum", ECHO, chksum=0x1234),
        bytes(lying),
        to_board(IP(src=THERE, dst=HERE, flags="MF") / UDP(dport=ECHO) / Raw(b"fragment")),
        bytes(range(256)) * 7,
    ]
    answers = exchange(system, [*bad, good])
    assert [bytes(answer[UDP].payload)[:10] for answer in answers] == [b"still here"]


def test_a_closed_port_is_reported_to_the_sender(system):
    question = udp(b"nobody listens", 4242)
    (answer,) = exchange(system, [question])
    assert (answer[ICMP].type, answer[ICMP].code) == (3, 3)
    assert bytes(answer[ICMP].payload) == question[14:]
    check_checksums(answer)


def test_a_group_is_joined_on_the_console_and_its_datagrams_arrive(system):
    group, mac = "239.1.2.3", "01:00:5e:01:02:03"
    packet = IP(src=THERE, dst=group) / UDP(sport=4711, dport=DISCARD) / Raw(b"all of you")
    frame = to_board(packet, dst=mac)
    typed = READY + 2 * GAP
    result = system.run(
        cycles=20_000_000,
        frames=[Frame(frame, READY), Frame(frame, typed + QUIET)],
        uart=[UartBytes(0, f"join {group}\n".encode(), cycle=typed)],
        get=["discarded_datagrams"],
        until=Until(quiet_cycles=QUIET),
    )
    assert result.values == {"discarded_datagrams": 1}
    (sent,) = result.frames
    assert sent.cycle < typed + QUIET, "at once, and not with what comes next"
    report = Ether(sent.data)
    assert (report.dst, report[IP].dst, report[IP].ttl) == (mac, group, 1)
    assert bytes(report[IP].payload)[:2] == b"\x16\0"


def test_the_console_says_what_it_is_without_being_asked(system):
    # Also if a frame has come before the firmware is ready.
    result = system.run(
        cycles=READY, frames=[Frame(arp_request(), cycle=1000)], limit_is_error=False
    )
    assert result.uart(0).decode().startswith("\r\nTierV on ")
    assert result.uart(0).endswith(b"tierv> ")


def test_the_console_runs_nothing_of_a_line_that_is_too_long(system):
    longest = b"ifconfig".ljust(95)
    lines = [longest + b" \n", longest + b"  \b\b\n"]
    uart = [UartBytes(0, line, READY + index * 2 * QUIET) for index, line in enumerate(lines)]
    result = system.run(cycles=20_000_000, uart=uart, until=Until(quiet_cycles=2 * QUIET))
    refused, run = result.uart(0).decode().split("tierv> ")[1:3]
    assert refused.split("\r\n")[1:] == ["error: a command has at most 95 bytes, not 96", ""]
    assert f"inet {HERE}" in run


def test_a_word_that_a_command_does_not_take_is_refused(system):
    commands = ["ifconfig eth0", "counters all", "serial 1", "dhcp on now"]
    answers = exchange(system, [udp(f"1 {command}".encode(), COMMANDS) for command in commands])
    for answer, command in zip(answers, commands, strict=True):
        *name, word = command.split()
        text = bytes(answer[UDP].payload)[: answer[UDP].len - 8].decode()
        assert text.partition("\n")[2] == f"error: a word too many behind {name[-1]}: '{word}'\n"


def test_the_console_shows_addresses_and_counters(system):
    uart = [UartBytes(0, b"ifconfig\ncounters\nnonsense\n", cycle=READY + 3 * GAP)]
    result = system.run(
        cycles=20_000_000,
        frames=[Frame(arp_request(), READY), Frame(udp(b"x", 4242), READY + GAP)],
        uart=uart,
        until=Until(quiet_cycles=2 * QUIET),
    )
    text = result.uart(0).decode()
    assert f"inet {HERE}  ether {HERE_MAC}" in text
    assert "netmask 255.255.255.0  gateway 0.0.0.0" in text
    assert "dhcp off" in text
    # The sender has been told.
    assert "received 2  transmitted 2" in text
    assert "UDP_DROP_PORT" in text
    assert "ICMP_UNREACHABLE_SENT" in text
    assert "no command 'nonsense'; try help" in text
    assert text.endswith("tierv> ")
