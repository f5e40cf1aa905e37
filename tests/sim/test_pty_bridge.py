"""A pseudo terminal of a serial port, with a stand-in for the board."""

from __future__ import annotations

import os
import select
import termios
import threading
import time

import pytest
from serial_stand_in import (
    PORT,
    TIMEOUT_S,
    StandIn,
    client_of,
    read_all,
    set_speed,
    terminal,
    wait_for,
)

from tierv.sim.host import pty_bridge
from tierv.sim.host.errors import HostError
from tierv.sim.host.protocol import Command, Control

pytestmark = pytest.mark.usefixtures("pseudo_terminals")
RESTARTED = "the board has restarted: speed, stop bits, flow control and peer are made again"


def pass_on(fd: int, data: bytes) -> None:
    os.write(fd, data)
    assert read_all(fd, len(data)) == data


def pass_on_much(board: StandIn) -> None:
    """More than any queue holds."""
    sent = bytes(index * 7 & 0xFF for index in range(20_000))
    with terminal(board) as (fd, _, _):
        writer = threading.Thread(target=lambda: os.write(fd, sent))
        writer.start()
        assert read_all(fd, len(sent)) == sent
        writer.join(TIMEOUT_S)
    assert board.refused == 0


def test_more_bytes_than_any_queue_holds_come_back_exactly(stand_in):
    pass_on_much(stand_in)


def test_a_slow_line_is_not_fed_a_few_bytes_at_a_time(stand_in):
    stand_in.pace = 30
    pass_on_much(stand_in)
    # A quarter of the queue at a time is 750 bytes; what the terminal holds may end sooner.
    assert len(stand_in.speeds) < 100


def test_a_full_queue_is_not_asked_for_before_each_datagram_that_has_come(stand_in):
    stand_in.words = 0
    with terminal(stand_in) as (fd, _, _):
        before = stand_in.asked
        for _ in range(200):
            stand_in.data.sendto(bytes(30), stand_in.peer)
        read_all(fd, 200 * 30)
        assert stand_in.asked - before < 100


def test_bytes_that_are_written_one_by_one_come_back_exactly(stand_in):
    stand_in.pace, stand_in.words = 0, 50
    sent = bytes(range(70))
    with terminal(stand_in) as (fd, _, _):
        for index in range(50):
            os.write(fd, sent[index : index + 1])
            wait_for(lambda index=index: len(stand_in.queue) > index)
        os.write(fd, sent[50:])
        time.sleep(0.1)
        assert stand_in.refused == 0
        stand_in.pace = 400
        assert read_all(fd, len(sent)) == sent


def test_speed_stop_bits_and_flow_control_of_the_terminal_go_to_the_board(stand_in):
    with terminal(stand_in) as (fd, _, said):
        assert pty_bridge.read_settings(fd).baud == 115_200
        set_speed(fd, 31_250)
        wait_for(lambda: stand_in.settings[Command.SET_BAUDRATE] == 31_250)
        attributes = termios.tcgetattr(fd)
        attributes[2] |= termios.CSTOPB | termios.CRTSCTS
        termios.tcsetattr(fd, termios.TCSANOW, attributes)
        wait_for(lambda: stand_in.settings[Command.SET_STOPSIZE] == 2)
        wait_for(lambda: stand_in.settings[Command.SET_CONTROL] == Control.FLOW_HARDWARE)
        wait_for(lambda: "set-baudrate is 31250" in said)


@pytest.mark.parametrize("flow", [Control.FLOW_HARDWARE, Control.FLOW_XON_XOFF])
def test_the_terminal_begins_with_the_boards_settings_which_a_program_can_change(stand_in, flow):
    stand_in.settings[Command.SET_STOPSIZE] = 2
    stand_in.settings[Command.SET_CONTROL] = flow
    with terminal(stand_in) as (fd, _, _):
        shown = pty_bridge.read_settings(fd)
        assert (shown.two_stop_bits, shown.flow) == (True, flow)
        attributes = termios.tcgetattr(fd)
        attributes[0] &= ~termios.IXON
        attributes[2] &= ~(termios.CSTOPB | termios.CRTSCTS)
        termios.tcsetattr(fd, termios.TCSANOW, attributes)
        wait_for(lambda: stand_in.settings[Command.SET_STOPSIZE] == 1)
        wait_for(lambda: stand_in.settings[Command.SET_CONTROL] == Control.FLOW_NONE)


@pytest.mark.parametrize("settings_s", [0, 1], ids=["before-the-bytes", "behind-them"])
def test_bytes_that_a_full_queue_and_new_settings_meet_are_not_lost(
    stand_in, monkeypatch, settings_s
):
    monkeypatch.setattr(pty_bridge, "_SETTINGS_S", settings_s)
    stand_in.tells_suspend = True
    with terminal(stand_in) as (fd, _, _):
        for baud in range(31_250, 31_260):
            set_speed(fd, baud)
            os.write(fd, b"with a new speed")
            assert read_all(fd, 16) == b"with a new speed"
    assert stand_in.empty == 0


def test_bytes_go_out_at_the_speed_that_was_made_before_them(stand_in, monkeypatch):
    monkeypatch.setattr(pty_bridge, "_SETTINGS_S", 0.5)
    speeds = list(range(31_250, 31_254))
    with terminal(stand_in) as (fd, _, _):
        for baud in speeds:
            set_speed(fd, baud)
            pass_on(fd, b"x")
    assert stand_in.speeds == speeds


def test_an_impossible_speed_is_said_and_the_rest_goes_on(stand_in):
    with terminal(stand_in) as (fd, _, said):
        set_speed(fd, 3_000_000)
        wait_for(lambda: said)
        assert said == ["the board refuses set-baudrate 3000000: impossible"]
        os.write(fd, b"still here")
        assert read_all(fd, 10) == b"still here"


def test_a_program_that_does_not_read_stops_the_board(stand_in, monkeypatch):
    monkeypatch.setattr(pty_bridge, "_STOP_BYTES", 6_000)
    monkeypatch.setattr(pty_bridge, "_GO_ON_BYTES", 1_000)
    with terminal(stand_in) as (fd, _, _):
        parts = [bytes([index]) * 1_000 for index in range(30)]

        def flood() -> None:
            for part in parts:
                wait_for(lambda: len(stand_in.line) < 1_000)
                stand_in.line += part

        thread = threading.Thread(target=flood)
        thread.start()
        wait_for(lambda: stand_in.suspended)
        assert read_all(fd, 30_000) == b"".join(parts)
        thread.join(TIMEOUT_S)
        wait_for(lambda: not stand_in.suspended)


def flood(board: StandIn, monkeypatch) -> None:
    """More comes than the program reads."""
    monkeypatch.setattr(pty_bridge, "_STOP_BYTES", 100)
    monkeypatch.setattr(pty_bridge, "_GO_ON_BYTES", 50)
    board.line += bytes(20_000)


def stop(board: StandIn, monkeypatch) -> None:
    flood(board, monkeypatch)
    wait_for(lambda: board.suspended)


def test_what_was_under_way_when_the_board_was_stopped_lets_the_bridge_rest(stand_in, monkeypatch):
    asked: list[list] = []
    usual = select.select

    def watched(reads, *rest):
        asked.append(reads)
        return usual(reads, *rest)

    with client_of(stand_in) as client:
        bridge = pty_bridge.PtyBridge(client, print)
        bridge.begin()
        flood(stand_in, monkeypatch)
        while not stand_in.suspended:
            bridge._turn()
        stand_in.data.sendto(b"late", stand_in.peer)
        assert usual([client.data], [], [], TIMEOUT_S)[0]
        monkeypatch.setattr(select, "select", watched)
        bridge._turn()
        bridge.close()
    assert asked
    assert not [reads for reads in asked if client.data in reads]


def test_the_board_is_let_go_on_when_the_bridge_ends(stand_in, monkeypatch):
    with terminal(stand_in):
        stop(stand_in, monkeypatch)
    assert not stand_in.suspended


@pytest.mark.parametrize("answers", [True, False])
def test_the_board_is_let_go_on_when_the_bridge_fails(stand_in, monkeypatch, answers):
    said: list[str] = []
    with client_of(stand_in, try_s=0.1) as client:
        bridge = pty_bridge.PtyBridge(client, said.append)
        bridge.begin()

        read = pty_bridge.read_settings

        def fail(fd: int) -> pty_bridge.Settings:
            if not stand_in.suspended:
                return read(fd)
            stand_in.lose = 0 if answers else 1000
            raise OSError("the terminal is gone")

        flood(stand_in, monkeypatch)
        monkeypatch.setattr(pty_bridge, "read_settings", fail)
        with pytest.raises(OSError, match="the terminal is gone"):
            bridge.run()
        bridge.close()
    assert stand_in.suspended is not answers
    assert len(said) == (not answers)


@pytest.mark.parametrize("written", [b"", b"makes a peer of the bridge"])
def test_a_board_that_restarts_gets_settings_and_peer_again(stand_in, monkeypatch, written):
    monkeypatch.setattr(pty_bridge, "_CHECK_S", 0.1)
    with terminal(stand_in) as (fd, _, said):
        set_speed(fd, 57_600)
        wait_for(lambda: said == ["set-baudrate is 57600"])
        peer = stand_in.peer
        stand_in.restart()
        os.write(fd, written)
        wait_for(lambda: RESTARTED in said)
        wait_for(lambda: stand_in.settings[Command.SET_LINESTATE_MASK])
        assert stand_in.settings[Command.SET_BAUDRATE] == 57_600
        assert stand_in.peer == peer
        assert read_all(fd, len(written)) == written
        stand_in.line += b"from the line"
        assert read_all(fd, 13) == b"from the line"
        time.sleep(0.3)
        assert said.count(RESTARTED) == 1


def test_a_port_whose_peer_somebody_makes_the_board_forget_is_taken_again(stand_in, monkeypatch):
    monkeypatch.setattr(pty_bridge, "_CHECK_S", 0.1)
    with terminal(stand_in) as (fd, _, _):
        wait_for(lambda: stand_in.settings[Command.SET_LINESTATE_MASK])
        peer, stand_in.peer = stand_in.peer, ("0.0.0.0", 0)
        wait_for(lambda: stand_in.peer == peer)
        stand_in.line += b"from the line"
        assert read_all(fd, 13) == b"from the line"


def test_at_its_end_the_port_is_free_for_others(stand_in):
    with terminal(stand_in):
        wait_for(lambda: stand_in.peer[1] and stand_in.settings[Command.SET_LINESTATE_MASK])
    assert stand_in.peer == ("0.0.0.0", 0)
    assert stand_in.settings[Command.SET_LINESTATE_MASK] == 0


@pytest.mark.parametrize("stops", [False, True])
def test_a_bridge_whose_port_another_takes_ends_and_leaves_it_to_that(stand_in, monkeypatch, stops):
    monkeypatch.setattr(pty_bridge, "_CHECK_S", 0.1)
    with client_of(stand_in) as client, client_of(stand_in) as other:
        bridge = pty_bridge.PtyBridge(client, str)
        bridge.begin()
        if stops:
            flood(stand_in, monkeypatch)
        own = other.data.own_port

        def take() -> None:
            wait_for(lambda: stand_in.suspended is stops)
            other.take_data_here()
            # One that does not notice ends without an error.
            time.sleep(2)
            bridge.stop()

        thief = threading.Thread(target=take)
        thief.start()
        with pytest.raises(HostError, match=rf"127\.0\.0\.1:{own} has taken serial port {PORT}$"):
            bridge.run()
        thief.join()
        bridge.close()
        assert stand_in.peer == ("127.0.0.1", own)


def test_a_board_that_restarts_while_it_is_stopped_is_stopped_again(stand_in, monkeypatch):
    monkeypatch.setattr(pty_bridge, "_CHECK_S", 0.1)
    with terminal(stand_in):
        stop(stand_in, monkeypatch)
        stand_in.restart()
        wait_for(lambda: stand_in.settings[Command.SET_LINESTATE_MASK])
        assert stand_in.suspended


@pytest.mark.parametrize("what", ["lose", "away"])
def test_a_board_that_can_t_be_asked_for_a_while_does_not_end_the_bridge(
    stand_in, monkeypatch, what
):
    monkeypatch.setattr(pty_bridge, "_CHECK_S", 0.05)
    with terminal(stand_in, try_s=0.1) as (fd, _, said):
        pass_on(fd, b"the room in the queue is known")
        setattr(stand_in, what, 8)
        wait_for(lambda: getattr(stand_in, what) == 0)
        pass_on(fd, b"still here")
        assert said == []


def test_bytes_wait_for_an_answer_that_is_lost_no_longer_than_it_may_take(stand_in, monkeypatch):
    monkeypatch.setattr(pty_bridge, "_CHECK_S", 0.05)
    with terminal(stand_in, try_s=1) as (fd, _, _):
        pass_on(fd, b"the room in the queue is known")
        stand_in.lose = 1000
        wait_for(lambda: stand_in.lose < 1000)
        begin = time.monotonic()
        pass_on(fd, b"still here")
        assert time.monotonic() - begin < 3


def test_breaks_and_errors_are_said(stand_in):
    with terminal(stand_in) as (_, _, said):
        stand_in.notify(Command.NOTIFY_LINESTATE, bytes([0x10, 0, 0, 1, 2]))
        wait_for(lambda: said)
        assert said == ["break after 258 bytes"]
