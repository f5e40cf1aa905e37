"""The package in an environment of its own, as a LiteX user would use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: A SoC of somebody else's, on LiteX's simulation platform; only the import is ours.
USER = """
import tierv.soc.cpu
from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform
from litex.soc.cores.cpu import CPUS
from litex.soc.integration.builder import Builder
from litex.soc.integration.soc_core import SoCCore
from litex.build.io import CRG

platform = SimPlatform("SIM", [
    ("clk", 0, Pins(1)),
    ("serial", 0, Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1))),
])
soc = SoCCore(platform, 50e6, cpu_type="tierv", cpu_variant="standard",
              integrated_rom_size=0x10000, integrated_main_ram_size=0x1000)
soc.crg = CRG(platform.request("clk"))
soc.platform.output_dir = "build"
soc.finalize()
text = str(platform.get_verilog(soc.get_fragment(), regular_comb=False))
assert "tierv_cluster" in text, "the SoC has no instance of the core"
source, = [path for path, *_ in platform.sources if path.endswith("tierv_cluster.v")]
assert "module tierv_cluster(" in open(source).read()
print("built", tierv.soc.cpu.__file__)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """Python of a new environment in which the package is installed, with nothing optional."""
    folder = tmp_path_factory.mktemp("user")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    program = folder / "bin/python"
    quiet = ("--quiet", "--disable-pip-version-check")
    constraints = ("-c", ROOT / "constraints.txt")
    subprocess.run([program, "-m", "pip", "install", *quiet, *constraints, ROOT], check=True)
    return program


def test_a_litex_user_adds_the_cpu_with_one_import(python, tmp_path):
    done = subprocess.run(
        [python, "-W", "ignore", "-c", USER],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    path = done.stdout.splitlines()[-1].removeprefix("built ")
    assert Path(path).is_relative_to(python.parent.parent), "the checkout was imported instead"


def test_the_core_is_written_as_verilog_without_the_checkout(python, tmp_path):
    done = subprocess.run(
        [python, "-m", "tierv.rtl.verilog", "--tiers", "2", "core.v"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "module tierv(" in (tmp_path / "core.v").read_text()
