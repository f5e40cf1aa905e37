"""The core in somebody else's SoC of LiteX: what may be where."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from litex.build.generic_platform import Pins, Subsignal
from litex.build.io import CRG
from litex.build.sim import SimPlatform
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc_core import SoCCore

import tierv.soc.cpu  # noqa: F401
from tierv.soc import map as soc_map
from tierv.soc.soc import quiet_litex_logs

_IO = [
    ("clk", 0, Pins(1)),
    ("serial", 0, Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1))),
]


class OwnPlatform(SimPlatform):
    """Pins enough, and nothing is built."""

    def __init__(self) -> None:
        SimPlatform.__init__(self, "SIM", _IO)

    def build(self, *args, **kwargs) -> None:
        pass


def own_soc(kind: type[SoCCore] = SoCCore) -> SoCCore:
    quiet_litex_logs(logging.CRITICAL)
    platform = OwnPlatform()
    options = {"integrated_rom_size": 0x10000, "integrated_main_ram_size": 0x1000}
    soc = kind(platform, 50e6, cpu_type="tierv", cpu_variant="single", **options)
    soc.crg = CRG(platform.request("clk"))
    return soc


def built(soc: SoCCore, folder: Path, **folders: str) -> Builder:
    """What LiteX writes, but for what it compiles."""
    builder = Builder(soc, output_dir=str(folder), compile_software=False, **folders)
    builder.build(run=False)
    return builder


@pytest.mark.parametrize("name", ["software_dir", "include_dir", "generated_dir"])
def test_the_header_of_the_core_is_with_those_of_litex(tmp_path, name):
    builder = built(own_soc(), tmp_path / "build", **{name: str(tmp_path / "elsewhere")})
    headers = {path.name for path in Path(builder.generated_dir).iterdir()}
    assert headers >= {"csr.h", "mem.h", "soc.h", "tierv.h"}


def test_the_verilog_of_the_core_is_with_the_gateware(tmp_path):
    soc = own_soc()
    built(soc, tmp_path / "build", gateware_dir=str(tmp_path / "gateware"))
    (source,) = [path for path, *_ in soc.platform.sources if path.endswith("tierv_cluster.v")]
    assert Path(source).parent == tmp_path / "gateware"


class MovedSoC(SoCCore):
    """A SoC that has something else where the local memories usually are."""

    mem_map = SoCCore.mem_map | {"itcm": 0x5000_0000, "dtcm": 0x6000_0000}


def test_the_local_memories_are_where_the_soc_wants_them(tmp_path):
    soc = own_soc(MovedSoC)
    soc.add_ram("flash_cache", origin=soc_map.ORIGINS["itcm"], size=0x1000)
    builder = built(soc, tmp_path)
    parameters = soc.cpu.parameters
    for name, region in (("itcm", parameters.imem), ("dtcm", parameters.dmem)):
        assert soc.bus.regions[name].origin == region.base == MovedSoC.mem_map[name]
    header = (Path(builder.generated_dir) / "tierv.h").read_text()
    assert "0x50000000" in header


def test_they_are_where_the_map_says_otherwise():
    soc = own_soc()
    assert [soc.bus.regions[name].origin for name in ("itcm", "dtcm")] == [
        soc_map.ORIGINS[name] for name in ("itcm", "dtcm")
    ]


def test_a_place_that_does_not_fit_the_size_is_refused():
    class Crooked(SoCCore):
        mem_map = SoCCore.mem_map | {"itcm": 0x5001_0000}

    with pytest.raises(ValueError, match="base must be a 32-bit multiple of 0x20000"):
        own_soc(Crooked)


def test_caches_of_memory_that_is_not_external_are_refused(tmp_path):
    soc = own_soc()
    soc.cpu.parameters = replace(soc.cpu.parameters, icache_bytes=8 << 10, dcache_bytes=8 << 10)
    soc.platform.output_dir = str(tmp_path)
    message = "icache_bytes and dcache_bytes must be 0 without external memory, not 8192 and 8192"
    with pytest.raises(ValueError, match=message):
        soc.finalize()
