"""A LiteX block alone behind a CSR bus, as a Verilated model for cocotb."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from pathlib import Path

from cocotb_tools.runner import get_runner
from litex.gen import LiteXModule
from litex.gen.fhdl.verilog import convert
from litex.soc.interconnect import csr_bus
from migen import ClockDomain, Record, Signal

from tierv.sim.paths import build_root, locked, step
from tierv.sim.verilator import verilator_env

HERE = Path(__file__).resolve().parent
MODULE = "block"
#: Tells the simulation the addresses of the registers: a JSON file.
REGISTERS_VARIABLE = "TIERV_BLOCK_REGISTERS"
_DATA_BITS, _ADDRESS_BITS = 32, 14
_TEST = re.compile(r"@cocotb\.test\([^)]*\)\nasync def (\w+)\(dut\)")
_FLAGS = (
    *("--no-public-flat-rw", "--public-depth", "1", "-O3", "--x-assign", "fast"),
    *("--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
    *("-CFLAGS", "-O1"),
)


class _Bench(LiteXModule):
    """The block and its CSR bus."""

    def __init__(self, block: LiteXModule) -> None:
        self.cd_sys = ClockDomain("sys")
        self.block = block
        widths = {"data_width": _DATA_BITS, "address_width": _ADDRESS_BITS}
        self.bus = bus = csr_bus.Interface(**widths)
        self.banks = csr_bus.CSRBankArray(self, lambda name, memory: 0, alignment=32, **widths)
        self.interconnect = csr_bus.InterconnectShared([bus], self.banks.get_buses())


def registers_of(bench: _Bench) -> dict[str, tuple[int, int]]:
    """Word address and number of words of each register; the first word is the highest."""
    registers: dict[str, tuple[int, int]] = {}
    for _, described, _, bank in bench.banks.banks:
        address = 0
        for register in described:
            words = len(getattr(register, "simple_csrs", [register]))
            registers[register.name] = address, words
            address += words
        assert address == len(bank.simple_csrs)
    return registers


def cocotb_tests(module: str) -> list[str]:
    """Names of a module's cocotb tests."""
    return _TEST.findall((HERE / f"{module}.py").read_text())


def build_block(name: str, make: Callable[[], tuple[LiteXModule, list[Signal | Record]]]) -> Path:
    """Build the model of what ``make`` gives, a block and its pins; returns its folder.

    Clock and reset are ``sys_clk`` and ``sys_rst``; pins of the CSR bus begin with ``bus_``, those
    of a record with its name. ``registers.json`` is for ``CsrBench``.
    """
    block, pins = make()
    bench = _Bench(block)
    ios = {bench.cd_sys.clk, bench.cd_sys.rst, *bench.bus.flatten()}
    for pin in pins:
        ios |= set(pin.flatten()) if isinstance(pin, Record) else {pin}
    output = convert(bench, ios=ios, name=MODULE, regular_comb=False)
    source = "".join(
        line for line in output.main_source.splitlines(True) if not line.startswith("//")
    )
    digest = hashlib.sha256((source + repr(_FLAGS)).encode()).hexdigest()
    folder = build_root() / "cocotb-blocks" / f"{name}-{digest[:12]}"
    with locked(folder):
        (folder / "registers.json").write_text(json.dumps(registers_of(bench)))
        if not (folder / ".complete").exists():
            verilog = folder / f"{MODULE}.v"
            verilog.write_text(source)
            for file_name, text in output.data_files.items():
                (folder / file_name).write_text(text)
            with step(f"building {name} for cocotb"):
                os.environ |= verilator_env()
                get_runner("verilator").build(
                    sources=[verilog],
                    hdl_toplevel=MODULE,
                    build_dir=folder,
                    build_args=_FLAGS,
                    log_file=folder / "build.log",
                )
            (folder / ".complete").touch()
    return folder


def run_module(
    module: str, folder: Path, variables: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """Run a module's cocotb tests on a model; for each, what failed, or None.

    ``variables`` of the environment tell the tests which model it is.
    """
    results = folder / f"{module}.xml"
    results.unlink(missing_ok=True)
    log = folder / f"{module}.log"
    # Which tests failed, the results say.
    with contextlib.suppress(SystemExit, RuntimeError):
        get_runner("verilator").test(
            test_module=module,
            hdl_toplevel=MODULE,
            hdl_toplevel_lang="verilog",
            build_dir=folder,
            test_dir=folder,
            results_xml=str(results),
            extra_env={
                REGISTERS_VARIABLE: str(folder / "registers.json"),
                "COCOTB_ANSI_OUTPUT": "0",
                **(variables or {}),
            },
            log_file=log,
        )
    assert results.exists(), log.read_text()[-3000:]
    outcome: dict[str, str | None] = {}
    for case in ElementTree.parse(results).iter("testcase"):
        bad = [child for child in case if child.tag in ("failure", "error")]
        text = bad[0].get("error_msg") or bad[0].get("message") if bad else None
        outcome[case.get("name", "")] = f"{text}\nlog: {log}" if bad else None
    return outcome
