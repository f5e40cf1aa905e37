"""Running programs: how runs end, what they report, and variables set and read from outside."""

from __future__ import annotations

import dataclasses
import subprocess

import numpy as np
import pytest

from tierv.sim.elf import Program
from tierv.sim.records import HOUSEKEEPING_CYCLES, RunEnd
from tierv.sim.run import CycleLimitError, SimulationError, Until
from tierv.sim.stimulus import (
    Frame,
    LineLevel,
    UartBytes,
    UartFormat,
    encode_frames,
    encode_lines,
    encode_uart,
)


def test_firmware_ends_the_run_with_its_exit_code(simulation, firmware):
    result = simulation.run(firmware("report"), cycles=100_000)
    assert result.end is RunEnd.EXIT
    assert result.exit_code == 7


def test_results_marks_and_text_arrive(simulation, firmware):
    result = simulation.run(firmware("report"), cycles=100_000)
    assert result.results == {0: 0xCAFE, 63: 0xF00D}
    assert result.marks[0][1] == 0x1234
    assert result.text == "hello"


def test_the_count_that_firmware_reads_is_the_harness_s_cycle(simulation, firmware):
    result = simulation.run(firmware("report"), cycles=100_000)
    cycle, value = result.marks[1]
    # The read itself was on the bus shortly before the mark.
    assert 0 < cycle - value < 100
    assert result.marks[0][0] < value


def test_a_variable_can_be_set_before_and_read_after(simulation, firmware):
    result = simulation.run(
        firmware("report"), cycles=100_000, set={"exit_code": 41}, get=["written", "table"]
    )
    assert result.exit_code == 41
    assert result.values["written"] == 42
    assert result.values["table"] == bytes.fromhex("01000000 02000000 01020300")


def test_a_negative_value_is_set_as_its_two_s_complement(simulation, firmware):
    result = simulation.run(firmware("report"), cycles=100_000, set={"exit_code": -1})
    assert result.exit_code == 0xFFFF_FFFF


def test_an_unknown_variable_is_named(simulation, firmware):
    with pytest.raises(KeyError, match="no symbol 'nothing'"):
        simulation.run(firmware("report"), cycles=1000, set={"nothing": 1})
    with pytest.raises(KeyError, match="no symbol 'nothing'"):
        simulation.run(firmware("report"), cycles=1000, get=["nothing"])


def test_a_variable_that_start_up_clears_can_t_be_set(simulation, firmware):
    with pytest.raises(ValueError, match="written has no initial value"):
        simulation.run(firmware("report"), cycles=1000, set={"written": 1})


def test_the_first_bytes_of_a_larger_variable_are_set(simulation, firmware):
    result = simulation.run(
        firmware("report"), cycles=10_000, set={"table": b"\xaa\xbb"}, get=["table"]
    )
    assert result.values["table"] == bytes.fromhex("aabb0000 02000000 01020300")


def test_a_value_that_does_not_fit_is_refused(simulation, firmware):
    for value, bytes_ in ((1, 4), (bytes(13), 13)):
        with pytest.raises(ValueError, match=f"table has 12 bytes and can't be set to {bytes_}"):
            simulation.run(firmware("report"), cycles=1000, set={"table": value})


def test_the_cycle_limit_is_an_error_that_says_so(simulation, firmware):
    with pytest.raises(CycleLimitError, match="did not end within 5000 cycles") as caught:
        simulation.run(firmware("spin"), cycles=5000)
    assert caught.value.result.end is RunEnd.LIMIT
    assert caught.value.result.cycles == 5000


def test_the_cycle_limit_can_be_what_is_wanted(simulation, firmware):
    result = simulation.run(firmware("spin"), cycles=5000, limit_is_error=False)
    assert result.end is RunEnd.LIMIT


def test_a_segment_outside_all_memories_is_an_error_with_its_address(simulation, firmware):
    program = firmware("report")
    lost = Program(program.path)
    lost.segments = [dataclasses.replace(program.segments[0], load_address=0x5000_0000)]
    with pytest.raises(SimulationError, match="no memory at 0x50000000"):
        simulation.run(lost, cycles=1000)


def test_a_segment_beyond_the_end_of_its_memory_is_an_error(simulation, tmp_path):
    path = tmp_path / "large.bin"
    path.write_bytes(bytes(64))
    with pytest.raises(SimulationError, match="64 bytes at 0x10001ff0 do not fit in sram"):
        simulation.run(Program(path, address=0x1000_1FF0), cycles=1000)


def test_a_run_goes_on_for_the_quiet_cycles_after_the_last_stimulus(simulation, firmware):
    # The character's last bit ends a thousand cycles later.
    uart = [UartBytes(0, b"x", cycle=30_000)]
    until = Until(quiet_cycles=10_000)
    result = simulation.run(firmware("spin"), cycles=100_000, uart=uart, until=until)
    assert result.end is RunEnd.CONDITION
    # That it is quiet is seen late, and so is that it has been for long enough.
    assert 0 <= result.cycles - 41_000 <= 2 * HOUSEKEEPING_CYCLES


def test_a_text_from_a_serial_port_that_is_not_there_is_an_error(simulation, firmware):
    for port in (5, 2**31):
        with pytest.raises(SimulationError, match=f"--stop-text: no serial port {port}"):
            simulation.run(firmware("spin"), cycles=1000, until=Until(text=(port, "x")))


def test_a_file_that_is_no_program_is_refused(simulation, tmp_path):
    path = tmp_path / "text.elf"
    path.write_text("not a program")
    with pytest.raises(ValueError, match="must be an ELF file"):
        simulation.run(path, cycles=1000)


def test_the_same_inputs_give_the_same_run(simulation, firmware):
    first, second = (simulation.run(firmware("report"), cycles=100_000) for _ in range(2))
    assert first.cycles == second.cycles
    assert np.array_equal(first.mailbox, second.mailbox)


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("--pcap", "echo"),
        ("--frames-out", "echo"),
        ("--frames-sent", "echo"),
        ("--lines-out", "echo"),
        ("--uart-out", "uart_loop"),
        ("--mailbox-out", "report"),
        ("--peeks-out", "report"),
        ("--summary", "report"),
    ],
)
def test_a_file_that_the_harness_cannot_write_is_an_error(
    simulation, firmware, tmp_path, option, name
):
    """What is in a buffer when the disk is full would be lost in silence."""
    program = firmware(name)
    soc = simulation.model.params.soc
    formats = [UartFormat(soc.uart_baud)] * soc.uart_pins
    files = {
        "--image": simulation.image(program, {}),
        "--frames": encode_frames([Frame(bytes(60), cycle=2000)]),
        "--lines": encode_lines([LineLevel(2000, raise_mask=1)]),
        "--uart": encode_uart([UartBytes(0, b"a", cycle=2000)], formats, soc.sys_clk_hz),
    }
    command = [simulation.model.program, "--cycles", "30000", option, "/dev/full"]
    command += ["--peek", f"{program.entry:#x},4"]
    for file, data in files.items():
        path = tmp_path / file.strip("-")
        path.write_bytes(data)
        command += [file, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert RunEnd(done.returncode) is RunEnd.ERROR
    assert done.stderr.endswith("error: cannot write /dev/full: No space left on device\n")
