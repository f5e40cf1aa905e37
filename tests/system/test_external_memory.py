"""Tier 0 in external memory behind the caches, beside a tier that answers lines."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from debug_session import build_debugged, said, session
from soc_firmware import build_firmware

from tierv.sim.bios import build_bios
from tierv.sim.elf import Program
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.records import RunEnd
from tierv.sim.run import Simulation, Until
from tierv.sim.stimulus import RandomLine, UartBytes

#: LiteDRAM's model of an SDRAM, and what a board would have in front of it.
SOC = simulation_params(
    sdram=True,
    main_ram_bytes=0,
    icache_bytes=8 << 10,
    dcache_bytes=8 << 10,
    ethernet=False,
    uarts=0,
    echo_bins=0,
    debug=True,
)
#: Lines, at cycles that have nothing to do with what tier 0 does.
ANSWERS = 300
FIRST_LINE = 1_200_000
#: From the rise of a line to its fall: two cycles to the store's stage M, the bus, the mailbox.
RISE_TO_FALL_CYCLES = 6
WATCHED_CYCLES = 20
TIERS = 3
#: Lines that never come.
ENDLESS = 0xFFFF_FFFF
PROMPT = "litex\x1b[0m> "


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return Simulation(build_model(ModelParams(soc=SOC, profile=False)))


@pytest.fixture(scope="module")
def program(simulation: Simulation) -> Program:
    return build_firmware("cached", simulation.model.include, layout="local")


@pytest.fixture(scope="module")
def run(simulation: Simulation, program: Program):
    """Timed work, then lines while tier 0 misses all the time."""
    line = RandomLine(0, min_cycles=100, max_cycles=300, seed=3, count=ANSWERS, start=FIRST_LINE)
    return simulation.run(
        program,
        cycles=2_000_000,
        lines=[line],
        watch_cycles=WATCHED_CYCLES,
        set={"answers": ANSWERS},
    )


def test_cached_external_memory_is_nearly_as_fast_as_local_memory(run):
    local_first, local_again, first, again, same = (run.results[index] for index in range(5))
    assert same == 1
    # The branches of each copy are learnt in its first run.
    assert local_first < first < 1.05 * local_first
    assert local_again <= again < 1.01 * local_again
    assert again < first


def test_misses_of_tier_0_delay_no_answer_by_a_cycle(run):
    rises = run.lines["cycle"][run.lines["level"] == 1].astype(int)
    falls = run.lines["cycle"][run.lines["level"] == 0].astype(int)
    assert len(rises) == ANSWERS
    assert set(falls - rises) == {RISE_TO_FALL_CYCLES}
    # Each instruction of the answer, not just its effect.
    answers = set()
    for rise in rises:
        near = (run.retired["cycle"] >= rise) & (run.retired["cycle"] < rise + WATCHED_CYCLES)
        own = run.retired[near & (run.retired["tier"] == 2)]
        answers.add(tuple(zip(own["cycle"].astype(int) - rise, own["pc"], strict=True)))
    assert len(answers) == 1
    # Tier 0 had the other slots, and could use few of them.
    assert np.count_nonzero(run.retired["tier"] == 0) < 0.2 * WATCHED_CYCLES * ANSWERS


def test_a_debugger_and_a_tier_see_through_the_caches_what_the_other_writes(
    simulation, program, tmp_path
):
    debugged = build_debugged(tmp_path)
    with (
        session(simulation.model, program, TIERS, {"answers": ENDLESS}) as running,
        running.openocd() as port,
    ):
        output = running.gdb(
            port,
            debugged,
            "load",
            "break turn",
            "continue",
            "continue",
            "continue",
            'printf "third: %u %u\\n", step, turns',
            "set var step = 10",
            "delete",
            "break sum",
            "continue",
            'printf "arguments: %u %u\\n", $a0, $a1',
            "delete",
            "monitor resume",
            "disconnect",
        )
        assert said(output, "third") == "1 2"
        assert said(output, "arguments") == "3 12"
        # By way of another tier, while this one runs.
        turns = 'printf "%s: %%u\\n", turns'
        output = running.gdb(
            port + 1,
            debugged,
            turns % "first",
            turns % "second",
            "set var stride = 0",
            turns % "stopped",
            turns % "still",
            "set var stride = 1",
            turns % "goes on",
        )
        first, second, stopped, still, on = (
            int(said(output, name)) for name in ("first", "second", "stopped", "still", "goes on")
        )
        assert 12 < first < second < stopped == still < on


@pytest.mark.slow
def test_a_memory_whose_bytes_cannot_be_masked_loses_none():
    soc = dataclasses.replace(SOC, sdram_masks=False)
    simulation = Simulation(build_model(ModelParams(soc=soc, profile=False)))
    program = build_firmware("bytes", simulation.model.include, layout="local")
    assert simulation.run(program, cycles=2_000_000).exit_code == 0


@pytest.mark.slow
def test_the_bios_tests_the_memory_and_finds_it_good(simulation):
    result = simulation.run(
        build_bios(SOC),
        cycles=20_000_000,
        uart=[UartBytes(0, b"Q", cycle=6_000_000, interval_cycles=100_000)],
        until=Until(text=(0, PROMPT)),
    )
    assert result.end is RunEnd.CONDITION
    assert "Memtest OK" in result.uart(0).decode()
