"""What the bit manipulation extensions save."""

from __future__ import annotations

import pytest

from tierv.rtl.params import EXTENSIONS
from tierv.sim.cores import extensions, kernels
from tierv.sim.cores.extensions import CHOICES, Gains
from tierv.sim.cores.kernels import KernelTime


def test_the_table_tells_of_the_cycles_without_extensions_how_many_are_saved():
    cycles = {(): {"crc": 1000, "list": 400, "copy": 10_000}}
    cycles |= {
        choice: {"crc": 1000 - 10 * len(choice), "list": 401, "copy": 10_001} for choice in CHOICES
    }
    head, rule, crc, other, same = Gains(cycles).markdown()
    assert head == "| | Zba | Zbb | Zba, Zbb | Zbs | Zba, Zbb, Zbs |"
    assert rule.count("|") == head.count("|")
    assert crc == "| crc | 1.0 % | 1.0 % | 2.0 % | 1.0 % | 3.0 % |"
    assert other.startswith("| list | -0.2 % |")
    assert same.startswith("| copy | 0.0 % |")


def test_the_compiler_uses_an_extension():
    plain, shifted = kernels.kernel_program(), kernels.kernel_program(("zba",))
    assert plain.path.read_bytes() != shifted.path.read_bytes()


def test_each_choice_runs_on_a_core_that_has_them_all(monkeypatch, tmp_path):
    asked = []

    def run_kernels(core, choice):
        asked.append((core, choice))
        return {"crc": KernelTime(100, 90)}

    def run_coremark(core, folder, iterations, choice):
        assert (folder, iterations) == (tmp_path, 3)
        return KernelTime(200 - len(choice), 100)

    monkeypatch.setattr(extensions.cores, "tierv", lambda tiers, chosen: (tiers, chosen))
    monkeypatch.setattr(extensions, "run_kernels", run_kernels)
    monkeypatch.setattr(extensions, "run_coremark", run_coremark)
    gains = extensions.measure_gains(tmp_path, 3)
    assert asked == [((1, EXTENSIONS), choice) for choice in ((), *CHOICES)]
    assert gains.percent("coremark", EXTENSIONS) == pytest.approx(1.5)
    assert gains.percent("crc", ("zba",)) == 0
    assert list(extensions.measure_gains(None, 3).cycles[()]) == ["crc"]
