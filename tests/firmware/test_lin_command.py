"""The command lin: its verbs, what they are refused with, and what it shows."""

from __future__ import annotations

import pytest
from lin_ports import Break, Ports
from lin_reference import BAD, BREAK, PROTECTED, REQUEST, RESPONSE, SYNC
from lin_reference import checksum as reference_checksum
from net_host import config
from services_host import UARTS, build_services

from tierv.sim.host.lin import Outcome

USAGE = {
    "on": "BAUD [commander]",
    "off": "",
    "publish": "ID BYTES [classic] [once] [error=BIT]",
    "subscribe": "ID BYTES [classic]",
    "remove": "ID",
    "set": "ID HEX",
    "get": "ID",
    "identity": "NAD SUPPLIER FUNCTION VARIANT SERIAL",
    "schedule": "[ID:MS]...",
    "header": "ID",
    "sleep": "",
    "wake": "",
}
#: What a new node's last line says.
NOTHING = "headers 0, unanswered 0, late 0, overruns 0, reports lost 0"


@pytest.fixture
def node(ports: Ports) -> Ports:
    """Port 0 is a responder."""
    ports.tell("lin 0 on 19200")
    return ports


@pytest.fixture
def commander(ports: Ports) -> Ports:
    """Port 0 is a commander."""
    ports.tell("lin 0 on 19200 commander")
    return ports


def test_help_lists_the_verbs(ports):
    assert ports.tell("lin help") == [f"lin PORT {verb} {rest}" for verb, rest in USAGE.items()]
    assert ports.error("lin help set") == "a word too many behind help: 'set'"


@pytest.mark.parametrize("verb", [verb for verb, rest in USAGE.items() if rest[:1].isalpha()])
def test_a_verb_without_all_its_words_says_what_it_needs(node, verb):
    least = [word for word in USAGE[verb].split() if word[0] != "["]
    for count in range(len(least)):
        words = " ".join(["1"] * count)
        assert node.error(f"lin 0 {verb} {words}") == f"{verb} needs {USAGE[verb]}"


@pytest.mark.parametrize("verb", [verb for verb in USAGE if verb != "schedule"])
def test_a_word_too_many_is_named(node, verb):
    words = ["7"] * len(USAGE[verb].split())
    before = words[-1] if words else verb
    assert node.error(f"lin 0 {' '.join([verb, *words])} x") == (
        f"a word too many behind {before}: 'x'"
    )


@pytest.mark.parametrize("verb", [verb for verb in USAGE if verb != "on"])
def test_a_port_that_is_no_node_is_told_how_to_become_one(ports, verb):
    words = ["7" for word in USAGE[verb].split() if word[0] != "["]
    assert ports.error(f"lin 2 {' '.join([verb, *words])}") == (
        "port 2 is no LIN node; lin 2 on BAUD"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    {
        f"{UARTS} on 19200": f"a serial port must be from 0 to {UARTS - 1}, not '{UARTS}'",
        "x": f"a serial port must be from 0 to {UARTS - 1}, not 'x'",
        "0 x": "no verb 'x'; try lin help",
        "0 of": "no verb 'of'; try lin help",
        "1 on 999": "a speed must be from 1000 to 20000, not '999'",
        "1 on 20001": "a speed must be from 1000 to 20000, not '20001'",
        "1 on 19200 boss": "a role must be commander, or nothing, not 'boss'",
        "0 on 19200": "port 0 is a LIN node",
        "0 remove 0x40": "an identifier must be from 0 to 63, not '0x40'",
        "0 remove 0x21": "0x21: no such frame, or it goes the other way",
        "0 remove 0x3c": "0x3c: the identifier is reserved",
        "0 publish 64 1": "an identifier must be from 0 to 63, not '64'",
        "0 publish 1 0": "a length must be from 1 to 8, not '0'",
        "0 publish 1 9": "a length must be from 1 to 8, not '9'",
        "0 publish 0x3c 8": "0x3c: the identifier is reserved",
        "0 publish 0x10 1": "0x10: the identifier has a frame",
        "0 publish 1 1 twice": "no option 'twice'",
        "0 publish 1 1 error": "no option 'error'",
        "0 publish 1 1 error=": "a bit must be from 0 to 63, not ''",
        "0 publish 1 8 error=64": "a bit must be from 0 to 63, not '64'",
        "0 publish 1 1 error=8": "error=8: no such bit",
        "0 publish 1 1 error=8 once": "error=8: no such bit",
        "0 subscribe 1 1 once": "no option 'once'",
        "0 subscribe 1 1 error=0": "error=0: no such bit",
        "0 set 0x40 00": "an identifier must be from 0 to 63, not '0x40'",
        "0 set 0x11 00": "0x11: no such frame, or it goes the other way",
        "0 set 0x10 00": "00: not 1 to 8 bytes, or not as many as the frame has",
        "0 set 0x10 0": "data must be 2 to 16 hexadecimal digits, not '0'",
        "0 set 0x10 0g": "data must be 2 to 16 hexadecimal digits, not '0g'",
        "0 set 0x10 000/": "data must be 2 to 16 hexadecimal digits, not '000/'",
        "0 set 0x10 :0": "data must be 2 to 16 hexadecimal digits, not ':0'",
        "0 set 0x10 @@": "data must be 2 to 16 hexadecimal digits, not '@@'",
        "0 set 0x10 " + "0" * 18: f"data must be 2 to 16 hexadecimal digits, not '{'0' * 18}'",
        "0 get 0x40": "an identifier must be from 0 to 63, not '0x40'",
        "0 get 0x12": "0x12: no such frame, or it goes the other way",
        "0 identity 0 1 2 3 4": "a NAD must be from 1 to 125, not '0'",
        "0 identity 126 1 2 3 4": "a NAD must be from 1 to 125, not '126'",
        "0 identity 1 0x7fff 2 3 4": "a supplier must be from 0 to 32766, not '0x7fff'",
        "0 identity 1 1 0xffff 3 4": "a function must be from 0 to 65534, not '0xffff'",
        "0 identity 1 1 2 256 4": "a variant must be from 0 to 255, not '256'",
        "0 identity 1 1 2 3 x": "a serial number must be from 0 to 4294967295, not 'x'",
        "0 schedule 1:1": "0: the node is no commander",
        "0 schedule 1": "a slot must be IDENTIFIER:MS, not '1'",
        "0 schedule 64:1": "an identifier must be from 0 to 63, not '64'",
        "0 schedule 1:0": "a slot's time in ms must be from 1 to 65535, not '0'",
        "0 schedule 1:65536": "a slot's time in ms must be from 1 to 65535, not '65536'",
        "0 schedule 1:": "a slot's time in ms must be from 1 to 65535, not ''",
        "0 header 64": "an identifier must be from 0 to 63, not '64'",
        "0 header 1": "0: the node is no commander",
        "0 sleep": "0: the node is no commander",
    }.items(),
)
def test_what_is_wrong_is_named_and_changes_nothing(node, text, message):
    node.tell("lin 0 publish 0x10 2")
    node.tell("lin 0 subscribe 0x11 2")
    before = node.tell("lin 0"), node.tell("lin")
    assert node.error(f"lin {text}") == message
    assert (node.tell("lin 0"), node.tell("lin")) == before


def test_a_port_of_another_is_not_taken_away(ports):
    assert ports.number("give", 1) == 1
    assert ports.number("give", UARTS) == 0
    assert ports.error("lin 1 on 19200") == "port 1 is in use: other"


@pytest.mark.parametrize("depth", [2, 3])
def test_a_commander_must_have_room_for_a_header(depth):
    ports = Ports(build_services(depth))
    if depth < 3:
        refusal = "a commander must have a FIFO of 3 characters, not 2"
        assert ports.error("lin 0 on 19200 commander") == refusal
        # A responder needs no more than it has.
        ports.tell("lin 0 on 19200")
    else:
        ports.tell("lin 0 on 19200 commander")
    ports.close()


def test_nodes_are_listed(ports):
    assert ports.tell("lin") == []
    ports.tell("lin 3 on 1000")
    ports.tell("lin 0 on 20000 commander")
    ports.tell("lin 3 identity 0x7d 0 0 0 0")
    ports.tell("lin 0 publish 1 1")
    ports.tell("lin 0 set 1 00")
    ports.tell("lin 0 subscribe 2 1")
    for _ in range(2):
        ports.response(0, 1)
        ports.frame(0, 2, b"\0")
    ports.frame(0, 2, b"\0")
    ports.frame(3, REQUEST, bytes([0, *[0xFF] * 7]))
    assert ports.tell("lin") == [
        "port 3 responder 1000 bit/s asleep NAD 0x7d: headers 1, sent 0, received 1",
        "port 0 commander 20000 bit/s awake NAD 0x01: headers 5, sent 2, received 3",
    ]


def test_counters_are_shown_to_their_last_digit(ports):
    ports.tell("lin 4 on 20000 commander")
    most = (1 << 32) - 1
    ports.tell("lin 4 sleep")
    ports.ms()
    ports.response(4, REQUEST)
    ports.do("count", 4, most)
    (line,) = ports.tell("lin")
    begin, _, counts = line.partition(": ")
    assert begin == "port 4 commander 20000 bit/s asleep NAD 0x01"
    assert counts == f"headers {most}, sent {most}, received {most}"
    names = ("headers", "unanswered", "late", "overruns", "reports lost")
    assert ports.tell("lin 4")[-1] == ", ".join(f"{name} {most}" for name in names)


def test_frames_and_counters_of_a_node_are_shown(node):
    node.tell("lin 0 publish 0x21 2", locks=1)
    node.tell("lin 0 publish 2 1 once classic error=7")
    node.tell("lin 0 subscribe 0x22 8 classic")
    node.tell("lin 0 set 0x21 0a0B", locks=1)
    node.tell("lin 0 set 0x21 0c0d")
    assert node.tell("lin 0") == [
        "0x3c subscribed 8 bytes classic, written 0",
        "0x3d published 8 bytes classic once, written 0",
        "0x21 published 2 bytes, written 2",
        "0x02 published 1 bytes classic once, written 0",
        "0x22 subscribed 8 bytes classic, written 0",
        NOTHING,
    ]
    node.tell("lin 0 remove 0x21", locks=1)
    node.burst(0, b"\0", BREAK)
    node.burst(0, b"\0")
    node.header(0, 2)
    for _ in range(2):
        node.header(0, 0x22)
        node.burst(0, b"\0", BAD)
    node.header(0, 0x22)
    node.burst(0, b"\0")
    node.ms(9)
    for byte in range(1, 8):
        node.burst(0, bytes([byte]), lost=1 if byte < 3 else 0)
    node.burst(0, bytes([reference_checksum(bytes(range(8)))]))
    assert node.tell("lin 0") == [
        "0x3c subscribed 8 bytes classic, written 0",
        "0x3d published 8 bytes classic once, written 0",
        "0x02 published 1 bytes classic once, written 0",
        "0x22 subscribed 8 bytes classic, written 1",
        "received       1",
        "incomplete     1",
        "bad character  2",
        "bad sync       1",
        "headers 4, unanswered 1, late 1, overruns 2, reports lost 0",
    ]


def test_a_frame_without_an_identifier_is_not_shown(node):
    node.tell("lin 0 publish 0x21 1")
    # Unassign it: AssignFrameIdRange, from the first signal on.
    node.frame(0, REQUEST, bytes.fromhex("0106b700ffffffff"))
    node.do("protocol")
    node.frame(0, REQUEST, bytes.fromhex("0106b70000ffffff"))
    node.do("protocol")
    assert not any(line.startswith(("0x21", "0xff")) for line in node.tell("lin 0"))


def test_every_outcome_has_a_name(ports):
    names = {outcome.name.lower().replace("_", " ") for outcome in Outcome}
    ports.tell("lin 0 on 19200 commander")
    ports.tell("lin 0 publish 1 1")
    ports.tell("lin 0 set 1 00")
    ports.tell("lin 0 subscribe 2 1")
    ports.response(0, 1)
    ports.frame(0, 2, b"\0")
    ports.header(0, 2)
    ports.burst(0, b"\0", BREAK)
    ports.burst(0, bytes([SYNC, PROTECTED[2]]))
    ports.burst(0, b"\0")
    ports.header(0, 2)
    ports.burst(0, b"\0\0")
    ports.header(0, 2)
    ports.burst(0, b"\0", BAD)
    ports.header(0, 1)
    ports.burst(0, b"\1")
    ports.burst(0, b"\0", BREAK)
    ports.burst(0, b"\0")
    ports.burst(0, b"\0", BREAK)
    ports.burst(0, bytes([SYNC, 0]))
    for _ in range(2):
        ports.burst(0, b"\0", BREAK)
    ports.burst(0, bytes([SYNC, PROTECTED[3]]))
    assert ports.tell("lin 0 sleep", locks=1) == []
    ports.ms()
    ports.response(0, REQUEST)
    ports.burst(0, b"\x80")
    shown = ports.tell("lin 0")[4:-1]
    # go-to-sleep has been sent too.
    assert {line[:14].rstrip(): int(line[15:]) for line in shown} == dict.fromkeys(names, 1) | {
        "sent": 2
    }
    assert [line[:14].rstrip().replace(" ", "_").upper() for line in shown] == [
        outcome.name for outcome in Outcome
    ]


def test_data_are_set_and_got(node):
    node.tell("lin 0 publish 0x21 8")
    assert node.tell("lin 0 get 0x21") == ["written 0"]
    node.tell("lin 0 set 0x21 0123456789abcDEF")
    assert node.tell("lin 0 get 0x21") == ["0123456789abcdef written 1"]
    node.tell("lin 0 subscribe 0x22 1")
    node.frame(0, 0x22, b"\xff")
    node.frame(0, 0x22, b"\x01")
    assert node.tell("lin 0 get 0x22", locks=0) == ["01 written 2"]


@pytest.mark.parametrize("classic", [False, True])
def test_options_of_frames_are_theirs(node, classic):
    option = " classic" if classic else ""
    protected = None if classic else PROTECTED[0x21]
    node.tell(f"lin 0 publish 0x21 1 once error=0{option}")
    node.tell(f"lin 0 subscribe 0x22 1{option}")
    node.tell("lin 0 set 0x21 06")
    node.header(0, 0x22)
    node.burst(0, b"\0\1")
    # The error is shown, once.
    assert node.response(0, 0x21) == bytes([7, reference_checksum(b"\7", protected)])
    assert node.response(0, 0x21) == b""
    node.header(0, 0x22)
    received = None if classic else PROTECTED[0x22]
    node.burst(0, bytes([5, reference_checksum(b"\5", received)]))
    assert node.tell("lin 0 get 0x22") == ["05 written 1"]


def test_an_identity_is_who_answers(node):
    assert node.tell("lin 0 identity 0x7d 0x7ffe 0xfffe 0xff 0xfffffffe", locks=1) == []
    for identifier, answer in {0: "7d06f2fe7ffeffff", 1: "7d05f2feffffffff"}.items():
        node.frame(0, REQUEST, bytes([0x7D, 6, 0xB2, identifier, 0xFE, 0x7F, 0xFE, 0xFF]))
        node.do("protocol")
        assert node.response(0, RESPONSE)[:8].hex() == answer
    # The initial NAD is the same: AssignNAD goes by that.
    node.frame(0, REQUEST, bytes([0x7D, 6, 0xB0, 0xFE, 0x7F, 0xFE, 0xFF, 0x11]))
    node.do("protocol")
    node.frame(0, REQUEST, bytes([0x7D, 6, 0xB0, 0xFE, 0x7F, 0xFE, 0xFF, 0x12]))
    node.do("protocol")
    assert "NAD 0x12:" in node.tell("lin")[0]


def headers(ports: Ports, count: int) -> list[int | None]:
    """Protected identifiers that port 0 sends in each of so many milliseconds."""
    found: list[int | None] = []
    for _ in range(count):
        ports.ms()
        sent = ports.sent(0)
        assert sent == [] or sent[0] == Break(13)
        found.append(sent[1][1] if sent else None)
    return found


def test_a_schedule_of_as_many_slots_as_a_command_has_words_for(commander):
    slots = [(identifier, 1 + identifier % 2) for identifier in range(13)]
    words = " ".join(f"{identifier}:{ms}" for identifier, ms in slots)
    assert commander.tell(f"lin 0 schedule {words}", locks=1) == []
    expected = [
        sent for identifier, ms in slots for sent in [PROTECTED[identifier], *[None] * (ms - 1)]
    ]
    assert headers(commander, len(expected)) == expected
    assert commander.tell("lin 0 schedule", locks=1) == []
    assert headers(commander, 5) == [None] * 5


def test_one_wrong_slot_and_the_schedule_stays(commander):
    commander.tell("lin 0 schedule 1:2")
    assert commander.error("lin 0 schedule 2:1 3-1") == "a slot must be IDENTIFIER:MS, not '3-1'"
    assert commander.error("lin 0 schedule 2:1 0x3e:1") == "0x3e: the identifier is reserved"
    assert headers(commander, 3) == [PROTECTED[1], None, PROTECTED[1]]
    # The longest slot there is.
    commander.tell("lin 0 schedule 2:65535")
    assert headers(commander, 300) == [PROTECTED[2]] + [None] * 299


def test_single_headers_and_sleep_wait_for_each_other(commander):
    assert commander.tell("lin 0 header 0x3d", locks=1) == []
    for verb in ("header 1", "sleep"):
        assert commander.error(f"lin 0 {verb}") == f"{verb.split()[-1]}: no more room"
    assert headers(commander, 2) == [PROTECTED[0x3D], None]
    assert commander.error("lin 0 header 0x3e") == "0x3e: the identifier is reserved"
    commander.tell("lin 0 sleep")
    assert headers(commander, 1) == [PROTECTED[REQUEST]]


def test_more_frames_than_a_node_has_are_refused(node):
    for identifier in range(config("LIN_FRAMES") - 2):
        node.tell(f"lin 0 publish {identifier} 1")
    assert node.error("lin 0 subscribe 0x30 1") == "0x30: no more room"


def test_the_bus_is_woken_without_a_lock(node):
    assert node.tell("lin 0 wake", locks=0) == []
    node.ms()
    assert node.sent(0) == [b"\xf0"]
