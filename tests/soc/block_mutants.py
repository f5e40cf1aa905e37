"""Faults planted in the SoC's own blocks, and the cocotb tests that find them.

Each is active in runs of its own of the modules that run on the block, until a test fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import test_dma
import test_echo_instrument
import test_serial
from block_mutants_explained import EXPLANATIONS
from cocotb_run import CXX_FLAGS, MODEL_FLAGS, build_model
from csr_block import MODULE, Make, block_verilog, run_module
from fault_verdicts import Tests, Verdict, first_failure, judge_faults
from planted_faults import MUTATION_VARIABLE, SEED, Mutant, Planted, Planting, planted
from worker_pool import WORKERS

from tierv.sim.paths import locked, step

_LINE = r"\b\w+\.v:\d+"


@dataclass(frozen=True)
class MutatedBlock:
    """A block with faults, and the modules of tests that run on it."""

    make: Make
    modules: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    sources: Sequence[Path] = ()
    #: Cells without faults, as yosys selects them.
    spared: Sequence[str] = ()

    def build(self, name: str, seed: int) -> Planted:
        """Plant the faults, as ``Planting.plant`` does, and build the model."""
        block = block_verilog(self.make, self.sources)
        read = f"read_verilog {' '.join(block.sources)}"
        planting = Planting(read, MODULE, spared=self.spared, seed=seed)
        folder = block.folder(f"mutated-{name}", planting.script, MODEL_FLAGS, CXX_FLAGS)
        with locked(folder):
            if not (folder / ".complete").exists():
                block.write(folder)
                planting.plant(folder)
                with step(f"building {name} with faults for cocotb"):
                    build_model([folder / "mutated.v"], MODULE, folder)
                (folder / ".complete").touch()
        return planted(MODULE, folder, _LINE)

    def tests(self, faults: Planted) -> Tests:
        """The modules, as ``judge_faults`` runs them."""
        return {module: partial(self._run, module, faults) for module in self.modules}

    def _run(self, module: str, faults: Planted, mutant: Mutant) -> str | None:
        variables = {MUTATION_VARIABLE: str(mutant.number), "COCOTB_MAX_FAILURES": "1"}
        results = run_module(module, faults.folder, {**self.variables, **variables})
        return first_failure(module, results)


def _block(
    tests: object, make: Callable, *names: str, variables: Mapping | None = None, **others
) -> MutatedBlock:
    """A block of a file of tests, with the modules that run on the blocks of these names."""
    modules = [module for module, blocks in tests.MODULES.items() if {*names} & {*blocks}]
    return MutatedBlock(make, modules, variables or {}, **others)


BLOCKS = {
    "dma": _block(test_dma, test_dma.BLOCKS["dma"], "dma", variables=test_dma.variables("dma")),
    # All but a signal of the transmitter is the same.
    "dma-whole": _block(
        test_dma,
        test_dma.BLOCKS["dma-whole"],
        "dma",
        "dma-whole",
        variables=test_dma.variables("dma-whole"),
    ),
    "serial": _block(
        test_serial,
        partial(test_serial.make, "usual"),
        "usual",
        variables=test_serial.variables("usual"),
        sources=test_serial.SOURCES,
        # The second port is made of the same Verilog.
        spared=("c:*tierv_serial_port_1*",),
    ),
    # The size of which all counters are full soon.
    "echo": _block(
        test_echo_instrument,
        partial(test_echo_instrument.make, "tiny"),
        "tiny",
        variables=test_echo_instrument.variables("tiny"),
    ),
}


def judge_block(name: str, seed: int = SEED, workers: int = WORKERS) -> Iterator[Verdict]:
    """A verdict on each fault planted in a block, in any order; raises as ``judge_faults`` does."""
    block = BLOCKS[name]
    faults = block.build(name, seed)
    explanations = EXPLANATIONS.get(name, {}) if seed == SEED else {}
    yield from judge_faults(faults, explanations, block.tests(faults), {}, workers)
