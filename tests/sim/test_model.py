"""Building models: when they are built again, what is refused, and waveforms."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest
from litex.soc.cores.cpu import CPUS

from tierv.sim import model as model_module
from tierv.sim.design import elaborate
from tierv.sim.model import ModelParams, build_model, config_name, simulation_params
from tierv.sim.run import Simulation, SimulationError, Wave
from tierv.soc.params import SocParams


def test_a_built_model_is_reused(model, monkeypatch):
    def fail(*_args, **_more):
        raise AssertionError("built again")

    monkeypatch.setattr(model_module, "elaborate", fail)
    assert build_model(model.params) == model


def test_a_changed_source_is_noticed_but_the_same_verilog_not_compiled(model, monkeypatch):
    digest = model_module.generator_digest
    monkeypatch.setattr(model_module, "generator_digest", lambda *a, **k: digest(*a, **k) + "x")

    def fail(*_args, **_more):
        raise AssertionError("compiled again")

    monkeypatch.setattr(model_module.verilator, "verilate", fail)
    monkeypatch.setattr(model_module.verilator, "compile_all", fail)
    assert build_model(model.params) == model
    monkeypatch.undo()
    build_model(model.params)


def test_what_a_failed_elaboration_has_emptied_is_built_again_but_not_translated(
    monkeypatch, tmp_path
):
    sources, translated, put_together = ["one"], [], []

    def put_soc_together(_soc, folder):
        put_together.append(sources[0])
        if sources[0] == "wrong":
            raise ValueError("wrong")
        return SimpleNamespace(digest="the same Verilog")

    def link(builder, _design):
        (builder.folder / "simulation").touch()

    builder = model_module._Builder
    monkeypatch.setattr(model_module, "build_root", lambda: tmp_path)
    monkeypatch.setattr(model_module, "generator_digest", lambda _params: sources[0])
    monkeypatch.setattr(model_module, "elaborate", put_soc_together)
    monkeypatch.setattr(builder, "_build_design", lambda _self, design: translated.append(design))
    monkeypatch.setattr(builder, "_build_harness", link)
    params = ModelParams(soc=simulation_params(cpu="vexriscv"))
    build_model(params)
    sources[0] = "wrong"
    with pytest.raises(ValueError, match="wrong"):
        build_model(params)
    sources[0] = "one"
    build_model(params)
    build_model(params)
    assert put_together == ["one", "wrong", "one"]
    assert len(translated) == 1


def test_configurations_have_names_of_their_own():
    usual = simulation_params(cpu="vexriscv")
    assert config_name(usual) == "vexriscv-standard"
    others = {config_name(dataclasses.replace(usual, uarts=n)) for n in (1, 2, 16)}
    assert len(others) == 3
    names = {
        ModelParams(soc=usual).name,
        ModelParams(soc=usual, trace="vcd").name,
        ModelParams(soc=usual, profile=False).name,
    }
    assert len(names) == 3


def test_a_soc_without_the_mailbox_is_refused():
    with pytest.raises(ValueError, match="mailbox must be True for a simulation"):
        ModelParams(soc=SocParams(cpu="vexriscv"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cpu": "z80"}, r"cpu must be one of .*vexriscv.*, not 'z80'"),
        ({"cpu": "../z80"}, r"cpu must be one of .*vexriscv.*, not '../z80'"),
        ({"cpu_variant": "six/ty"}, r"cpu_variant of tierv must be .*single.*, not 'six/ty'"),
    ],
)
def test_an_unknown_cpu_is_named_and_gets_no_folder(changes, message, monkeypatch, tmp_path):
    monkeypatch.setattr(model_module, "build_root", lambda: tmp_path)
    with pytest.raises(ValueError, match=message):
        build_model(ModelParams(soc=simulation_params(**changes)))
    assert not list(tmp_path.iterdir())


def test_a_cpu_that_is_not_installed_is_named(tmp_path):
    with pytest.raises(ValueError, match="cpu 'serv' can't be had: pythondata-cpu-serv module not"):
        elaborate(simulation_params(cpu="serv"), tmp_path / "soc")


def test_a_cpu_without_interrupt_lines_is_named(tmp_path, monkeypatch):
    class WithoutLines(CPUS["vexriscv"]):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            del self.interrupt

    monkeypatch.setitem(CPUS, "vexriscv", WithoutLines)
    with pytest.raises(ValueError, match="cpu must be one with interrupt lines, not 'vexriscv'"):
        elaborate(simulation_params(cpu="vexriscv"), tmp_path / "soc")


@pytest.mark.slow
def test_a_waveform_has_the_pins_and_changes_nothing(simulation, firmware, tmp_path):
    """The model with waveforms evaluates falling edges too, and all the same does the same."""
    traced = build_model(ModelParams(soc=simulation_params(cpu="vexriscv"), trace="vcd"))
    program = firmware("report")
    wave = Wave(path=tmp_path / "wave.vcd", first_cycle=100, last_cycle=150)
    result = Simulation(traced).run(program, cycles=100_000, wave=wave)
    plain = simulation.run(program, cycles=100_000)
    assert result.cycles == plain.cycles
    assert result.mailbox.tolist() == plain.mailbox.tolist()
    text = wave.path.read_text()
    assert "sys_clk" in text
    times = [int(line[1:]) for line in text.splitlines() if line.startswith("#")]
    # In picoseconds, two for each cycle of 10 ns.
    assert (times[0], times[-1], len(times)) == (1_000_000, 1_495_000, 100)


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["vcd", "fst"])
def test_a_waveform_for_which_there_is_no_room_is_an_error(firmware, tmp_path, trace):
    traced = Simulation(
        build_model(ModelParams(soc=simulation_params(cpu="vexriscv"), trace=trace))
    )
    program = firmware("report")
    wave = Wave(path=tmp_path / "wave", first_cycle=0)
    traced.run(program, cycles=1000, wave=wave)
    assert wave.path.stat().st_size > 1000
    with pytest.raises(SimulationError, match="cannot write (/dev/full: No|all of the waveform$)"):
        traced.run(program, cycles=1000, wave=dataclasses.replace(wave, path=Path("/dev/full")))
