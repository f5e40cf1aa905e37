"""What the bit manipulation extensions save."""

from __future__ import annotations

import pytest

from tierv.rtl.document import MANUAL
from tierv.rtl.params import EXTENSIONS
from tierv.sim.cores import cores, extensions, kernels, stack
from tierv.sim.cores.extensions import CHOICES, Gains
from tierv.sim.cores.kernels import KernelTime
from tierv.sim.cores.run import RunError


def test_the_table_tells_of_the_cycles_without_extensions_how_many_are_saved():
    cycles = {(): {"crc": 1000, "list": 400, "copy": 10_000}}
    cycles |= {
        choice: {"crc": 1000 - 10 * len(choice), "list": 401, "copy": 10_001} for choice in CHOICES
    }
    head, rule, crc, other, same, _, tool = Gains(cycles, "gcc 1", 3).table().splitlines()
    assert head == "| | Zba | Zbb | Zba, Zbb | Zbs | Zba, Zbb, Zbs |"
    assert rule.count("|") == head.count("|")
    assert crc == "| crc | 1.0 % | 1.0 % | 2.0 % | 1.0 % | 3.0 % |"
    assert other.startswith("| list | -0.2 % |")
    assert same.startswith("| copy | 0.0 % |")
    assert tool == "gcc 1. CoreMark: 3 iterations."
    assert Gains(cycles, "gcc 1", 0).table().endswith("\ngcc 1.\n")


def test_the_manual_has_the_gains_that_are_kept():
    assert extensions.read().table() in MANUAL.read_text()


def test_gains_are_written_as_they_are_read(monkeypatch, tmp_path):
    kept, manual = tmp_path / "gains.json", tmp_path / "manual.md"
    manual.write_text("before\n<!-- extensions -->\nold\n<!-- end -->\nbehind\n")
    monkeypatch.setattr(extensions, "GOLDEN", kept)
    monkeypatch.setattr(extensions, "MANUAL", manual)
    cycles = {(): {"crc": 100}} | {choice: {"crc": 90} for choice in CHOICES}
    gains = Gains(cycles, "gcc 1", 0)
    extensions.update(gains)
    assert extensions.read() == gains
    text = manual.read_text()
    assert text.startswith("before\n<!-- extensions -->\n| | Zba |")
    assert text.endswith("gcc 1.\n<!-- end -->\nbehind\n")


def test_the_compiler_uses_an_extension():
    plain, shifted = kernels.kernel_program(), kernels.kernel_program(("zba",))
    assert plain.path.read_bytes() != shifted.path.read_bytes()


def test_each_choice_runs_on_a_core_that_has_them_all(monkeypatch, tmp_path):
    asked = []

    def run_kernels(core, choice):
        asked.append((core, choice))
        return {"crc": KernelTime(100, 90)}

    def run_coremark(core, folder, iterations, flags):
        assert (folder, iterations) == (tmp_path, 3)
        return KernelTime(200 - " ".join(flags).count("_zb"), 100)

    def run_echo(core, choice):
        return {"echo": KernelTime(50, 50)}

    monkeypatch.setattr(extensions.cores, "tierv", lambda tiers, chosen: (tiers, chosen))
    monkeypatch.setattr(extensions, "run_kernels", run_kernels)
    monkeypatch.setattr(extensions, "run_echo", run_echo)
    monkeypatch.setattr(extensions, "run_coremark", run_coremark)
    gains = extensions.measure_gains(tmp_path, 3)
    assert asked == [((1, EXTENSIONS), choice) for choice in ((), *CHOICES)]
    assert gains.percent("coremark", EXTENSIONS) == pytest.approx(1.5)
    assert gains.percent("crc", ("zba",)) == 0
    assert gains.coremark_iterations == 3
    without = extensions.measure_gains(None, 3)
    assert list(without.cycles[()]) == ["crc", "echo"]
    assert without.coremark_iterations == 0


def test_an_echo_takes_a_few_hundred_cycles_and_more_for_more_bytes():
    times = stack.run_echo(cores.tierv(cores.USUAL_TIERS))
    assert list(times) == [f"echo of {size} bytes" for size in stack.FRAME_BYTES]
    short, middle, long = times.values()
    assert 200 < short.instructions < short.cycles < 500
    # Five instructions for each word that is copied and summed, and those of the loop.
    for more, less, words in ((middle, short, 112), (long, middle, 250)):
        assert more.instructions - less.instructions == pytest.approx(5.5 * words, rel=0.1)


def test_an_echo_that_does_not_come_back_is_told(monkeypatch):
    monkeypatch.setattr(stack, "FRAME_BYTES", (64, 1515))
    with pytest.raises(RunError, match="ended with 2 "):
        stack.run_echo(cores.tierv(cores.USUAL_TIERS))
