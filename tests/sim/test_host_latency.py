"""The host's view of a board's latency instrument."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from test_host_commands import board

from tierv.sim.host.__main__ import main

SHOWN = """\
# Histogram, cycles of 100000000 Hz: hardware, software
000005 001990 000000
000006 000010 000000
000020 000000 001990
000021 000000 000010
# Total: 000002000 000002000
# Min Latencies: 00005 00020
# Avg Latencies: 00005.005 00020.005
# Max Latencies: 00006 00021
# Histogram Overflows: 00000 00000
# Std Deviations: 00000.071 00000.071
# Missed: 0, saturated: 0
# Software - hardware: 15 to 15
"""
EMPTY = """\
# Histogram, cycles of 100000000 Hz: hardware, software
# Total: 000000000 000000000
# Min Latencies: 00000 00000
# Avg Latencies: 00000.000 00000.000
# Max Latencies: 00000 00000
# Histogram Overflows: 00000 00000
"""
#: An answer that the handler has not counted yet.
HALF = EMPTY.replace("# Total: 000000000", "000005 000001 000000\n# Total: 000000001")


def answering(text: str, status: bytes = b"ok") -> Callable[[bytes, bytes, int], list[bytes]]:
    def replies(number: bytes, command: bytes, count: int) -> list[bytes]:
        assert command == b"latency show"
        return [number + b" 0 " + status + b"\n" + text.encode()]

    return replies


def run(text: str, *words: str | Path, status: bytes = b"ok") -> Result:
    with board(answering(text, status)) as port:
        arguments = ["latency", "--ip", "127.0.0.1", "--udp-port", str(port), *map(str, words)]
        return CliRunner().invoke(main, arguments)


def test_both_histograms_are_shown_written_and_drawn(tmp_path):
    text, plot = tmp_path / "latency.txt", tmp_path / "latency.png"
    done = run(SHOWN, "--text", text, "--plot", plot)
    assert done.exit_code == 0, done.output
    for word in ("hardware", "2000", "5.005", "0.071", "software", "20.005", "21"):
        assert word in done.output
    assert text.read_text() == SHOWN
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("text", "status", "words", "message"),
    [
        ("error: no command 'latency'\n", b"error", [], "no command 'latency'"),
        ("nothing\n", b"ok", [], "no line '# Total:'"),
        (EMPTY, b"ok", ["--plot", "x.png"], "nothing to draw: no samples yet"),
        (HALF, b"ok", ["--plot", "x.png"], "nothing to draw: no samples yet"),
        (EMPTY.replace(" 000000000\n", "\n"), b"ok", [], "columns, not 1"),
    ],
)
def test_what_can_t_be_shown_is_said(text, status, words, message):
    done = run(text, *words, status=status)
    assert done.exit_code == 1
    assert message in done.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plot", "."], "'--plot': File '.' is a directory."),
        (["--text", "."], "'--text': File '.' is a directory."),
        (["--text", "no/folder/file"], "'--text': no/folder/file can't be written"),
        (["--plot", "no/folder/a.png"], "'--plot': no/folder/a.png can't be written"),
        (["--plot", "latency.txt"], "'--plot': latency.txt must end in one of .eps, .jpg, "),
        (["--plot", "latency"], "'--plot': latency must end in one of .eps, .jpg, "),
        (["--text", "latency.svg", "--plot", "latency.svg"], "given for something else, too"),
    ],
)
def test_files_that_cannot_be_written_are_refused_before_the_board_is_asked(words, message):
    done = CliRunner().invoke(main, ["latency", *words])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_a_board_without_samples_shows_zeros():
    done = run(EMPTY)
    assert done.exit_code == 0, done.output
    assert "hardware" in done.output


def test_no_digit_is_missing_where_the_terminal_is_narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert "…" not in run(SHOWN).output


def test_a_text_that_the_disk_has_no_room_for_is_named():
    done = run(SHOWN, "--text", "/dev/full")
    assert done.exit_code == 1
    assert "No space left on device: '/dev/full'" in done.output
