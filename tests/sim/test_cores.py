"""The bench of cores: its programs, its definitions, and that it finds what another bench found."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from tierv.sim.cores import cores, interrupts, kernels, slots
from tierv.sim.cores.interrupts import Background, Handler, held_interval, measure
from tierv.sim.cores.model import Hardware, tierv_params
from tierv.sim.cores.nested import LEVELS, measure_nested
from tierv.sim.cores.reference import REFERENCES
from tierv.sim.cores.run import Rises, RunError, run
from tierv.sim.cores.slots import WORDS, measure_slots
from tierv.sim.paths import BuildError

ARRIVALS = 30
SEED = 7


def within(value: float, wanted: float, tolerance: float = 0.05) -> bool:
    return abs(value - wanted) <= max(tolerance * wanted, 1)


def test_every_kernel_finds_it_and_dhrystone_is_near_the_real_one():
    core = cores.vexriscv("standard")
    times = kernels.run_kernels(core)
    assert list(times) == list(kernels.EXPECTED)
    for time in times.values():
        assert 0.4 < time.ipc < 1
    reference = REFERENCES[core.name].dmips
    assert kernels.dmips_per_mhz(times["dhrystone"].cycles) == pytest.approx(reference, rel=0.05)


def test_a_kernel_that_finds_something_else_is_named(monkeypatch):
    monkeypatch.setattr(kernels, "EXPECTED", {**kernels.EXPECTED, "crc": 1})
    with pytest.raises(RunError, match="the kernel crc found something else on PicoRV32"):
        kernels.run_kernels(cores.picorv32())


@pytest.mark.parametrize(
    "core",
    [
        cores.vexriscv("standard"),
        cores.picorv32(),
        pytest.param(cores.ibex(), marks=pytest.mark.slow),
    ],
    ids=lambda core: core.name,
)
def test_interrupts_of_the_peers_cost_what_another_bench_found(core):
    known = REFERENCES[core.name]
    leaf, calls = (
        measure(core, handler, Background.LOCAL, count=300, seed=SEED) for handler in Handler
    )
    assert len(leaf.first) == len(leaf.lost) == 300
    assert within(leaf.first.min(), known.first[0])
    # The gap that an interrupt tears depends on the instruction behind it where that takes several
    # cycles, and few arrivals do not meet the shortest.
    assert within(leaf.taken.min() - known.beside_taken, known.taken_leaf[0], 0.1)
    assert within(calls.taken.min() - known.beside_taken, known.taken_calls[0])
    assert within(calls.store.min(), known.store[0])
    for found in (leaf, calls):
        assert (found.first < found.store).all()
        assert (found.store < found.back).all()
        assert (found.lost <= found.taken).mean() > 0.5


def test_a_tier_s_first_instruction_issues_in_the_cycle_after_the_line():
    for background in (Background.LOCAL, Background.BUS):
        found = measure(
            cores.tierv(cores.USUAL_TIERS), Handler.LEAF, background, count=ARRIVALS, seed=SEED
        )
        assert set(found.first - interrupts.ISSUE_TO_X_CYCLES) == {1}


def test_a_pin_changes_behind_the_last_cycle_of_its_access():
    for background, cycles in ((Background.LOCAL, 1), (Background.BUS, interrupts.BUS_CYCLES)):
        found = measure(
            cores.tierv(cores.USUAL_TIERS), Handler.LEAF, background, count=ARRIVALS, seed=SEED
        )
        assert set(found.pin - found.store) == {cycles}


@pytest.mark.slow
def test_a_tier_s_handler_takes_less_than_one_that_saves_registers():
    taken = [
        measure(cores.tierv(tiers), Handler.LEAF, Background.LOCAL, count=ARRIVALS, seed=SEED).lost
        for tiers in (cores.USUAL_TIERS, 1)
    ]
    assert taken[0].max() < taken[1].min()


def test_litex_s_bus_takes_longer_than_one_that_never_waits():
    ideal, shared = (
        measure(
            cores.vexriscv("standard", litex_bus=litex_bus),
            Handler.CALLS,
            Background.LOCAL,
            count=ARRIVALS,
            seed=SEED,
        )
        for litex_bus in (False, True)
    )
    assert np.median(shared.store) > np.median(ideal.store) + 5


def test_the_shift_of_the_rounds_is_what_an_interrupt_took():
    period, costs = 400, [0, 13, 104, -2, 1]
    starts, rises, time = [], [], 0
    for cost in costs:
        rises.append(time - 50)
        time += cost
        for _ in range(4):
            starts.append(time)
            time += period
    starts.insert(0, -period)
    found = interrupts.lost_cycles(np.array(starts), np.array(rises), period)
    assert list(found) == costs[:-1]


def test_a_line_that_stays_high_is_served_again_and_again():
    interval, between = held_interval(cores.vexriscv("standard"))
    assert 15 < interval < 30
    assert between == 0


def test_handlers_nest_as_deep_as_there_are_levels():
    core = cores.vexriscv("standard")
    found = measure_nested(core, count=20, seed=SEED)
    assert found.first.shape == (20, LEVELS)
    assert found.first[:, 0].min() == REFERENCES[core.name].first[0]
    assert (found.back > found.first.sum(axis=1)).all()


def test_an_application_gets_the_slots_of_a_tier_that_waits_for_the_bus():
    found = measure_slots(cores.tierv(cores.USUAL_TIERS), count=50, seed=SEED)
    assert found.during_copies > 0.1
    # No access to the bus is shorter.
    assert found.copy_cycles > 4 * WORDS


@pytest.mark.parametrize("held", [False, True], ids=["now and then", "held"])
@pytest.mark.parametrize(
    "core", [cores.vexriscv("standard"), cores.ibex()], ids=lambda core: core.name
)
def test_a_peer_s_trap_handler_that_copies_saves_few_registers(core, held):
    program = slots._program(core, sharing=False, held=held)
    handler = program.symbol("handler")
    assert handler.size > 4 * 2 * WORDS
    words = (program.word(handler.address + offset) for offset in range(0, handler.size, 4))
    # sw with the stack pointer as its base
    saved = sum(word & 0x7F == 0x23 and word >> 12 & 7 == 2 and word >> 15 & 31 == 2
                for word in words)  # fmt: skip
    assert 0 < saved <= 6


@pytest.mark.parametrize(
    "core", [cores.tierv(cores.USUAL_TIERS), cores.vexriscv("standard")], ids=lambda core: core.name
)
def test_what_a_driver_has_copied_is_looked_at(core, monkeypatch, tmp_path):
    assert measure_slots(core, count=5, seed=SEED).copy_cycles > 4 * WORDS
    folder = shutil.copytree(slots.FIRMWARE / "bench", tmp_path / "bench")
    driver = (folder / "slots.c").read_text()
    # The word that comes last is lost again.
    text = driver.replace("    copy();\n}", "    copy();\n    copied[WORDS - 1] = 0;\n}")
    assert text != driver
    (folder / "slots.c").write_text(text)
    monkeypatch.setattr(slots, "FIRMWARE", tmp_path)
    message = f"the driver on {core.name} has copied something else than the device gave"
    with pytest.raises(RunError, match=message):
        measure_slots(core, count=5, seed=SEED)


@pytest.mark.slow
def test_a_core_with_one_tier_computes_nothing_while_it_waits_for_the_bus():
    tiers, single = (
        measure_slots(cores.tierv(tiers), count=50, seed=SEED) for tiers in (cores.USUAL_TIERS, 1)
    )
    assert single.during_copies == 0
    assert tiers.total > single.total


def test_a_line_that_rises_before_it_has_been_served_is_an_error():
    core = cores.picorv32()
    program = interrupts.latency_program(core, Handler.CALLS, Background.LOCAL)
    rises = Rises(line=interrupts.LINE, first=5_000, count=50, shortest=20, longest=20)
    with pytest.raises(RunError, match="rose in cycle 5020 before it had been served"):
        run(core, program, cycles=20_000, rises=rises, endless=True)


def test_a_program_that_does_not_end_is_an_error():
    core = cores.picorv32()
    program = interrupts.latency_program(core, Handler.LEAF, Background.LOCAL)
    with pytest.raises(
        RunError, match="latency.elf on PicoRV32 ended with 124 after at most 9,000"
    ):
        run(core, program, cycles=9_000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--line", "32"], "there are lines 0 to 31"),
        (["--shortest", "9", "--longest", "8"], "--shortest must be 1 to --longest"),
        (["--ram-cycles", "0"], "an access takes 1 to 1000 cycles, not 0"),
        (["--address", "2"], "--address must be a multiple of 4"),
        (["--count", "x"], "a number must be given, not 'x'"),
        (["--line", str(1 << 32)], f"must be below 2\\*\\*32, not '{1 << 32}'"),
    ],
)
def test_the_bench_refuses_what_can_t_be(options, message):
    core = cores.picorv32()
    program = interrupts.latency_program(core, Handler.LEAF, Background.LOCAL)
    with pytest.raises(BuildError, match=message):
        run(core, program, cycles=100, options=options)


def test_a_core_is_built_again_if_what_it_includes_has_changed(tmp_path):
    source, header, folder = tmp_path / "top.sv", tmp_path / "lib/macros.svh", tmp_path / "lib"
    (folder / "more").mkdir(parents=True)
    source.write_text("module top; endmodule\n")
    header.write_text("`define WIDTH 8\n")
    hardware = Hardware(
        name="top", driver="core_ibex", top="top", sources=(source,), folders=(folder,)
    )
    digests = [hardware.digest, hardware.digest]
    header.write_text("`define WIDTH 9\n")
    digests.append(hardware.digest)
    (folder / "added.sv").touch()
    digests.append(hardware.digest)
    (folder / "added.sv").rename(folder / "renamed.sv")
    digests.append(hardware.digest)
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_the_core_is_measured_with_its_defaults():
    params = tierv_params(3)
    default = type(params)()
    same = replace(
        params,
        reset_address=default.reset_address,
        imem=default.imem,
        dmem=default.dmem,
    )
    assert same == default
