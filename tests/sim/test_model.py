"""Building models: when they are built again, what is refused, and waveforms."""

from __future__ import annotations

import dataclasses
import importlib.metadata
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
    put_together = []

    def put_soc_together(soc, folder):
        put_together.append(soc)
        return elaborate(soc, folder)

    monkeypatch.setattr(model_module, "elaborate", put_soc_together)

    def fail(*_args, **_more):
        raise AssertionError("compiled again")

    monkeypatch.setattr(model_module.verilator, "verilate", fail)
    monkeypatch.setattr(model_module.verilator, "compile_all", fail)
    assert build_model(model.params) == model
    assert put_together == [model.params.soc]
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


def test_an_edit_since_the_process_began_does_not_count_as_what_is_built(monkeypatch, tmp_path):
    source, program = tmp_path / "soc.py", tmp_path / "harness.cpp"
    source.write_text("old")
    program.write_text("old")
    monkeypatch.setattr(model_module, "_sources", lambda _parts: [source, program])
    imported = {source: source.read_bytes()}
    params = simulation_params()

    def digest(**more) -> str:
        return model_module.generator_digest(params, **more)

    before = digest(imported=imported), digest(imported={})
    source.write_text("new")
    assert digest(imported=imported) == before[0]
    # Another process, or a compiler, has what is there by then.
    assert digest(imported={}) != before[1]
    program.write_text("new")
    assert digest(imported=imported) != before[0]


def test_models_are_told_apart_by_the_sources_that_were_imported(monkeypatch):
    params = simulation_params()
    before = model_module.generator_digest(params)
    edited = next(path for path in model_module._IMPORTED if path.name == "top.py")
    read = Path.read_bytes

    def read_edited(path: Path) -> bytes:
        return read(path) + (b"edited" if path == edited else b"")

    monkeypatch.setattr(Path, "read_bytes", read_edited)
    assert model_module.generator_digest(params) == before


@pytest.fixture
def builder(monkeypatch, tmp_path):
    """Builds a model of which nothing is put together, translated or compiled."""
    monkeypatch.setattr(model_module, "build_root", lambda: tmp_path)
    monkeypatch.setattr(model_module.verilator, "link", lambda _, program, *_more: program.touch())
    monkeypatch.setattr(model_module, "cpp_header", lambda *_: "")
    monkeypatch.setattr(model_module._Builder, "_can_evaluate_fast", lambda *_: False)
    builder = model_module._Builder(ModelParams(soc=simulation_params()))
    for folder in (builder.verilated, builder.objects):
        folder.mkdir(parents=True)
    return builder


def test_another_verilator_translates_and_compiles_again(builder, monkeypatch):
    design = SimpleNamespace(digest="the same Verilog", memories={})
    translated, compiled = [], []

    def compile_all(jobs, _log):
        compiled.append(model_module.verilator.version())
        for _, target, _ in jobs:
            target.touch()

    def build_design(*_):
        translated.append(model_module.verilator.version())

    monkeypatch.setattr(model_module, "elaborate", lambda *_: design)
    monkeypatch.setattr(model_module._Builder, "_build_design", build_design)
    monkeypatch.setattr(model_module.verilator, "compile_all", compile_all)
    versions = {"verilator": "5.1"}
    installed = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: versions.get(name) or installed(name)
    )
    builder.build()
    builder.build()
    versions["verilator"] = "5.2"
    builder.build()
    assert translated == compiled == ["5.1", "5.2"]


def test_a_harness_of_which_the_compiler_was_killed_is_compiled_again(builder, monkeypatch):
    design = SimpleNamespace(memories={})
    compiled = []

    def compile_all(jobs, _log):
        ((_, target, flags),) = jobs
        target.touch()
        compiled.append(flags)
        if "-DOTHER" in flags:
            raise KeyboardInterrupt

    monkeypatch.setattr(model_module.verilator, "compile_all", compile_all)
    builder._build_harness(design)
    with monkeypatch.context() as patch:
        patch.setattr(model_module.verilator, "HARNESS_FLAGS", ("-DOTHER",))
        with pytest.raises(KeyboardInterrupt):
            builder._build_harness(design)
    builder._build_harness(design)
    builder._build_harness(design)
    assert len(compiled) == 3


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
