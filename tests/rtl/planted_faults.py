"""Faults that yosys plants in a netlist: all at once, and an input chooses one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from yosys import run_yosys

from tierv.sim.paths import step

#: Planted faults; number 0 is none.
MUTANTS = 64
SEED = 1
#: The input that chooses.
PORT, PORT_BITS = "mutation", 8
#: Tells a simulation under cocotb which planted fault is active; 0: none.
MUTATION_VARIABLE = "TIERV_MUTATION"
_OPTION = re.compile(r"-(\w+) (\S+)")

_SCRIPT = """\
{read}
hierarchy -top {module}
proc
{before}
flatten {module}
opt_clean
cd {module}
mutate -list {mutants} -seed {seed} -ctrl {port} {bits} 1 -o list.ys t:* t:$meminit* %d {spared}
script list.ys
cd ..
write_verilog -noattr mutated.v
"""

#: The netlist with one fault chosen for good, and all that it makes idle removed.
_FIXED = """\
design -load planted
cd {module}
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
    #: Lines of the source.
    sources: tuple[str, ...]

    def __str__(self) -> str:
        where = f"{self.wire}[{self.bit}]" if self.wire else f"{self.cell} {self.port}"
        return f"{self.mode} of {where} ({', '.join(self.sources) or 'no source'})"


@dataclass(frozen=True)
class Planting:
    """What faults are planted in, and how many."""

    #: Commands of yosys that read the module's sources, and that come ahead of its flattening.
    read: str
    module: str
    before: str = ""
    #: Cells without faults, as yosys selects them.
    spared: Sequence[str] = ()
    seed: int = SEED

    @property
    def script(self) -> str:
        """Commands that leave ``list.ys`` and ``mutated.v``."""
        return _SCRIPT.format(
            read=self.read,
            module=self.module,
            before=self.before,
            mutants=MUTANTS,
            seed=self.seed,
            port=PORT,
            bits=PORT_BITS,
            spared=" ".join(f"{cells} %d" for cells in self.spared),
        )

    def plant(self, folder: Path) -> None:
        """Plant the faults, the same ones for the same sources, which are in the folder.

        Raises ``BuildError`` without yosys, which comes with ``tierv[formal]``.
        """
        (folder / "script.ys").write_text(self.script)
        with step(f"planting {MUTANTS} faults"):
            run_yosys(folder, "yosys.log", "script.ys")


@dataclass(frozen=True)
class Planted:
    """A module with all faults, and what they are."""

    module: str
    #: Has ``mutated.v``.
    folder: Path
    mutants: tuple[Mutant, ...]

    @property
    def netlist(self) -> Path:
        return self.folder / "mutated.v"


def planted(module: str, folder: Path, line: str) -> Planted:
    """What ``Planting.plant`` has left; ``line`` is a pattern of lines of the source."""
    found = []
    lines = (folder / "list.ys").read_text().splitlines()
    for number, fault in enumerate(lines, 1):
        pairs = _OPTION.findall(fault)
        words = dict(pairs)
        places = [value for name, value in pairs if name == "src"]
        sources = {source for place in places for source in re.findall(line, place)}
        found.append(
            Mutant(
                number,
                mode=words["mode"],
                cell=words.get("cell", ""),
                port=words.get("port", ""),
                wire=words.get("wire", ""),
                bit=int(words.get("wirebit", words.get("portbit", "0"))),
                sources=tuple(sorted(sources)),
            )
        )
    return Planted(module, folder, tuple(found))


def idle_mutants(faults: Planted, mutants: Sequence[Mutant]) -> set[int]:
    """Numbers of the faults that leave the same netlist as none, once what is idle is removed.

    Those change nothing at all; others may be without effect, too.
    """
    folder = faults.folder / "idle"
    folder.mkdir(exist_ok=True)
    script = f"read_verilog ../{faults.netlist.name}\nhierarchy -top {faults.module}\nproc\n"
    script += "design -save planted\n"
    numbers = [0, *(mutant.number for mutant in mutants)]
    for number in numbers:
        script += _FIXED.format(
            module=faults.module, port=PORT, bits=PORT_BITS, number=number, file=f"{number}.v"
        )
    (folder / "script.ys").write_text(script)
    run_yosys(folder, "yosys.log", "script.ys")

    def netlist(number: int) -> str:
        names: dict[str, str] = {}
        text = (folder / f"{number}.v").read_text()
        return _NUMBERED.sub(lambda match: names.setdefault(match[0], f"#{len(names)}"), text)

    none = netlist(0)
    return {number for number in numbers[1:] if netlist(number) == none}
