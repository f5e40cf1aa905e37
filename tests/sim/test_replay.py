"""Replay of captures: which frames go in, what --as-board changes, and the command."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_Router_Alert
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

from tierv.sim import replay_command
from tierv.sim.__main__ import main
from tierv.sim.pcap import read_pcap, write_pcap
from tierv.sim.records import RunEnd
from tierv.sim.replay import Address, Choice, readdress, replay_frames
from tierv.sim.result import RunResult
from tierv.sim.stimulus import Frame
from tierv.soc.params import SocParams

HZ = 100_000_000
BOARD = SocParams()
HOST, HOST_MAC = "192.168.1.20", "02:00:00:00:00:20"
DEVICE, DEVICE_MAC = "192.168.1.77", "02:00:00:00:00:77"
ALL = "ff:ff:ff:ff:ff:ff"


def frame(content: Packet, source: str = HOST_MAC, to: str = DEVICE_MAC) -> bytes:
    return bytes(Ether(src=source, dst=to) / content)


def udp(source: str, to: str, payload: bytes = b"hello", **fields) -> Packet:
    return IP(src=source, dst=to, **fields) / UDP(sport=4000, dport=7) / Raw(payload)


#: A host asks for a device and talks to it; the device answers.
CONVERSATION = (
    frame(ARP(hwsrc=HOST_MAC, psrc=HOST, pdst=DEVICE), to=ALL),
    frame(
        ARP(op=2, hwsrc=DEVICE_MAC, psrc=DEVICE, hwdst=HOST_MAC, pdst=HOST), DEVICE_MAC, HOST_MAC
    ),
    frame(udp(HOST, DEVICE)),
    frame(udp(DEVICE, HOST), DEVICE_MAC, HOST_MAC),
    frame(IP(src=HOST, dst=DEVICE) / ICMP(id=1) / Raw(bytes(32))),
)


@pytest.fixture
def capture(tmp_path):
    path = tmp_path / "conversation.pcap"
    write_pcap(path, [Frame(one, cycle=20_000 * n) for n, one in enumerate(CONVERSATION)], HZ)
    return path


def chosen(path, *, to=(), source=(), **arguments) -> list[bytes]:
    choice = Choice(*(frozenset(map(Address.parse, texts)) for texts in (to, source)))
    return [one.data for one in replay_frames(path, choice, BOARD, **arguments)[0]]


@pytest.mark.parametrize(
    ("to", "source", "numbers"),
    [
        ((), (), (0, 1, 2, 3, 4)),
        ((DEVICE,), (), (0, 2, 4)),
        ((DEVICE_MAC,), (), (2, 4)),
        ((DEVICE_MAC, ALL), (), (0, 2, 4)),
        ((), (DEVICE_MAC,), (1, 3)),
        ((), (HOST,), (0, 2, 4)),
        ((HOST_MAC.upper().replace(":", "-"),), (DEVICE,), (1, 3)),
    ],
)
def test_frames_of_either_direction_are_chosen_by_their_addresses(capture, to, source, numbers):
    assert chosen(capture, to=to, source=source) == [CONVERSATION[number] for number in numbers]


def test_a_choice_of_nothing_names_the_addresses_that_there_are(capture):
    with pytest.raises(ValueError, match=rf"among 5; sources: .*{HOST_MAC} \(3\).*; destinations:"):
        chosen(capture, to=("10.9.9.9",))


def test_a_capture_without_packets_is_refused(tmp_path):
    path = tmp_path / "none.pcap"
    write_pcap(path, [], HZ)
    with pytest.raises(ValueError, match=r"none\.pcap has no packets"):
        chosen(path)


def rebuilt(packet: Packet) -> bytes:
    """The packet with the checksums that scapy computes."""
    packet = packet.copy()
    for layer in (IP, UDP, TCP):
        if layer in packet:
            del packet[layer].chksum
    return bytes(packet)


@given(
    st.ip_addresses(v=4).filter(lambda address: not address.is_multicast).map(str),
    st.binary(max_size=40),
    st.sampled_from([UDP(sport=1, dport=2), TCP(sport=1, dport=2)]),
    st.booleans(),
)
def test_the_board_s_addresses_come_with_checksums_that_are_right(address, payload, layer, tagged):
    tag = Dot1Q(vlan=5) if tagged else None
    content = IP(src=HOST, dst=address, ttl=9) / layer / Raw(payload)
    before = frame(tag / content if tag else content)
    after = readdress(before, (), bytes(6), Address.parse("10.1.2.3").data)
    packet = Ether(after)
    assert (packet.dst, packet[IP].dst) == ("00:00:00:00:00:00", "10.1.2.3")
    assert after == rebuilt(packet) or 0xFFFF in (packet[IP].chksum, packet[layer.__class__].chksum)


@pytest.mark.parametrize(
    ("protocol", "layer"), [(17, UDP(sport=1, dport=2)), (6, TCP(sport=1, dport=2))]
)
def test_the_checksum_is_found_behind_options_and_in_a_first_fragment_only(protocol, layer):
    address = "10.1.2.3"

    def changed(content: Packet) -> tuple[bytes, bytes]:
        """The frame for the board, and one that was for it from the beginning."""
        content /= Raw(bytes(range(1, 41)))
        own = content.copy()
        own.dst = address
        after = readdress(frame(content), (), bytes(6), Address.parse(address).data)
        return after, frame(own, to="00:00:00:00:00:00")

    after, wanted = changed(IP(src=HOST, dst=DEVICE, options=IPOption_Router_Alert()) / layer)
    assert after == wanted
    after, wanted = changed(IP(src=HOST, dst=DEVICE, flags="MF") / layer)
    assert after == wanted
    # Data lies where the first one has its checksum.
    after, wanted = changed(IP(src=HOST, dst=DEVICE, proto=protocol, frag=9))
    assert after == wanted


def test_a_wrong_checksum_stays_wrong_and_none_stays_none():
    wrong = IP(src=HOST, dst=DEVICE) / UDP(sport=1, dport=2, chksum=0x1234) / Raw(b"x")
    none = IP(src=HOST, dst=DEVICE) / UDP(sport=1, dport=2, chksum=0) / Raw(b"x")
    for packet, right in ((wrong, False), (none, True)):
        after = Ether(readdress(frame(packet), (), bytes(6), bytes(4)))
        assert (after[UDP].chksum == 0) is right
        assert bytes(after) != rebuilt(after)


def test_a_checksum_of_udp_that_becomes_zero_is_not_taken_for_none():
    address = "10.1.2.3"
    # A payload with which the sum of what is right for the board is -0 (RFC 768).
    other = Ether(frame(udp(HOST, address, bytes(2))))[UDP].chksum
    payload = other.to_bytes(2, "big")
    after = readdress(frame(udp(HOST, DEVICE, payload)), (), bytes(6), Address.parse(address).data)
    assert Ether(after)[UDP].chksum == 0xFFFF
    assert after == frame(udp(HOST, address, payload), to="00:00:00:00:00:00")


@pytest.mark.parametrize("length", range(0, 44))
def test_short_frames_are_readdressed_as_far_as_they_go(length):
    cut = frame(udp(HOST, DEVICE))[:length]
    after = readdress(cut, (), bytes(6), bytes(4))
    assert len(after) == length
    assert after[6:24] == cut[6:24]


def test_a_broadcast_changes_only_where_it_is_about_the_chosen_device():
    to = (Address.parse(DEVICE),)
    address = Address.parse(BOARD.local_ip).data
    question = Ether(readdress(CONVERSATION[0], to, bytes(6), address))
    assert (question.dst, question[ARP].pdst) == (ALL, BOARD.local_ip)
    other = frame(ARP(hwsrc=HOST_MAC, psrc=HOST, pdst="192.168.1.9"), to=ALL)
    assert readdress(other, to, bytes(6), address) == other


def call(*words):
    return CliRunner().invoke(main, ["replay", *map(str, words)])


def test_firmware_that_ends_the_run_is_no_success(capture, monkeypatch):
    def die(_simulation, _program, **_) -> RunResult:
        nothing = np.empty(0)
        return RunResult(RunEnd.EXIT, 69, 9, 1.0, [], *[nothing] * 5, {})

    monkeypatch.setattr(replay_command.Simulation, "run", die)
    monkeypatch.setattr(replay_command, "stack_counters", lambda *_: {})
    done = call(capture, "--to", DEVICE, "--as-board")
    assert done.exit_code == 69
    assert "the firmware ended the run, exit code 69" in done.output


def test_the_soc_takes_the_device_s_part_in_a_conversation(capture, tmp_path):
    out = tmp_path / "out.pcap"
    done = call(
        capture, "--to", DEVICE, "--as-board", "--speed", 2, "--start-cycle", 300_000,
        "--quiet-cycles", 100_000, "--pcap", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    answers = [Ether(one.data) for one in read_pcap(out, HZ)]
    assert [one.dst for one in answers] == [HOST_MAC] * 3
    assert answers[0][ARP].psrc == BOARD.local_ip
    assert (answers[1][IP].src, bytes(answers[1][UDP].payload)[:5]) == (BOARD.local_ip, b"hello")
    assert answers[2][ICMP].type == 0
    words = done.output.split()
    assert words[words.index("ARP_ANSWERED") + 2] == "1"
    assert words[words.index("ICMP_ECHOED") + 2] == "1"
    # Five frames 20,000 cycles apart, the first and the last of them chosen, at twice the speed.
    assert "0.400" in words


def test_a_replay_may_end_at_once_after_the_last_frame(capture):
    done = call(capture, "--speed", 1000, "--start-cycle", 300_000, "--quiet-cycles", 1)
    assert done.exit_code == 0, done.output
    assert "frames to the SoC" in done.output


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (b"", (), "is empty"),
        (b"rubbish!", (), "must be a pcap or pcapng file"),
        (None, ("--speed", 0), "speed must be above 0, not 0.0"),
        (None, ("--speed", 1e-20), "packet 2: must come before cycle 2**63, not in "),
        (None, ("--to", "nobody"), "address must be a MAC or an IPv4 address, not 'nobody'"),
        (None, ("--from", "10.0.0.1"), "has no frame of that choice"),
    ],
)
def test_mistakes_are_explained(capture, content, words, message):
    if content is not None:
        capture.write_bytes(content)
    done = call(capture, *words)
    assert done.exit_code != 0
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_long_frame_is_named_by_its_number(tmp_path):
    path = tmp_path / "long.pcap"
    write_pcap(path, [Frame(bytes(60)), Frame(bytes(1515))], HZ)
    done = call(path)
    assert "packet 2: a frame must have 1514 bytes at the most, not 1515" in done.output
