"""The terminal server and what waits: for an address, a rule, the line, a port, or for no good."""

from __future__ import annotations

from scapy.layers.l2 import ARP, Ether
from system_builds import READY
from terminal_frames import (
    GAP,
    HERE,
    HERE_MAC,
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
from tierv.sim.host.protocol import Command, Item, ModemState
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame, UartBytes

PORTS = 4
ECHO_PORT, COMMAND_PORT = 7, 7100
ASK_COUNTERS = Item(Command.COUNTERS)
#: Of a port's register EV_ENABLE.
CTS_EVENT = 1 << 3


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


def lin(talk: Conversation, begin: int, end: int) -> list[Frame]:
    """Port 0 is a LIN node from ``begin`` to ``end``, cycles of the conversation."""
    return [
        Frame(udp_frame(command, COMMAND_PORT, 77), talk.start + cycle)
        for command, cycle in ((b"1 lin 0 on 20000", begin), (b"2 lin 0 off", end))
    ]


def test_a_port_that_comes_back_sends_the_packet_that_it_had_begun(system):
    talk = Conversation(
        system, control_frame(0, peer_is_here(), protocol.number(Command.PACK_TIME, 0))
    )
    # The FIFO fills, so that there is something in the packet.
    begun = bytes(range(60))
    said = talk.run(lin(talk, 200_000, 400_000), [UartBytes(1, begun, talk.start)])
    (packet,) = said.data(0)
    assert packet.cycle > talk.start + 400_000
    assert packet.payload
    assert begun.startswith(packet.payload)


def test_a_port_that_comes_back_has_forgotten_what_found_no_packet(system):
    suspend, resume = Command.FLOWCONTROL_SUSPEND, Command.FLOWCONTROL_RESUME
    # The time is over with every sixth character, which is for the next packet; there are two.
    talk = Conversation(
        system,
        control_frame(0, peer_is_here(), protocol.number(Command.PACK_TIME, 50)),
        control_frame(0, Item(suspend)),
    )
    resumes = Frame(control_frame(0, Item(resume)), talk.start + 500_000)
    uart = [UartBytes(1, bytes(range(20)), talk.start), UartBytes(1, b"new", talk.start + 700_000)]
    said = talk.run([*lin(talk, 200_000, 400_000), resumes], uart)
    assert [each.payload for each in said.data(0)] == [bytes(range(5)), bytes(range(5, 10)), b"new"]


def test_a_client_that_wrote_to_a_port_that_was_away_is_told_when_it_is_back(system):
    talk = Conversation(system, control_frame(0, peer_is_here()))
    frames = lin(talk, 0, 500_000)
    frames.insert(1, Frame(data_frame(b"refused", 0), talk.start + 200_000))
    said = talk.run(frames)
    codes = [item.code for item in said.told(0)]
    assert codes == [Command.FLOWCONTROL_SUSPEND, Command.FLOWCONTROL_RESUME]


def test_a_client_is_not_told_to_go_on_while_its_port_is_away(system):
    talk = Conversation(
        system,
        control_frame(0, peer_is_here()),
        # Somebody who is not there: the second packet waits for an address.
        control_frame(
            1,
            protocol.peer(bytes([192, 168, 1, 77]), 4000),
            protocol.number(Command.PACK_LENGTH, 1),
        ),
    )
    begin, end = lin(talk, 100_000, 500_000)
    refused = [Frame(data_frame(b"refused", 0), talk.start + at) for at in (200_000, 300_000)]
    said = talk.run([begin, *refused, end], [UartBytes(2, b"xy", talk.start)])
    codes = [item.code for item in said.told(0)]
    assert codes == [Command.FLOWCONTROL_SUSPEND, Command.FLOWCONTROL_RESUME]


def test_a_port_that_comes_back_goes_on_sending(system):
    talk = Conversation(system, control_frame(0, peer_is_here()))
    data = bytes(index % 251 for index in range(1400))
    frames = [Frame(data_frame(data, 0), talk.start), *lin(talk, 200_000, 400_000)]
    sent = talk.run(frames, quiet=1_500_000).result.uart(1)
    assert sent.endswith(data[-1000:])


def test_a_port_that_comes_back_still_watches_cts(system):
    mask = protocol.number(Command.SET_MODEMSTATE_MASK, ModemState.CTS_CHANGED)
    talk = Conversation(system, control_frame(0, mask))
    enabled = "terminal_ports.0.enabled"
    said = talk.run(lin(talk, 0, 200_000), get=[enabled])
    assert said.result.values[enabled] & CTS_EVENT
