"""A LiteX block alone behind a CSR bus, as a Verilated model for cocotb."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from cocotb_run import CXX_FLAGS, MODEL_FLAGS, build_model, run_tests
from litex.build.sim.common import sim_special_overrides
from litex.gen import LiteXModule
from litex.gen.fhdl.verilog import convert
from litex.soc.interconnect import csr_bus
from migen import ClockDomain, Record, Signal
from migen.fhdl.structure import DUID

from tierv.sim.paths import build_root, locked, step

MODULE = "block"
#: Tells the simulation the addresses of the registers: a JSON file.
REGISTERS_VARIABLE = "TIERV_BLOCK_REGISTERS"
_REGISTERS = "registers.json"
#: Gives a block and its pins.
Make = Callable[[], tuple[LiteXModule, list[Signal | Record]]]
_DATA_BITS, _ADDRESS_BITS = 32, 14


class _Bench(LiteXModule):
    """The block and its CSR bus."""

    def __init__(self, block: LiteXModule) -> None:
        self.cd_sys = ClockDomain("sys")
        self.block = block
        widths = {"data_width": _DATA_BITS, "address_width": _ADDRESS_BITS}
        self.bus = bus = csr_bus.Interface(**widths)
        self.banks = csr_bus.CSRBankArray(self, lambda name, memory: 0, alignment=32, **widths)
        self.interconnect = csr_bus.InterconnectShared([bus], self.banks.get_buses())
        if hasattr(block, "listen"):
            ((_, _, address, bank),) = self.banks.banks
            self.comb += block.listen(bank, address)


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


@dataclass(frozen=True)
class BlockVerilog:
    """A block and its bus as Verilog."""

    #: Names and texts of the files that make it, the first one with module ``MODULE``; those at
    #: ``sources`` are to be read, from their folder.
    files: Mapping[str, str]
    sources: Sequence[str]
    registers: Mapping[str, tuple[int, int]]

    def folder(self, name: str, *made_with: object) -> Path:
        """Where what is made of it with something belongs."""
        made_of = [*self.files.values(), repr(made_with)]
        digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()
        return build_root() / "cocotb-blocks" / f"{name}-{digest[:12]}"

    def write(self, folder: Path) -> list[Path]:
        """Write the files, and that for ``CsrBench``; returns the sources."""
        for name, text in self.files.items():
            (folder / name).write_text(text)
        (folder / _REGISTERS).write_text(json.dumps(self.registers))
        return [folder / name for name in self.sources]


def block_verilog(make: Make, sources: Sequence[Path] = ()) -> BlockVerilog:
    """Verilog of what ``make`` gives, a block and its pins.

    ``sources`` are files with Verilog of the block's instances.

    Clock and reset are ``sys_clk`` and ``sys_rst``; pins of the CSR bus begin with ``bus_``, those
    of a record with its name.
    """
    # The order of statements depends on the numbers of signals.
    with patch.object(DUID, "_DUID__next_uid", 0):
        block, pins = make()
        bench = _Bench(block)
        ios = {bench.cd_sys.clk, bench.cd_sys.rst, *bench.bus.flatten()}
        for pin in pins:
            ios |= set(pin.flatten()) if isinstance(pin, Record) else {pin}
        output = convert(
            bench,
            ios=ios,
            name=MODULE,
            regular_comb=False,
            special_overrides=sim_special_overrides,
        )
    verilog = "".join(
        line for line in output.main_source.splitlines(True) if not line.startswith("//")
    )
    read = {f"{MODULE}.v": verilog, **{path.name: path.read_text() for path in sources}}
    return BlockVerilog(read | output.data_files, [*read], registers_of(bench))


def build_block(name: str, make: Make, sources: Sequence[Path] = ()) -> Path:
    """Build the model of a block, made as for ``block_verilog``; returns its folder."""
    block = block_verilog(make, sources)
    folder = block.folder(name, MODEL_FLAGS, CXX_FLAGS)
    with locked(folder):
        if not (folder / ".complete").exists():
            verilog = block.write(folder)
            with step(f"building {name} for cocotb"):
                build_model(verilog, MODULE, folder)
            (folder / ".complete").touch()
    return folder


def run_module(
    module: str, folder: Path, variables: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """Run a module's cocotb tests on a model; for each, what failed, or None.

    ``variables`` of the environment tell the tests which model it is.
    """
    registers = {REGISTERS_VARIABLE: str(folder / _REGISTERS)}
    return run_tests(module, folder, MODULE, variables={**registers, **(variables or {})})
