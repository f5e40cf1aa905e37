"""LiteX's BIOS, as it is, on the simulated SoC with this core: its serial line and its network."""

from __future__ import annotations

import pytest
from scapy.layers.l2 import ARP, Ether

from tierv.sim import bios as bios_module
from tierv.sim.bios import build_bios
from tierv.sim.elf import Program
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.records import RunEnd
from tierv.sim.run import Simulation, Until
from tierv.sim.stimulus import Frame, UartBytes

PROMPT = "litex\x1b[0m> "
HERE, THERE = "192.168.1.50", "192.168.1.100"
HERE_MAC, THERE_MAC = "10:e2:d5:00:00:01", "02:00:00:00:00:01"
#: The key that ends the wait for a program over the serial line.
NO_BOOT = UartBytes(0, b"Q", cycle=100_000)


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return Simulation(build_model(ModelParams(soc=simulation_params())))


@pytest.fixture(scope="module")
def bios() -> Program:
    return build_bios(simulation_params())


def test_another_compiler_or_library_builds_the_bios_again(monkeypatch, tmp_path):
    built, versions = [], {"compiler": "12", **dict.fromkeys(bios_module._PACKAGES, "1")}

    def run_litex(_module, _what, folder):
        image = folder / "software/bios/bios.bin"
        image.parent.mkdir(parents=True)
        image.touch()
        built.append(dict(versions))

    monkeypatch.setattr(bios_module, "build_root", lambda: tmp_path)
    monkeypatch.setattr(bios_module, "run_litex", run_litex)
    monkeypatch.setattr(bios_module, "compiler", lambda: versions["compiler"])
    monkeypatch.setattr(bios_module, "version", versions.__getitem__)
    build_bios(simulation_params())
    for name in versions:
        for _ in range(2):
            versions[name] = "another"
            build_bios(simulation_params())
    assert len(built) == 1 + len(versions) == 4


@pytest.mark.slow
def test_the_bios_boots_to_its_prompt(simulation, bios):
    result = simulation.run(bios, cycles=5_000_000, uart=[NO_BOOT], until=Until(text=(0, PROMPT)))
    assert result.end is RunEnd.CONDITION
    text = result.uart(0).decode()
    assert "BIOS CRC passed" in text
    assert "Ethernet init" in text
    assert not result.characters["errors"].any()


@pytest.mark.slow
def test_the_bios_answers_arp_while_it_boots_from_the_network(simulation, bios):
    netboot = UartBytes(0, b"netboot\n", cycle=3_500_000, interval_cycles=10_000)
    request = Ether(dst="ff:ff:ff:ff:ff:ff", src=THERE_MAC) / ARP(
        op="who-has", hwsrc=THERE_MAC, psrc=THERE, pdst=HERE
    )
    result = simulation.run(
        bios,
        cycles=10_000_000,
        uart=[NO_BOOT, netboot],
        frames=[Frame(bytes(request), cycle=4_500_000)],
        until=Until(frames=2),
    )
    own, answer = (Ether(frame.data) for frame in result.frames)
    assert (own[ARP].op, own[ARP].pdst) == (1, THERE)
    assert answer.dst == THERE_MAC
    assert (answer[ARP].op, answer[ARP].psrc, answer[ARP].hwsrc) == (2, HERE, HERE_MAC)
    assert all(frame.errors == 0 for frame in result.frames)
