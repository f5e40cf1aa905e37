"""``python -m tierv.sim``: what a user types."""

from __future__ import annotations

import json
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from tierv.sim.__main__ import main
from tierv.sim.commands import Commands
from tierv.sim.debug_info import NotInProgramError
from tierv.sim.model import Model, simulation_params
from tierv.sim.pcap import read_pcap, write_pcap
from tierv.sim.records import RunEnd
from tierv.sim.run import CycleLimitError
from tierv.sim.stimulus import Frame


def call(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize("command", [[], *([name] for name in main.commands)])
def test_every_command_has_help(command):
    done = call(*command, "--help")
    assert done.exit_code == 0
    assert "Usage:" in done.output


def test_a_run_says_what_it_did(model, firmware, tmp_path, capfd):
    mailbox = tmp_path / "mailbox.jsonl"
    done = call(
        "run", "--cpu", "vexriscv", "--firmware", firmware("report").path,
        "--set", "exit_code=0x15", "--get", "written", "--mailbox", mailbox,
    )  # fmt: skip
    assert done.exit_code == 0x15
    assert "ended by exit, exit code 21" in done.output
    assert "result 63: 61453 (0xf00d)" in done.output
    assert "written: 22 (0x16)" in done.output
    records = [json.loads(line) for line in mailbox.read_text().splitlines()]
    assert records[0]["data"] == 0x1234
    assert set(records[0]) == {"cycle", "offset", "data"}
    assert capfd.readouterr() == ("", "hello")


@pytest.mark.parametrize(
    ("code", "status"), [(0, 0), (255, 255), (256, 255), (1 << 31, 255), ((1 << 32) - 1, 255)]
)
def test_an_exit_code_that_is_not_0_is_a_status_that_is_not_0(monkeypatch, tmp_path, code, status):
    result = SimpleNamespace(end=RunEnd.EXIT, exit_code=code)
    simulation = SimpleNamespace(run=lambda *_, **__: result)
    for name, stand_in in (
        ("Program", lambda path: path),
        ("Simulation", lambda _model: simulation),
        ("_model", lambda *_: None),
        ("_show", lambda _result: None),
    ):
        monkeypatch.setattr(f"tierv.sim.__main__.{name}", stand_in)
    path = tmp_path / "firmware.elf"
    path.touch()
    assert call("run", "--firmware", path).exit_code == status


def test_a_mailbox_s_file_that_cannot_be_written_is_named(model, firmware):
    path = firmware("report").path
    done = call("run", "--cpu", "vexriscv", "--firmware", path, "--mailbox", "/dev/full")
    assert done.exit_code == 1
    assert "Error: [Errno 28] No space left on device: '/dev/full'" in done.output


def test_what_the_simulation_refuses_is_said_once(model, firmware, capfd):
    path = firmware("report").path
    done = call("run", "--cpu", "vexriscv", "--firmware", path, "--mii-hz", 10**10)
    assert done.exit_code == 1
    message = "--mii-hz must be from 1 to 8 times the system clock, not 10000000000"
    assert done.output == f"Error: {message}\n"
    assert capfd.readouterr() == ("", "")


def test_a_run_that_does_not_end_has_an_exit_status_of_its_own(model, firmware):
    path = firmware("spin").path
    done = call("run", "--cpu", "vexriscv", "--firmware", path, "--cycles", 1000)
    assert done.exit_code == 12
    assert "ended by limit" in done.output


def test_captures_go_in_and_out(model, firmware, tmp_path):
    frames = [Frame(bytes([n]) * 60, cycle=1000 * n) for n in range(3)]
    write_pcap(tmp_path / "in.pcap", frames, 100_000_000)
    done = call(
        "run", "--cpu", "vexriscv", "--firmware", firmware("echo").path, "--stop-frames", 3,
        "--frames", tmp_path / "in.pcap", "--speed", 2, "--pcap", tmp_path / "out.pcap",
    )  # fmt: skip
    assert done.exit_code == 0
    assert "3 frames to the SoC, 3 from it, 0 of them with errors" in done.output
    out = read_pcap(tmp_path / "out.pcap", 100_000_000)
    assert [frame.data for frame in out] == [frame.data for frame in frames]


def test_text_for_a_port_may_have_escapes(model, firmware):
    done = call(
        "run", "--cpu", "vexriscv", "--firmware", firmware("uart_loop").path,
        "--uart", r"0:a\x41", "--set", "characters=2",
    )  # fmt: skip
    assert "serial port 0: b'bB'" in done.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["build", "--cpu", "vexriscv", "--uarts", "17"],
            "uarts must be an integer from 0 to 16, not 17",
        ),
        (["build", "--cpu", "z80"], "not 'z80'"),
    ],
)
def test_mistakes_are_explained_in_a_line(words, message):
    done = call(*words)
    assert done.exit_code == 1
    assert message in done.output
    assert "Traceback" not in done.output


class EndedError(Exception):
    """The test has seen enough."""


@pytest.mark.parametrize("command", ["build", "run", "interactive", "replay"])
def test_every_command_takes_every_option_of_the_hardware(
    monkeypatch, model, firmware, tmp_path, command
):
    def build(params):
        built.append(params.soc)
        raise EndedError

    built = []
    for module in ("__main__", "replay_command"):
        monkeypatch.setattr(f"tierv.sim.{module}.build_model", build)
    write_pcap(tmp_path / "in.pcap", [Frame(bytes(60))], 100_000_000)
    program = ["--firmware", firmware("report").path] if command in ("run", "interactive") else []
    done = call(
        command, *([tmp_path / "in.pcap"] if command == "replay" else []), *program,
        "--cpu", "vexriscv", "--cpu-variant", "lite", "--uarts", 2, "--sys-clk-hz", 50_000_000,
        "--uart-baud", 9600, "--main-ram-bytes", 1 << 20, "--eth-bits-per-second", 10**9,
    )  # fmt: skip
    assert isinstance(done.exception, EndedError), done.output
    assert built == [
        simulation_params(
            cpu="vexriscv", cpu_variant="lite", uarts=2, sys_clk_hz=50_000_000, uart_baud=9600,
            main_ram_bytes=1 << 20, eth_bits_per_second=10**9,
        )
    ]  # fmt: skip


def test_addresses_are_the_firmware_s_and_the_model_s_hardware_stays(monkeypatch, tmp_path):
    def build_model(params):
        built.append(params.soc)
        return Model(params, tmp_path)

    def build_services(app, told, context):
        built.append(told)
        raise EndedError

    built = []
    monkeypatch.setattr("tierv.sim.__main__.build_model", build_model)
    monkeypatch.setattr("tierv.sim.__main__.build_firmware", build_services)
    done = call("interactive", "--mac", "02:00:00:00:00:09", "--ip", "192.168.1.51")
    assert isinstance(done.exception, EndedError), done.output
    hardware, told = built
    assert hardware == simulation_params()
    assert told.folder == tmp_path
    assert told.params.soc == simulation_params(
        mac_address="02:00:00:00:00:09", local_ip="192.168.1.51"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mac", "01:00:00:00:00:09"], "mac_address must be a station's"),
        (["--ip", "239.1.2.3"], "not '239.1.2.3'"),
        (["--ip", "192.168.1.100"], "--ip must not be this host's, 192.168.1.100"),
        (["--ip", "192.168.1.51", "--firmware", __file__], "--mac and --ip exclude it"),
    ],
)
def test_addresses_that_cannot_be_are_refused_before_a_model_is_built(monkeypatch, words, message):
    built = []
    monkeypatch.setattr("tierv.sim.__main__.build_model", built.append)
    done = call("interactive", *words)
    assert done.exit_code in (1, 2)
    assert message in " ".join(done.output.split())
    assert not built


@pytest.mark.parametrize("command", ["run", "interactive"])
def test_a_file_that_is_no_program_is_refused_before_a_model_is_built(monkeypatch, command):
    built = []
    monkeypatch.setattr("tierv.sim.__main__.build_model", built.append)
    done = call(command, "--firmware", __file__)
    assert done.exit_code == 1
    assert f"firmware must be an ELF file, not {__file__}" in done.output.replace("\n", "")
    assert not built


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cycles", "-1"], "'--cycles': -1 is not in the range"),
        (["--stop-frames", "-1"], "'--stop-frames': -1 is not in the range"),
        (["--stop-quiet", "-1"], "'--stop-quiet': -1 is not in the range"),
        (["--set", "x=abc"], "'--set': must be NAME=VALUE, not 'x=abc'"),
        (["--set", "x"], "'--set': must be NAME=VALUE, not 'x'"),
        (["--uart", "a:hi"], "'--uart': must be PORT:TEXT"),
        (["--uart", "0"], "'--uart': must be PORT:TEXT"),
        (["--uart", r"0:\u20ac"], "'--uart': must be PORT:TEXT"),
        (["--mailbox", "no/folder/file"], "'--mailbox': no/folder/file can't be written"),
        (["--wave", __file__], "can't be written: it is given for something else, too"),
    ],
)
def test_options_of_a_run_are_named_when_they_cannot_be(words, message):
    done = call("run", "--firmware", __file__, *words)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_a_capture_is_not_written_over_itself(tmp_path):
    path, link = tmp_path / "in.pcap", tmp_path / "link.pcap"
    write_pcap(path, [Frame(bytes(60))], 100_000_000)
    link.symlink_to(path)
    data = path.read_bytes()
    for words in (["replay", path], ["run", "--firmware", __file__, "--frames", path]):
        done = call(*words, "--pcap", link)
        assert done.exit_code == 2
        assert "link.pcap can't be written" in done.output
    assert path.read_bytes() == data


def test_any_byte_can_be_sent_to_a_port(model, firmware):
    done = call(
        "run", "--cpu", "vexriscv", "--firmware", firmware("uart_loop").path,
        "--uart", r"0:\xfe", "--set", "characters=1",
    )  # fmt: skip
    assert r"serial port 0: b'\xff'" in done.output


@pytest.mark.parametrize("number", [1 << 32, -(1 << 31) - 1])
def test_a_number_that_does_not_fit_is_not_cut(model, firmware, number):
    path = firmware("report").path
    done = call("run", "--cpu", "vexriscv", "--firmware", path, "--set", f"exit_code={number}")
    assert done.exit_code == 1
    assert f"exit_code must be from -2**31 to 2**32 - 1, not {number}" in done.output


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FileNotFoundError(2, "Not there", "some file"), "[Errno 2] Not there: 'some file'"),
        (NotInProgramError("no symbol 'x'"), "Error: no symbol 'x'"),
        (CycleLimitError(SimpleNamespace(cycles=7)), "did not end within 7 cycles"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "can't decode byte 0xff"),
    ],
)
def test_errors_keep_their_words(error, message):
    @click.group(cls=Commands)
    def group() -> None: ...

    @group.command()
    def fail() -> None:
        raise error

    done = CliRunner().invoke(group, ["fail"])
    assert done.exit_code == 1
    assert message in done.output


def test_an_error_of_ours_keeps_its_trace():
    @click.group(cls=Commands)
    def group() -> None: ...

    @group.command()
    def fail() -> None:
        _ = {}["word"]

    assert isinstance(CliRunner().invoke(group, ["fail"]).exception, KeyError)
