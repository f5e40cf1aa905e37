"""LIN nodes on serial ports: set-up, characters, milliseconds, reports, and who has a port."""

from __future__ import annotations

import pytest
from host_build import FAKE, ROOT, TESTS, build, run_stepped, write_headers
from lin_ports import MS_CYCLES, PURGE_TRANSMIT, Break, Ports
from lin_reference import BAD, BREAK, PROTECTED, REQUEST, RESPONSE, SYNC
from lin_reference import checksum as reference_checksum
from net_host import config
from serial_headers import serial_headers
from services_host import CLOCK_HZ, UARTS, build_services

from tierv.sim.host.lin import Counter, Failure, Outcome, Record, Request
from tierv.soc.serial.params import SerialParams

NODES, REPORTS = config("LIN_NODES"), config("LIN_REPORTS")


@pytest.mark.parametrize("baud", [1000, 19200, 20000])
def test_a_port_is_set_up_for_the_wire(ports, baud):
    assert ports.tell(f"lin 1 on {baud}") == []
    tuning, form, watermarks, flow_levels, timeout, flow, events = ports.do("registers", 1)[
        0
    ].split()
    assert int(tuning) == round(baud * 2**32 / CLOCK_HZ)
    # Eight bits, no parity, one stop bit.
    assert int(form) == 3
    # Every character calls; RTS is asserted, and nothing begins within a stop bit.
    assert (int(watermarks, 16), int(flow_levels, 16), timeout) == (1, 1, "0")
    assert int(flow) == 1 << 4 | 1 << 5
    assert int(events) == 1


def test_a_header_is_answered_byte_by_byte_as_the_wire_carries_it(ports):
    ports.tell("lin 1 on 19200")
    ports.tell("lin 1 publish 0x21 3")
    ports.tell("lin 1 set 0x21 a1b2c3")
    content = b"\xa1\xb2\xc3"
    whole = content + bytes([reference_checksum(content, PROTECTED[0x21])])
    assert ports.response(1, 0x21) == whole
    assert ports.response(1, 0x22) == b""
    assert [ports.count(1, Counter.FIRST_OUTCOME + each) for each in Outcome] == [
        int(each is Outcome.SENT) for each in Outcome
    ]


def test_characters_that_come_at_once_are_taken_in_their_order(ports):
    ports.tell("lin 0 on 19200")
    ports.tell("lin 0 subscribe 0x21 2")
    ports.watch()
    ports.burst(0, b"\0", BREAK)
    ports.burst(0, bytes([SYNC, PROTECTED[0x21]]))
    content = b"\x12\x34"
    ports.burst(0, content + bytes([reference_checksum(content, PROTECTED[0x21])]))
    assert ports.told_reports() == [(Outcome.RECEIVED, 0x21, content)]
    # The cycle is that in which the port was served.
    ports.frame(0, 0x21, content)
    ((_, (report,)),) = ports.reports()
    assert (report.number, report.port) == (ports.cycle, 0)


def test_what_is_wrong_with_a_character_is_told_to_the_node(ports):
    ports.tell("lin 0 on 19200")
    ports.tell("lin 0 subscribe 0x21 1")
    ports.watch()
    ports.header(0, 0x21)
    ports.burst(0, b"\x12", BAD)
    # Lost characters are counted, not the gaps; those behind them are as good as others. So are
    # those whose parity nobody has asked for.
    ports.burst(0, b"\0", BREAK, lost=5)
    assert ports.count(0, Counter.OVERRUNS) == 5
    ports.burst(0, bytes([SYNC]), lost=1)
    ports.burst(0, bytes([PROTECTED[0x21]]), 4)
    for byte in (7, reference_checksum(b"\x07", PROTECTED[0x21])):
        ports.burst(0, bytes([byte]), lost=1)
    assert ports.told_reports() == [
        (Outcome.BAD_CHARACTER, 0x21, b""),
        (Outcome.RECEIVED, 0x21, b"\x07"),
    ]
    assert ports.count(0, Counter.OVERRUNS) == 5 + 3


def test_without_a_character_nothing_is_taken(ports):
    ports.tell("lin 0 on 19200")
    ports.burst(0, b"\0", BREAK)
    assert ports.burst(0, b"") == []
    ports.burst(0, bytes([SYNC]))
    ports.burst(0, bytes([PROTECTED[0x21]]))
    assert ports.count(0, Counter.HEADERS) == 1


def test_what_was_to_be_sent_is_dropped_where_the_wire_differs(ports):
    ports.tell("lin 2 on 19200")
    ports.tell("lin 2 publish 0x21 2")
    ports.tell("lin 2 set 0x21 ff00")
    ports.watch()
    assert ports.header(2, 0x21) == [b"\xff"]
    assert ports.told("purge") == []
    assert ports.burst(2, b"\xfe") == []
    assert ports.told("purge") == [["2", str(PURGE_TRANSMIT)]]
    assert ports.told("posted") == [[]]
    assert ports.told_reports() == [(Outcome.BIT_ERROR, 0x21, b"")]


def test_a_commander_sends_break_sync_field_and_identifier(ports):
    ports.tell("lin 0 on 19200 commander")
    ports.tell("lin 0 schedule 0x10:2 0x21:3")
    sent = []
    for _ in range(6):
        ports.ms()
        sent.append(ports.sent(0))
    first, second = (
        [Break(13), bytes([SYNC, PROTECTED[identifier]])] for identifier in (0x10, 0x21)
    )
    assert sent == [first, [], second, [], [], first]


def test_a_wake_up_signal_is_five_bits_long(ports):
    ports.tell("lin 0 on 19200")
    ports.tell("lin 0 wake")
    ports.ms()
    assert ports.sent(0) == [b"\xf0"]


# --- milliseconds ---


def test_milliseconds_are_counted_as_long_as_there_are_nodes(ports):
    assert ports.do("alarm") == ["-"]
    ports.tell("lin 0 on 19200")
    assert ports.number("alarm") == MS_CYCLES
    # The second has the same alarm, which rings at equal distances.
    ports.tell("lin 4 on 19200")
    ports.ms(3)
    assert ports.number("alarm") == 4 * MS_CYCLES
    ports.tell("lin 0 off")
    ports.ms()
    assert ports.number("alarm") == 5 * MS_CYCLES
    ports.tell("lin 4 off")
    ports.ms()
    assert ports.do("alarm") == ["-"]
    ports.tell("lin 0 on 19200")
    assert ports.number("alarm") == MS_CYCLES


def test_milliseconds_that_the_port_was_not_served_in_are_made_up_for(ports):
    ports.tell("lin 0 on 19200 commander")
    ports.tell("lin 0 schedule 0x10:2")
    for _ in range(5):
        ports.do("late", 0)
        assert ports.events == []
    ports.do("lines")
    assert len(ports.sent(0)) == 2 * 3
    ports.ms()
    assert ports.sent(0) == []


def test_a_new_node_has_no_milliseconds_behind_it(ports):
    ports.tell("lin 0 on 19200 commander")
    for _ in range(5):
        ports.do("late", 0)
    ports.tell("lin 0 off")
    ports.do("lines")
    assert ports.told("serve") == [["0", "0"]]
    ports.tell("lin 0 on 19200 commander")
    ports.tell("lin 0 schedule 0x10:2")
    ports.ms()
    assert len(ports.sent(0)) == 2
    ports.ms()
    assert ports.sent(0) == []


def test_every_node_has_its_own_milliseconds(ports):
    for port in (0, 3):
        ports.tell(f"lin {port} on 19200 commander")
        ports.tell(f"lin {port} schedule {0x10 + port}:9")
    ports.ms()
    for port in (0, 3):
        assert ports.sent(port) == [Break(13), bytes([SYNC, PROTECTED[0x10 + port]])]


# --- who has a port ---


def test_a_port_changes_hands_and_is_a_node_only_while_it_is_one(ports):
    assert ports.error("lin 0") == "port 0 is no LIN node"
    ports.tell("lin 0 on 19200", locks=1)
    assert ports.told("usual") == []
    ports.header(0, 0x21)
    ports.tell("lin 0 off", locks=1)
    assert ports.told("usual") == [["0"]]
    assert ports.error("lin 0") == "port 0 is no LIN node"
    assert ports.burst(0, b"\0") == []
    assert ports.told("serve") == [["0", "1"]]
    # Its place is another's now.
    ports.tell("lin 3 on 9600")
    assert ports.error("lin 0") == "port 0 is no LIN node"
    assert [answer.failure for answer in ports.request(
        *(Record(Request.READ, port, REQUEST) for port in (0, 3, UARTS, 0xFD))
    )] == [Failure.NO_NODE, None, Failure.NO_NODE, Failure.NO_NODE]  # fmt: skip


def test_the_units_of_a_line_go_on_and_its_room_is_that_of_whoever_has_the_port(ports):
    assert ports.do("units", 0, 100) == ["100 12"]
    ports.tell("lin 0 on 19200")
    assert ports.do("units", 0, 100) == ["100 1"]
    ports.tell("lin 0 off")
    assert ports.do("units", 0, 130) == ["130 12"]


@pytest.mark.parametrize(("cpu", "units"), [("VEXRISCV", 100 + 3), ("PICORV32", 100)])
def test_a_user_that_counts_nothing_has_as_many_units_as_interrupts_if_they_are_seen(cpu, units):
    ports = Ports(build_services(cpu=cpu))
    ports.do("units", 0, 100)
    ports.tell("lin 0 on 19200")
    for _ in range(3):
        ports.burst(0, b"\0")
    assert ports.do("units", 0, 100) == [f"{units} 1"]
    ports.close()


def test_there_are_so_many_nodes_and_no_more(ports):
    for port in range(NODES):
        ports.tell(f"lin {port} on 19200")
    assert ports.error(f"lin {NODES} on 19200") == f"all {NODES} nodes are in use"
    ports.tell("lin 1 off")
    ports.tell(f"lin {NODES} on 19200")
    # All of them are listed and served.
    assert [line.split()[1] for line in ports.tell("lin")] == ["0", "4", "2", "3"]
    for port in (0, 2, 3, 4):
        ports.header(port, 0x21)
        assert ports.count(port, Counter.HEADERS) == 1


def test_a_new_node_knows_nothing_of_the_one_before(ports):
    ports.tell("lin 0 on 19200")
    ports.tell("lin 0 publish 0x21 1")
    ports.tell("lin 0 identity 0x11 1 2 3 4")
    for _ in range(REPORTS + 2):
        ports.burst(0, b"\0", BREAK)
        ports.burst(0, b"\0")
    assert ports.count(0, Counter.REPORTS_LOST) == 2
    ports.do("protocol")
    ports.tell("lin 0 off")
    ports.tell("lin 0 on 9600")
    assert ports.tell("lin") == [
        "port 0 responder 9600 bit/s awake NAD 0x01: headers 0, sent 0, received 0"
    ]
    assert ports.tell("lin 0")[2:] == [
        "headers 0, unanswered 0, late 0, overruns 0, reports lost 0"
    ]
    # Nor has it another's product identification, or initial NAD.
    ports.frame(0, REQUEST, bytes.fromhex("7f06b200ff7fffff"))
    ports.do("protocol")
    assert ports.response(0, RESPONSE)[:8] == bytes.fromhex("0106f20000000000")
    ports.frame(0, REQUEST, bytes.fromhex("0106b00000000022"))
    ports.do("protocol")
    assert "NAD 0x22:" in ports.tell("lin")[0]


def test_bits_last_as_long_as_the_speed_says(ports):
    # A header may take 47 bits: 2.5 ms at 19,200 bit/s, 47 ms at 1,000.
    for port, baud, ms in [(0, 19200, 3), (1, 1000, 48)]:
        ports.tell(f"lin {port} on {baud}")
        ports.watch()
        ports.burst(port, b"\0", BREAK)
        ports.ms(ms - 1)
        assert ports.told_reports() == []
        ports.ms()
        assert ports.told_reports() == [(Outcome.BAD_HEADER, 0, b"")]


def test_150_microseconds_wake(ports):
    ports.tell("lin 0 on 19200")
    ports.watch()
    ports.frame(0, REQUEST, bytes([0, *[0xFF] * 7]))
    # Two dominant bits are 104 us, three 156.
    ports.burst(0, b"\xfe")
    assert ports.told_reports() == [(Outcome.ASLEEP, REQUEST, bytes([0, *[0xFF] * 7]))]
    ports.burst(0, b"\xfc")
    assert ports.told_reports() == [(Outcome.AWAKE, REQUEST, b"")]


def test_a_node_has_milliseconds_whenever_one_passes_while_it_is_opened():
    params = SerialParams(sys_clk_hz=CLOCK_HZ, ports=UARTS)
    headers = write_headers("lin-open", **serial_headers(params, first_line=16, mac_line=1))
    names = ("node", "task", "commander", "diagnostic")
    sources = [ROOT / f"firmware/apps/lin/{name}.c" for name in names]
    sources += [TESTS / "lin_open_driver.c", ROOT / "firmware/drivers/serial.c"]
    include = [FAKE, headers, TESTS]
    # Optimised, as it is the compiler's order of accesses that is on trial.
    run_stepped(
        build("lin_open_driver", sources, sanitize=False, include=include,
              defines=["CONTEXT_POLLED"])
    )  # fmt: skip
