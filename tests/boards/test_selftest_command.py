"""Collecting a self-test: what is lost, wrong or from somebody else, and what a board fails."""

from __future__ import annotations

import json
import os
import pty
import threading

import pytest
from click.testing import CliRunner

from tierv.boards import selftest
from tierv.boards.__main__ import main
from tierv.boards.registry import find_board
from tierv.sim.cores.kernels import EXPECTED
from tierv.sim.selftest import read_selftest

HASH = EXPECTED["crc"]


def lines(*, passed: bool = True, count: int | None = None) -> list[str]:
    records = [
        {"selftest": "TierV SoC", "clock_hz": 50_000_000, "contexts": 3},
        {"check": "timer", "passed": passed, "cycles": 20_031},
        {"switch": "post", "samples": 64}
        | {"least_in": 4, "most_in": 5, "least_out": 6, "most_out": 7},
        {"kernel": "crc", "cycles": 1_234, "first_result": HASH, "result": HASH},
    ]
    records.append({"end": "passed", "failures": 0, "lines": len(records), "complete": True})
    if count is not None:
        records[-1]["lines"] = count
    return [json.dumps(record) for record in records]


def test_what_a_board_tells_becomes_figures():
    told = read_selftest(lines())
    assert told.failures == []
    assert told.figures["post, in: most"] == 5
    assert told.figures["kernel crc"] == 1_234
    assert [json.dumps(one) for one in told.as_json()] == lines()


def test_the_rest_of_an_earlier_one_is_passed_over():
    assert read_selftest([*lines()[2:], "", *lines()]).figures["kernel crc"] == 1_234


def test_a_reset_begins_anew():
    assert len(read_selftest([*lines()[:2], *lines()]).records) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ([*lines()[:2], '{"check": "tim'], 'must be a JSON object, not \'{"check": "tim\''),
        ([*lines()[:2], '{"check": "timer"}x'], "must be a JSON object"),
        ([*lines()[:2], '{"verdict": 1}'], "must be a JSON object"),
        ([*lines()[:2], "[]"], "must be a JSON object"),
        ([*lines()[:2], '["check"]'], "must be a JSON object"),
        ([*lines()[:2], '{"check": "timer", "past": true}'], "must have passed, not be .*timer"),
        ([*lines()[:2], '{"switch": "post", "samples": 1}'], "must have least_in, most_in, "),
        ([*lines()[:2], '{"switch": "line", "samples": 1}'], "must have least_latency, "),
        ([*lines()[:2], '{"kernel": "crc"}'], "must have cycles, first_result, result, not"),
        ([*lines()[:2], '{"end": "passed"}'], "must have lines, not"),
        (lines(count=9), "must have 9 lines, not 4"),
        (lines()[:3], "ended behind 3 lines"),
        ([], "ended behind 0 lines"),
    ],
)
def test_what_is_no_whole_self_test_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_selftest(text)


def test_a_failed_check_is_named_with_its_values():
    assert read_selftest(lines(passed=False)).failures == ["timer cycles 20031"]


@pytest.mark.parametrize("which", ["first_result", "result"])
def test_a_kernel_that_finds_something_else_is_a_failure(which):
    told = [line.replace(f'"{which}": {HASH}', f'"{which}": 1') for line in lines()]
    assert read_selftest(told).failures == ["kernel crc found something else"]


def test_a_kernel_that_is_not_known_here_is_a_failure():
    told = [line.replace('"crc"', '"crc32"') for line in lines()]
    assert read_selftest(told).failures == ["kernel crc32 is not known"]


def with_line(**values: int | bool) -> list[str]:
    """With what the instrument has told of its line."""
    record = {"switch": "line", "ready": True, "samples": 4, "missed": 0, "least_latency": 5}
    record |= {"most_latency": 8, "sum_of_latencies": 25, "undisturbed_cycles": 1_000}
    record |= {"disturbed_cycles": 1_030} | values
    return [lines()[0], json.dumps(record), *lines()[1:4], *lines(count=5)[4:]]


def test_latencies_of_the_instrument_become_figures():
    told = read_selftest(with_line())
    assert told.failures == []
    assert told.figures["line to answer: mean"] == 6.25
    assert told.figures["taken from the application: mean"] == 7.5


@pytest.mark.parametrize(
    ("values", "failure"),
    [
        ({"missed": 2}, "2 interrupts of the instrument were missed"),
        ({"ready": False}, "the instrument did not get ready"),
        ({"samples": 0}, "no interrupt of the instrument came"),
    ],
)
def test_an_instrument_that_does_not_measure_is_a_failure(values, failure):
    assert read_selftest(with_line(**values)).failures == [failure]


def serve(text: str) -> tuple[str, threading.Thread]:
    """A console that tells ``text`` when a key is pressed: its name, and who does it."""
    board, console = pty.openpty()
    name = os.ttyname(console)

    def tell() -> None:
        os.read(board, 1)
        os.write(board, text.encode())

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    return name, thread


@pytest.mark.usefixtures("pseudo_terminals")
def test_the_command_collects_over_a_serial_port(tmp_path):
    port, _ = serve("\r\n".join(lines()) + "\r\n")
    path = tmp_path / "told.json"
    command = ["selftest", "de0_nano", "--port", port, "--json", str(path)]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    assert "all checks have passed" in done.output
    assert [json.dumps(one) for one in json.loads(path.read_text())["board"]] == lines()


@pytest.mark.usefixtures("pseudo_terminals")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_what_was_told_is_shown_also_if_it_can_t_be_written():
    port, _ = serve("\r\n".join(lines()) + "\r\n")
    done = CliRunner().invoke(main, ["selftest", "de0_nano", "--port", port, "--json", "/dev/full"])
    assert done.exit_code == 1
    assert "kernel crc" in done.output
    assert "No space left on device: '/dev/full'" in done.output


@pytest.mark.usefixtures("pseudo_terminals")
def test_the_command_fails_with_the_board():
    port, _ = serve("\n".join(lines(passed=False)) + "\n")
    done = CliRunner().invoke(main, ["selftest", "de0_nano", "--port", port])
    assert done.exit_code == 1
    assert "de0_nano has failed its self-test: timer cycles 20031" in done.output


@pytest.mark.usefixtures("pseudo_terminals")
def test_silence_is_an_error(monkeypatch):
    monkeypatch.setattr(selftest, "_SILENCE_S", 0.1)
    port, _ = serve("")
    done = CliRunner().invoke(main, ["selftest", "de0_nano", "--port", port])
    assert done.exit_code == 1
    assert f"nothing came from {port}" in done.output


def test_neither_board_nor_simulation_is_refused():
    done = CliRunner().invoke(main, ["selftest", "arty"])
    assert done.exit_code == 1
    assert "a board must be named by --port" in done.output


def test_a_speed_that_no_port_can_have_is_refused():
    words = ["selftest", "arty", "--port", "/dev/null", "--baud", str(1 << 31)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "'--baud': 2147483648 is not in the range" in " ".join(done.output.split())


def test_a_program_and_a_file_together_are_refused(tmp_path):
    path = tmp_path / "x.elf"
    path.touch()
    done = CliRunner().invoke(
        main, ["firmware", "ecpix5", "--app", "selftest", "--file", str(path)]
    )
    assert done.exit_code == 1
    assert "either --file or --app" in done.output


def test_the_simulated_board_has_the_boards_devices():
    board = find_board("de0_nano")
    soc = selftest.simulated_params(board)
    assert (soc.sys_clk_hz, soc.uarts, soc.ethernet) == (50_000_000, 2, False)
    assert soc.mailbox


def test_a_folder_is_no_place_for_what_was_told(tmp_path):
    done = CliRunner().invoke(main, ["selftest", "ecpix5", "--simulate", "--json", str(tmp_path)])
    assert done.exit_code == 2
    assert "is a directory" in done.output
