"""LIN nodes asleep and awake, the commander's schedule, and what is refused."""

from __future__ import annotations

import pytest
from host_build import ROOT, TESTS, build, run_stepped
from lin_bus import Bus, answer, go_to_sleep, schedule
from lin_host import (
    BAD_BIT,
    BAD_IDENTIFIER,
    BAD_LENGTH,
    BAD_SLOT,
    FULL,
    IN_USE,
    NO_SUCH_FRAME,
    NOT_COMMANDER,
    OK,
)
from lin_reference import (
    BREAK,
    PROTECTED,
    READY_MS,
    REQUEST,
    SYNC,
    Frame,
)
from lin_reference import checksum as reference_checksum
from net_host import config

from tierv.sim.host.lin import Outcome

LIN = ROOT / "firmware" / "apps" / "lin"


def test_go_to_sleep_puts_to_sleep_and_a_wake_up_signal_wakes(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    go_to_sleep(bus)
    # Two dominant bits are 104 us, three 156.
    assert bus.byte(0xFE).report is None
    assert bus.byte(0xFC).report == (Outcome.AWAKE, None, b"")
    assert answer(bus, 0x12)[0][0] == ord("x")


def test_a_break_wakes_and_begins_a_header(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    go_to_sleep(bus)
    assert bus.byte(0, BREAK).report == (Outcome.AWAKE, None, b"")
    bus.byte(SYNC)
    assert bus.byte(PROTECTED[0x12]).send == ord("x")


def test_four_seconds_without_anything_put_to_sleep(bus):
    bus.byte(1)
    reports = [did.report for did in bus.ticks(5000)]
    assert [i for i, report in enumerate(reports) if report] == [4000]
    assert reports[4000][0] is Outcome.ASLEEP


def test_a_long_wake_up_signal_is_no_header_that_failed(bus):
    go_to_sleep(bus)
    assert bus.byte(0, BREAK).report == (Outcome.AWAKE, None, b"")
    assert not any(did.report for did in bus.ticks(10))
    # Only the one that wakes, and only if no sync field follows.
    bus.byte(0, BREAK)
    assert [did.report for did in bus.ticks(3) if did.report] == [(Outcome.BAD_HEADER, None, b"")]
    go_to_sleep(bus)
    bus.byte(0, BREAK)
    bus.byte(SYNC)
    assert [did.report for did in bus.ticks(3) if did.report] == [(Outcome.BAD_HEADER, None, b"")]


def test_a_header_right_behind_a_long_wake_up_signal_is_taken(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    go_to_sleep(bus)
    assert bus.byte(0, BREAK).report == (Outcome.AWAKE, None, b"")
    assert bus.byte(0, BREAK).report is None
    bus.byte(SYNC)
    assert bus.byte(PROTECTED[0x12]).send == ord("x")


def test_wake_up_signals_are_repeated_until_a_header_comes(bus):
    go_to_sleep(bus)
    bus.lin.command("wake")
    sent = [i for i, did in enumerate(bus.ticks(4000)) if did.send == 0xF0]
    assert sent == [0, 200, 400, 1900, 2100, 2300]
    bus.lin.command("wake")
    assert bus.ticks(1)[0].send == 0xF0
    assert bus.byte(0xF0).report[0] is Outcome.AWAKE
    bus.header(0x3F)
    assert not any(did.send for did in bus.ticks(1000))


def test_a_wake_up_signal_waits_for_the_end_of_a_frame(bus):
    bus.lin.add(0x12, Frame(False, 8))
    content = bytes(range(8))
    bus.byte(0, BREAK)
    bus.lin.command("wake")
    assert bus.ticks(1)[0].send is None
    bus.byte(SYNC)
    bus.byte(PROTECTED[0x12])
    assert bus.ticks(1)[0].send is None
    bus.bytes(content + bytes([reference_checksum(content, PROTECTED[0x12])]))
    assert bus.ticks(1)[0].send == 0xF0
    bus.header(0x12)
    bus.lin.command("wake")
    # Nothing comes: 656 us for each of eight bytes and the checksum.
    assert [i for i, did in enumerate(bus.ticks(10)) if did.send] == [6]


def test_a_wake_up_signal_waits_until_a_header_of_our_own_has_been_seen(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    assert lin.result("header", 0x3D) == OK
    assert bus.ticks(1)[0].header == PROTECTED[0x3D]
    lin.command("wake")
    assert bus.ticks(1)[0].send is None
    bus.header(0x3D)
    bus.bytes(bytes([*range(8), reference_checksum(bytes(range(8)))]))
    assert bus.ticks(1)[0].send == 0xF0


def test_a_schedule_sends_headers_in_their_slots_again_and_again(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    assert lin.result("schedule", schedule((0x10, 5), (0x11, 3), (0x3D, 10))) == OK
    headers = [(i, did.header) for i, did in enumerate(bus.ticks(30)) if did.header is not None]
    expected = [(0, 0x10), (5, 0x11), (8, 0x3D), (18, 0x10), (23, 0x11), (26, 0x3D)]
    assert headers == [(place, PROTECTED[identifier]) for place, identifier in expected]
    assert lin.result("schedule", "-") == OK
    assert not any(did.header for did in bus.ticks(30))


def test_another_schedule_begins_with_its_first_slot(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 9), (0x11, 9), (0x12, 9)))
    bus.ticks(12)
    lin.result("schedule", schedule((0x20, 2), (0x21, 2)))
    headers = [did.header for did in bus.ticks(4)]
    assert headers == [PROTECTED[0x20], None, PROTECTED[0x21], None]


def test_of_several_schedules_the_last_begins_and_the_one_that_runs_is_left_alone(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 9), (0x11, 9)))
    bus.ticks(1)
    for identifier in (0x20, 0x21, 0x22, 0x23):
        lin.result("schedule", schedule((identifier, 2)))
    assert [did.header for did in bus.ticks(2)] == [PROTECTED[0x23], None]


def test_a_header_out_of_turn_takes_a_slot_and_the_schedule_goes_on(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 4), (0x11, 4)))
    bus.ticks(2)
    assert lin.result("header", 0x3C) == OK
    assert lin.result("header", 0x3D) == FULL
    headers = [(i, did.header) for i, did in enumerate(bus.ticks(12)) if did.header is not None]
    expected = [(2, 0x3C), (6, 0x11), (10, 0x10)]
    assert headers == [(place, PROTECTED[identifier]) for place, identifier in expected]


def test_a_commander_publishes_behind_its_own_header(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.add(0x10, Frame(True, 1))
    lin.write(0x10, b"z")
    lin.result("header", 0x10)
    assert bus.ticks(1)[0].header == PROTECTED[0x10]
    assert answer(bus, 0x10)[1] == (Outcome.SENT, 0x10, b"z")


def test_a_header_out_of_turn_waits_for_the_response_under_way_until_that_is_overdue(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.add(0x21, Frame(False, 2))
    bus.header(0x21)
    bus.byte(1)
    assert lin.result("header", 0x10) == OK
    # 42 bits are 2.2 ms, of which 0.5 are over.
    assert [did.header for did in bus.ticks(3)] == [None, PROTECTED[0x10], None]


def test_a_header_that_nobody_sees_is_reported_and_dropped_at_the_next(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 2)))
    ticks = bus.ticks(4)
    reports = [did.report for did in ticks]
    assert reports == [None, None, (Outcome.BAD_HEADER, None, b""), None]
    # It may wait for a bus that is low, and is not to come with the next.
    assert [did.stop for did in ticks] == [False, False, True, False]


def test_a_schedule_with_slots_of_more_than_four_seconds_goes_on(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 5000)))
    for _ in range(3):
        dids = bus.ticks(5000)
        assert [i for i, did in enumerate(dids) if did.header is not None] == [0]
        bus.header(0x10)
        assert not any(did.report for did in dids)
    # Without it, the bus sleeps as ever.
    lin.result("schedule", "-")
    assert [i for i, did in enumerate(bus.ticks(4500)) if did.report] == [4000]


def test_the_commander_sends_the_bus_to_sleep_and_its_schedule_with_it(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 2)))
    assert lin.result("sleep") == OK
    assert bus.ticks(1)[0].header == PROTECTED[REQUEST]
    sent, report = answer(bus, REQUEST)
    command = bytes([0, *[0xFF] * 7])
    assert sent == command + b"\0"
    assert report == (Outcome.ASLEEP, None, command)
    assert not any(did.header for did in bus.ticks(10))
    bus.byte(0xF0)
    # Behind it the slot that was under way goes on.
    assert first_header(bus) == READY_MS + 1


@pytest.mark.parametrize("signal", [(0xF0, 0), (0, BREAK)])
def test_headers_wait_until_the_nodes_that_a_signal_woke_are_ready(lin, signal):
    bus = sleeping_bus_of_commander(lin)
    assert bus.byte(*signal).report == (Outcome.AWAKE, None, b"")
    assert lin.result("header", 0x11) == OK
    # A break is told before it ends, up to 5 ms later.
    assert first_header(bus) == READY_MS + (5 if signal[1] else 0)


def test_a_bus_that_is_sent_to_sleep_forgets_the_header_that_was_still_to_be_sent(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((REQUEST, 5)))
    lin.write(REQUEST, bytes([0, *[0xFF] * 7]))
    assert bus.ticks(1)[0].header == PROTECTED[REQUEST]
    assert lin.result("header", 0x10) == OK
    assert answer(bus, REQUEST)[1][0] is Outcome.ASLEEP
    assert lin.result("schedule", "-") == OK
    bus.byte(0xF0)
    assert first_header(bus) is None
    assert lin.result("header", 0x10) == OK


def first_header(bus: Bus) -> int | None:
    """How many milliseconds begin without a header."""
    headers = [i for i, did in enumerate(bus.ticks(150)) if did.header is not None]
    return headers[0] if headers else None


def sleeping_bus_of_commander(lin) -> Bus:
    lin.init(commander=True)
    bus = Bus(lin)
    assert lin.result("sleep") == OK
    bus.ticks(1)
    assert answer(bus, REQUEST)[1][0] is Outcome.ASLEEP
    return bus


def test_a_bus_that_sleeps_already_keeps_the_request_that_waits(lin):
    bus = sleeping_bus_of_commander(lin)
    request = bytes(range(1, 9))
    assert lin.write(REQUEST, request) == OK
    assert lin.result("sleep") == OK
    bus.byte(0xF0)
    assert answer(bus, REQUEST)[1] == (Outcome.SENT, REQUEST, request)


def test_a_sleeping_bus_that_is_sent_to_sleep_is_not_woken(lin):
    bus = sleeping_bus_of_commander(lin)
    assert lin.result("schedule", schedule((0x10, 5))) == OK
    assert lin.result("sleep") == OK
    assert not any(did.send or did.header for did in bus.ticks(10))
    # A header that waits is not given up: it wakes the bus.
    assert lin.result("header", 0x11) == OK
    assert lin.result("sleep") == FULL
    assert bus.ticks(1)[0].send == 0xF0
    assert bus.echo().report[0] is Outcome.AWAKE
    assert first_header(bus) == READY_MS


@pytest.mark.parametrize("command", ["header", "schedule"])
def test_a_commander_wakes_the_bus_before_it_sends_headers_again(lin, command):
    bus = sleeping_bus_of_commander(lin)
    assert lin.result("sleep") == OK
    assert not any(did.send or did.header for did in bus.ticks(10))
    argument = 0x10 if command == "header" else schedule((0x10, 5))
    assert lin.result(command, argument) == OK
    assert bus.ticks(1)[0].send == 0xF0
    assert bus.echo().report[0] is Outcome.AWAKE
    dids = bus.ticks(READY_MS + 1)
    assert not any(did.header or did.send for did in dids[:-1])
    assert dids[-1].header == PROTECTED[0x10]
    bus.header(0x10)
    assert not any(did.send for did in bus.ticks(1000))


def test_bad_frames_and_data_are_refused(bus):
    lin = bus.lin
    assert lin.add(0x3C, Frame(True, 1)) == BAD_IDENTIFIER
    assert lin.add(0x40, Frame(True, 1)) == BAD_IDENTIFIER
    assert lin.add(0x10, Frame(True, 0)) == BAD_LENGTH
    assert lin.add(0x10, Frame(True, 9)) == BAD_LENGTH
    assert lin.add(0x10, Frame(True, 1, error_bit=8)) == BAD_BIT
    assert lin.add(0x10, Frame(False, 1, error_bit=0)) == BAD_BIT
    assert lin.add(0x10, Frame(True, 2)) == OK
    assert lin.add(0x10, Frame(False, 2)) == IN_USE
    assert lin.write(0x10, b"a") == BAD_LENGTH
    assert lin.write(0x11, b"a") == NO_SUCH_FRAME
    assert lin.result("remove", 0x11) == NO_SUCH_FRAME
    assert lin.result("remove", 0x3D) == BAD_IDENTIFIER
    assert lin.result("schedule", schedule((1, 1))) == NOT_COMMANDER
    assert lin.result("sleep") == NOT_COMMANDER
    for identifier in range(config("LIN_FRAMES") - 3):
        assert lin.add(identifier, Frame(False, 1)) == OK
    assert lin.add(0x30, Frame(False, 1)) == FULL
    assert lin.result("remove", 0x10) == OK
    assert lin.add(0x30, Frame(False, 1)) == OK


def test_bad_schedules_are_refused(lin):
    lin.init(commander=True)
    assert lin.result("schedule", schedule((0x3E, 1))) == BAD_IDENTIFIER
    assert lin.result("schedule", schedule((0x10, 0))) == BAD_SLOT
    assert lin.result("schedule", schedule(*[(1, 1)] * (config("LIN_SLOTS") + 1))) == FULL
    assert lin.result("header", 0x3E) == BAD_IDENTIFIER


def test_another_identifier_has_another_checksum(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    assert bus.lin.result("assign", 2, 0x13) == OK
    assert bus.header(0x12).send is None
    assert answer(bus, 0x13)[0] == bytes([0x78, reference_checksum(b"x", PROTECTED[0x13])])
    assert bus.lin.result("assign", 2, 0xFF) == OK
    assert bus.header(0x13).send is None


def test_the_bus_sleeps_and_a_header_is_sent_whenever_a_tick_comes_while_that_is_asked_for():
    parts = [LIN / f"{name}.c" for name in ("node", "task")]
    driver = TESTS / "lin_sleep_driver.c"
    # Optimised, as it is the compiler's order of stores that is on trial.
    run_stepped(build("lin_sleep_driver", [driver, *parts], sanitize=False, include=[TESTS]))
