"""The terminal server and what waits: for an address, for a rule, for the line, or for no good."""

from __future__ import annotations

from scapy.layers.l2 import ARP, Ether
from terminal_frames import (
    GAP,
    HERE,
    HERE_MAC,
    READY,
    THERE,
    THERE_MAC,
    Conversation,
    Talk,
    control_frame,
    data_frame,
    peer_is_here,
    udp_frame,
)

from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command, Item
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame, UartBytes

PORTS = 4
ECHO_PORT = 7
ASK_COUNTERS = Item(Command.COUNTERS)


def test_a_purge_throws_away_and_counts(system):
    talk = Conversation(
        system,
        control_frame(0, peer_is_here(), protocol.number(Command.PACK_TIME, 0)),
    )
    purge = control_frame(0, protocol.number(Command.PURGE_DATA, protocol.Purge.RECEIVED))
    frames = [
        Frame(purge, talk.start + 100_000),
        Frame(control_frame(0, protocol.number(Command.PACK_TIME, 100)), talk.start + 200_000),
        Frame(control_frame(0, ASK_COUNTERS), talk.start + 500_000),
    ]
    uart = [
        UartBytes(1, b"thrown away", talk.start),
        UartBytes(1, b"kept", talk.start + 300_000),
    ]
    said = talk.run(frames, uart)
    assert said.bytes_of(0) == b"kept"
    assert said.counters(0)["PURGED_BYTES"] == len(b"thrown away")


def test_a_purge_of_what_is_to_be_sent_leaves_the_board_alive(system):
    talk = Conversation(system, control_frame(0, peer_is_here()))
    purge = control_frame(0, protocol.number(Command.PURGE_DATA, protocol.Purge.TRANSMIT))
    frames = [
        Frame(data_frame(bytes(1000), 0), talk.start),
        Frame(purge, talk.start + GAP),
        Frame(data_frame(b"behind it", 0), talk.start + 2 * GAP),
        Frame(udp_frame(b"there?", ECHO_PORT, 77), talk.start + 3 * GAP),
        Frame(control_frame(0, ASK_COUNTERS), talk.start + 4 * GAP),
    ]
    said = talk.run(frames)
    assert [each.payload for each in said.datagrams if each.source == ECHO_PORT] == [b"there?"]
    sent = said.result.uart(1)
    assert sent.endswith(b"behind it")
    counters = said.counters(0)
    # The line goes on while they are counted.
    assert abs(1000 - counters["PURGED_BYTES"] - (len(sent) - len(b"behind it"))) <= 1
    assert counters["TRANSMIT_BYTES"] == 1000 + len(b"behind it")


def test_a_timeout_that_was_set_is_over_with_its_rule(system):
    """Without a rule of time only a FIFO that fills calls."""
    rules = [protocol.number(Command.PACK_TIME, time_us) for time_us in (100, 0)]
    talk = Conversation(
        system,
        control_frame(0, peer_is_here()),
        *(control_frame(0, rule) for rule in rules),
    )
    uart = [UartBytes(1, b"x", talk.start + 10_000 * index) for index in range(40)]
    said = talk.run([Frame(control_frame(0, ASK_COUNTERS), talk.start + 500_000)], uart)
    assert said.counters(0)["INTERRUPTS"] < 10


def test_ports_with_one_peer_lose_nothing_while_its_address_is_asked_for(system):
    begin = READY + PORTS * GAP
    answer = ARP(op=2, hwsrc=THERE_MAC, psrc=THERE, hwdst=HERE_MAC, pdst=HERE)
    frames = [
        *(Frame(control_frame(port, peer_is_here()), READY + port * GAP) for port in range(PORTS)),
        # Later than the packets are full.
        Frame(bytes(Ether(src=THERE_MAC, dst=HERE_MAC) / answer), begin + 1_500_000),
        *(
            Frame(control_frame(port, ASK_COUNTERS), begin + 2_000_000 + port * GAP)
            for port in range(PORTS)
        ),
    ]
    texts = [b"hello from %d" % port for port in range(PORTS)]
    uart = [UartBytes(1 + port, text, begin) for port, text in enumerate(texts)]
    run = system.run(cycles=40_000_000, frames=frames, uart=uart, until=Until(quiet_cycles=300_000))
    said = Talk(run)
    assert [said.bytes_of(port) for port in range(PORTS)] == texts
    assert all(said.counters(port)["NOT_SENT_PACKETS"] == 0 for port in range(PORTS))
