"""Serial ports at pin level: times, forms of characters, and several ports at once."""

from __future__ import annotations

import itertools

import pytest

from tierv.sim.records import UartError
from tierv.sim.stimulus import Parity, UartBreak, UartBytes, UartFormat, encode_uart

BIT_CYCLES = 100
CHARACTER_CYCLES = 10 * BIT_CYCLES


def loop(simulation, firmware, items, characters, ports=1, **more):
    """The run in which so many characters come back, each plus one."""
    return simulation.run(
        firmware("uart_loop"),
        cycles=2_000_000,
        uart=items,
        set={"characters": characters, "ports": ports},
        **more,
    )


def test_every_byte_goes_in_and_comes_out(simulation, firmware):
    data = bytes(range(256))
    result = loop(simulation, firmware, [UartBytes(0, data)], 256)
    assert result.uart(0) == bytes((value + 1) & 0xFF for value in data)
    assert not result.characters["errors"].any()


def test_every_port_works_by_itself(simulation, firmware):
    items = [UartBytes(port, b"abc") for port in range(4)]
    result = loop(simulation, firmware, items, 12, ports=4)
    assert [result.uart(port) for port in range(4)] == [b"bcd"] * 4


def test_what_one_port_of_a_wire_is_sent_all_of_them_receive(simulation, firmware):
    result = loop(simulation, firmware, [UartBytes(0, b"a")], 2, ports=2, wires=[(0, 1)])
    assert [result.uart(port)[:1] for port in range(2)] == [b"b"] * 2


def test_a_character_begins_at_its_cycle(simulation, firmware):
    """The port sees half of the stop bit, and the program has to answer."""
    result = loop(simulation, firmware, [UartBytes(0, b"x", cycle=50_000)], 1)
    seen = 50_000 + CHARACTER_CYCLES - BIT_CYCLES // 2
    assert 0 < int(result.characters[0]["cycle"]) - seen < 500


def test_characters_can_be_spaced(simulation, firmware):
    result = loop(simulation, firmware, [UartBytes(0, b"xyz", interval_cycles=7000)], 3)
    times = [int(cycle) for cycle in result.characters["cycle"]]
    assert all(abs(b - a - 7000) < 200 for a, b in itertools.pairwise(times))


def test_another_speed_than_the_port_s_is_misread(simulation, firmware):
    slow = UartFormat(900_000)
    # The port takes bit 3 twice, and bit 7 for the stop bit: 0x81.
    result = loop(simulation, firmware, [UartBytes(0, b"\xc1", format=slow)], 1)
    assert result.uart(0) == b"\x82"


def test_a_low_stop_bit_is_not_received(simulation, firmware):
    items = [UartBytes(0, b"a", framing_error=True), UartBytes(0, b"b")]
    assert loop(simulation, firmware, items, 1).uart(0) == b"c"


def test_a_break_is_not_received_as_a_character(simulation, firmware):
    items = [UartBreak(0, bits=13), UartBytes(0, b"b")]
    assert loop(simulation, firmware, items, 1).uart(0) == b"c"


def test_capture_at_the_wrong_speed_sees_a_framing_error(simulation, firmware):
    """Of 0x00 twice it takes the first stop bit for bit 4, and a data bit for a stop bit."""
    result = loop(
        simulation,
        firmware,
        # The stimulus has a form of its own; the capture is too slow.
        [UartBytes(0, b"\xff\xff", format=UartFormat(1_000_000))],
        2,
        uart_formats={0: UartFormat(600_000)},
    )
    (only,) = result.characters
    assert (only["data"], only["errors"]) == (0x10, UartError.FRAMING)


def test_capture_far_too_fast_sees_a_break(simulation, firmware):
    """At a hundredth of the bit time, a start bit is a break of a whole character."""
    result = loop(
        simulation,
        firmware,
        [UartBytes(0, b"\xff", format=UartFormat(1_000_000))],
        1,
        uart_formats={0: UartFormat(25_000_000)},
    )
    first = result.characters[0]
    assert first["errors"] == UartError.BREAK
    # The character 0x00: nine bits low, as well as LiteX's fractional divider can.
    assert abs(int(first["duration_cycles"]) - 9 * BIT_CYCLES) <= 2


@pytest.mark.parametrize(
    ("form", "value", "levels", "bits"),
    [
        (UartFormat(1), 0x55, 0b1_01010101_0, 10),
        (UartFormat(1, stop_bits=2), 0x00, 0b11_00000000_0, 11),
        (UartFormat(1, parity=Parity.EVEN), 0x07, 0b1_1_00000111_0, 11),
        (UartFormat(1, parity=Parity.ODD), 0x07, 0b1_0_00000111_0, 11),
        (UartFormat(1, data_bits=5), 0x1F, 0b1_11111_0, 7),
    ],
)
def test_levels_of_a_character(form, value, levels, bits):
    assert form.pattern(value) == (levels, bits)


@pytest.mark.parametrize(
    ("wires", "message"),
    [
        ([(99,)], r"port of a wire must be from 0 to \d+, not 99"),
        ([(0, 1), (1, 2)], "port 1 can be on one wire"),
    ],
)
def test_wires_that_can_not_be_are_refused(simulation, firmware, wires, message):
    with pytest.raises(ValueError, match=message):
        loop(simulation, firmware, [], 1, wires=wires)


def test_what_a_port_on_a_wire_sends_it_receives_too(simulation, firmware):
    """The program answers each character with the next; so it goes on by itself."""
    result = loop(simulation, firmware, [UartBytes(0, b"a")], 5, wires=[(0,)])
    assert result.uart(0) == b"bcdef"


def test_a_value_too_large_for_the_form_is_refused():
    with pytest.raises(ValueError, match="value must have 7 bits, not be 128"):
        UartFormat(1, data_bits=7).pattern(0x80)


def test_a_port_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="port must be from 0 to 0, not 1"):
        encode_uart([UartBytes(1, b"a")], [UartFormat(9600)], 100_000_000)


def test_a_speed_at_which_a_bit_would_take_too_long_is_named():
    with pytest.raises(ValueError, match="baud must be above 5.96046, not 5"):
        encode_uart([UartBytes(0, b"a")], [UartFormat(5)], 100_000_000)
