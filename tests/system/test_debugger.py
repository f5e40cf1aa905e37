"""OpenOCD and gdb at the simulated SoC, as a user has them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from debug_session import CONFIGURATION, Session, build_debugged, need_tools, said, session

from tierv.sim.firmware import Context, build_firmware
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.soc import map as soc_map

TIERS = 3
#: LiteX's value of its scratch register after a reset.
SCRATCH_AT_RESET = 0x1234_5678
#: Seconds of patience for what must come, and for what must not.
PING_S, SILENCE_S = 60, 1


@pytest.fixture(scope="module")
def running() -> Iterator[Session]:
    """The services on a SoC with external debug."""
    need_tools()
    soc = simulation_params(debug=True, uarts=1, echo_bins=0)
    model = build_model(ModelParams(soc=soc, profile=False))
    services = build_firmware("services", model, Context.TIERS)
    with session(model, services, TIERS) as one:
        yield one


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    return build_debugged(tmp_path_factory.mktemp("debugged"))


def test_a_single_step_goes_on_from_a_wfi_that_nobody_ends(running):
    assert running.network.ping(PING_S), "the services do not run"
    with running.openocd() as port:
        output = running.gdb(
            port,
            running.program.path,
            'printf "waits: %d\\n", $pc - (int)&context_wait',
            "stepi",
            'printf "steps: %d\\n", $pc - (int)&context_wait',
            "monitor resume",
            "detach",
        )
    assert said(output, "waits") == "4"
    assert said(output, "steps") == "8"
    assert running.network.ping(PING_S), output


def test_a_breakpoint_in_the_code_of_another_tier_halts_that_one(running):
    at = running.program.symbol("protocol_service").address
    assert running.network.ping(PING_S), "the services do not run"
    with running.openocd() as port:
        words = (f"monitor bp {at:#x} 4", "monitor resume", "detach")
        running.gdb(port, running.program.path, *words)
        # The tier may have fetched so far already, while it waits.
        running.network.ping(SILENCE_S)
        assert not running.network.ping(SILENCE_S), "nobody has met the breakpoint"
        output = running.gdb(
            port + 1,
            running.program.path,
            'printf "hart: %d\\n", $mhartid',
            'printf "at: %d\\n", $pc - (int)&protocol_service',
            'printf "cause: %d\\n", ($dcsr >> 6) & 7',
            f"monitor targets tierv.tier0; halt; wait_halt; rbp {at:#x}; resume",
            "monitor targets tierv.tier1; resume",
            "detach",
        )
        assert said(output, "hart") == "1"
        assert said(output, "at") == "0"
        # An ebreak.
        assert said(output, "cause") == "1"
        assert running.network.ping(PING_S), output


def test_one_tier_is_debugged_while_the_others_serve_the_network(running, program):
    assert running.network.ping(PING_S), "the services do not run"
    with running.openocd() as port:
        output = running.gdb(
            port,
            program,
            "load",
            "break turn",
            "continue",
            'printf "first: %u %u\\n", step, turns',
            "continue",
            'printf "second: %u %u\\n", step, turns',
            "set var step = 10",
            "delete",
            "watch total",
            "continue",
            "continue",
            'printf "watched: %u %u\\n", total, turns',
            "delete",
            "hbreak sum",
            "continue",
            'printf "arguments: %u %u\\n", $a0, $a1',
            "set $before = $pc",
            "stepi",
            'printf "step: %d\\n", $pc - $before',
            "finish",
            'printf "hart: %d\\n", $mhartid',
            "monitor targets",
        )
        assert said(output, "first") == "1 0"
        assert said(output, "second") == "1 1"
        # 0 + 1, then + (1 + 10) by the changed argument.
        assert "Old value = 1" in output
        assert "New value = 12" in output
        assert said(output, "watched") == "24 12"
        assert said(output, "arguments") == "24 13"
        assert said(output, "step") == "4"
        assert "Value returned is $1 = 37" in output
        assert said(output, "hart") == "0"
        states = [line.split()[-1] for line in output.splitlines() if " tierv.tier" in line]
        assert states == ["halted", *["running"] * (TIERS - 1)]
        # gdb has gone without a word, and the application stands where it was.
        output = running.gdb(port, program, 'printf "turns: %u\\n", turns', "disconnect")
        assert said(output, "turns") == "13"
        assert running.network.ping(PING_S), "the network waits for the application"


def test_an_urgent_tier_has_a_server_of_its_own(running, program):
    with running.openocd() as port:
        output = running.gdb(
            port + 2,
            program,
            "info threads",
            'printf "hart: %d\\n", $mhartid',
            "add-inferior",
            "inferior 2",
            f"target extended-remote :{port}",
            "info threads",
            'printf "other: %d\\n", $mhartid',
        )
        assert said(output, "hart") == "2"
        assert said(output, "other") == "0"
        threads = [
            line for line in output.splitlines() if "Thread" in line or "Remote target" in line
        ]
        assert len(threads) >= 3, output


def test_all_tiers_stop_together_and_halt_on_reset_if_asked(running):
    with running.openocd(stop_all=True) as port:
        output = running.gdb(
            port,
            running.program.path,
            "monitor reset halt",
            "maintenance flush register-cache",
            "info threads",
            'printf "reset: %u\\n", $pc',
            'printf "cause: %u\\n", ($dcsr >> 6) & 7',
            "thread 3",
            'printf "hart: %d\\n", $mhartid',
            "disconnect",
        )
        for tier in range(TIERS):
            assert f"tierv.tier{tier}" in output
        assert said(output, "reset") == str(soc_map.ORIGINS["rom"])
        # OpenOCD asks for a halt throughout the reset.
        assert said(output, "cause") == "3"
        assert said(output, "hart") == "2"
        assert not running.network.ping(SILENCE_S), "a tier runs"
        # From the reset through the start-up code.
        output = running.gdb(
            port, running.program.path, "hbreak main", "continue", "info threads", "disconnect"
        )
        # gdb does not call it its breakpoint if OpenOCD sees the others halt first.
        assert "main () at " in output
        assert output.count("tierv.tier") >= TIERS


def test_a_reset_by_the_debugger_is_one_of_all_but_the_debug_module(running):
    scratch = running.register("ctrl_scratch")
    with running.openocd() as port:
        output = running.gdb(
            port,
            running.program.path,
            f"set {scratch} = 5",
            f'printf "before: %u\\n", {scratch}',
            "monitor reset halt",
            f'printf "after: %#x\\n", {scratch}',
            "monitor reset run",
            "disconnect",
        )
        assert said(output, "before") == "5"
        assert int(said(output, "after"), 0) == SCRATCH_AT_RESET
        # The program starts, and with it a MAC of which a part has another clock.
        assert running.network.ping(PING_S), output


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("set TAP none", "TAP must be simulation, artix7, ecp5 or pins, not none"),
        ("set TIERS 9", "TIERS must be from 1 to 8, not 9"),
        ("set STOP_ALL yes", "STOP_ALL must be 0 or 1, not yes"),
    ],
)
def test_a_wrong_setting_is_named(setting, message):
    need_tools()
    done = subprocess.run(
        ["openocd", "-c", setting, "-f", CONFIGURATION], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert message in done.stderr
