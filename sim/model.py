"""Building Verilated models: one program per hardware configuration, for all firmware.

A model lives in ``build/model/<name>``. It is built again when the SoC's Verilog, the harness or
the flags differ from what it was made of.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tierv.soc.params import SocParams
from tierv.soc.soc import check_cpu

from . import training, verilator
from .design import Design, elaborate
from .elf import encode_image
from .harness_config import cpp_header
from .paths import build_root, locked, run_logged, say, step
from .stimulus import UartFormat, encode_frames, encode_uart

#: Speed of the serial ports after reset; above a board's, because simulated seconds are dear.
SIMULATION_BAUD = 1_000_000

_HARNESS = Path(__file__).resolve().parent / "harness"
_VERILATE = (*verilator.VERILATE_FAST, "--public-ignore", "--top-module", "sim", "--prefix", "Vsim")
#: More takes the compiler twice as long, and the model is no faster for it once it is profiled.
_OPTIMIZE = ("-O1",)
_PROFILE = ("-fprofile-generate", "-fprofile-update=single")
_USE_PROFILE = ("-fprofile-use", "-fprofile-partial-training", "-Wno-missing-profile")
_SOURCE_SUFFIXES = {".py", ".v", ".sv", ".h", ".c", ".S", ".cpp"}
#: Packages whose version is part of what a model is made of.
_PACKAGES = (
    *("litex", "liteeth", "litedram", "litespi", "migen", "amaranth", "verilator"),
    *("pythondata-cpu-vexriscv", "pythondata-cpu-picorv32"),
)


@dataclass(frozen=True, kw_only=True)
class ModelParams:
    """A hardware configuration, and how it is simulated.

    Raises ``ValueError`` for a SoC without the mailbox.
    """

    soc: SocParams
    #: Waveforms can be written; the model is a few times slower, also when none is.
    trace: Literal["vcd", "fst"] | None = None
    #: Compile twice, the second time knowing what a short run did: about 1.4 times faster runs.
    profile: bool = True

    def __post_init__(self) -> None:
        if not self.soc.mailbox:
            raise ValueError("mailbox must be True for a simulation, not False")

    @property
    def name(self) -> str:
        """Name of the model's folder."""
        if self.trace:
            return f"{config_name(self.soc)}-{self.trace}"
        return config_name(self.soc) + ("" if self.profile else "-quick")


def simulation_params(**changes) -> SocParams:
    """``SocParams`` as simulations use them, with changes."""
    return SocParams(**{"mailbox": True, "uart_baud": SIMULATION_BAUD} | changes)


def config_name(soc: SocParams) -> str:
    """Name of a folder for the configuration: readable if it is a usual one."""
    usual = simulation_params(cpu=soc.cpu, cpu_variant=soc.cpu_variant)
    name = f"{soc.cpu}-{soc.cpu_variant}"
    return name if soc == usual else f"{name}-{_digest([repr(soc)])[:8]}"


@dataclass(frozen=True)
class Model:
    """A model that has been built."""

    params: ModelParams
    folder: Path

    @property
    def program(self) -> Path:
        """The harness with the SoC in it; ``--help`` is its own error message."""
        return self.folder / "simulation"

    @property
    def include(self) -> Path:
        """Folder for firmware's include path, with ``generated/csr.h`` and so on."""
        return self.folder / "soc/include"

    @property
    def csr_json(self) -> Path:
        """LiteX's description of the SoC."""
        return self.folder / "soc/csr.json"


def _digest(parts: Iterable[str | bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "little") + data)
    return total.hexdigest()


def _files_digest(files: Iterable[Path], known: Mapping[Path, bytes]) -> str:
    contents = ((path.name, known[path] if path in known else path.read_bytes()) for path in files)
    return _digest(part for pair in contents for part in pair)


def _sources(parts: Iterable[str]) -> list[Path]:
    package = Path(__file__).resolve().parent.parent
    files = [package / part for part in parts]
    files += [path for folder in files for path in folder.rglob("*.*")]
    return sorted(path for path in files if path.suffix in _SOURCE_SUFFIXES)


#: What a model is made of.
_PARTS = ("rtl", "soc", "sim")
#: The Python of that, as this process has imported it: an edit since then does nothing here.
_IMPORTED = {path: path.read_bytes() for path in _sources(_PARTS) if path.suffix == ".py"}


def generator_digest(
    params: object,
    parts: Iterable[str] = _PARTS,
    imported: Mapping[Path, bytes] = _IMPORTED,
) -> str:
    """Digest of the parameters and of all sources in parts of this package: folders or files.

    What is built of them can't differ as long as this does not; it may be the same if this does.
    ``imported`` are sources as they were; the others are read, for what another process makes all.
    """
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    return _digest([repr(params), *versions, _files_digest(_sources(parts), imported)])


class _Builder:
    """Builds one model; ``stamp`` says what the parts in the folder were made of."""

    def __init__(self, params: ModelParams) -> None:
        self.params = params
        self.folder = build_root() / "model" / params.name
        self.log = self.folder / "build.log"
        self.verilated = self.folder / "verilated"
        self.objects = self.folder / "objects"
        self._stamp_file = self.folder / "stamp.json"

    def build(self) -> Model:
        model = Model(self.params, self.folder)
        with locked(self.folder):
            stamp = self._read_stamp()
            generator = generator_digest(self.params)
            if stamp.get("generator") == generator and model.program.exists():
                return model
            say(f"model {self.params.name}:")
            self.log.unlink(missing_ok=True)
            # What is built is not what it was until all is done; the translation may still be.
            self._write_stamp({name: stamp[name] for name in stamp if name != "generator"})
            with step("  putting the SoC together"):
                design = elaborate(self.params.soc, self.folder / "soc")
            made_by = (verilator.version(), *_VERILATE, *_OPTIMIZE)
            verilog = _digest([design.digest, *made_by, repr(self.params)])
            if stamp.get("verilog") != verilog:
                self._write_stamp({})
                self._build_design(design)
            self._build_harness(design)
            self._write_stamp({"generator": generator, "verilog": verilog})
        return model

    def _build_design(self, design: Design) -> None:
        shutil.rmtree(self.objects, ignore_errors=True)
        with step("  translating Verilog to C++"):
            trace = {"vcd": ["--trace-vcd"], "fst": ["--trace-fst"], None: []}[self.params.trace]
            arguments = [*_VERILATE, *trace, design.configuration, *design.sources]
            verilator.verilate(arguments, self.verilated, self.log)
        profile = self.params.profile and self.params.trace is None
        with step("  compiling the SoC"):
            self._compile_design(_PROFILE if profile else ())
        if profile:
            self._build_harness(design, _PROFILE)
            with step("  watching a short run"):
                self._train()
            with step("  compiling the SoC again for what was seen"):
                self._compile_design(_USE_PROFILE)

    def _can_evaluate_fast(self, design: Design) -> bool:
        """True if only rising edges trigger anything, and Verilator's names are as known."""
        if any("negedge" in path.read_text() for path in design.sources):
            return False
        clocks = ["sys_clk"]
        if self.params.soc.ethernet:
            clocks += ["eth_clocks_rx", "eth_clocks_tx"]
        header = (self.verilated / "Vsim___024root.h").read_text()
        source = "".join(path.read_text() for path in self.verilated.glob("Vsim___024root__*.cpp"))
        previous = [f" __Vtrigprevexpr___TOP__{clock}__0;" for clock in clocks]
        phases = [f"bool Vsim___024root___eval_phase__{name}(" for name in ("ico", "act", "nba")]
        return (
            header.count(" __Vtrigprevexpr_") == len(previous)
            and all(name in header for name in [*previous, " __VicoFirstIteration;"])
            and all(name in source for name in phases)
        )

    def _compile_design(self, flags: Iterable[str]) -> None:
        own = [f"-I{self.verilated}", *verilator.trace_defines(self.params.trace)]
        jobs = verilator.design_jobs(self.verilated, self.objects, own, (*_OPTIMIZE, *flags))
        verilator.compile_all(jobs, self.log)

    def _build_harness(self, design: Design, flags: Iterable[str] = ()) -> None:
        """Compile the harness and link the program; ``flags`` are those of the link."""
        fast_eval = self.params.trace is None and self._can_evaluate_fast(design)
        header = cpp_header(self.params.soc, design.memories, fast_eval)
        (self.verilated / "generated.h").write_text(header)
        own = [
            f"-I{self.verilated}",
            f"-I{verilator.SHARED_SOURCES}",
            *verilator.trace_defines(self.params.trace),
            *verilator.HARNESS_FLAGS,
        ]
        sources = sorted([*_HARNESS.iterdir(), *verilator.SHARED_SOURCES.iterdir()])
        made_of = _digest([verilator.version(), *own, header, _files_digest(sources, {})])
        stamp = self.objects / "harness.stamp"
        harness = self.objects / "harness.o"
        if not harness.exists() or not stamp.exists() or stamp.read_text() != made_of:
            parts = sorted(_HARNESS.glob("*.cpp"))
            source = verilator.in_one_piece(parts, self.verilated / "all_harness.cpp")
            stamp.unlink(missing_ok=True)
            with step("  compiling the harness"):
                verilator.compile_all([(source, harness, own)], self.log)
            stamp.write_text(made_of)
        objects = [harness, *(self.objects / f"design_{part}.o" for part in ("fast", "rare"))]
        program = Model(self.params, self.folder).program
        verilator.link(objects, program, self.params.trace, self.log, flags)

    def _train(self) -> None:
        """Run the program once; the compiler's counters end up beside the objects."""
        soc = self.params.soc
        formats = [UartFormat(soc.uart_baud)] * soc.uart_pins
        inputs = {
            "--image": encode_image([(training.START, training.program())]),
            "--frames": encode_frames(training.frames() if soc.ethernet else []),
            "--uart": encode_uart(training.uart_bytes(soc.uart_pins), formats, soc.sys_clk_hz),
        }
        arguments = ["--cycles", str(training.CYCLES)]
        for option, data in inputs.items():
            path = self.objects / f"training{option}.bin"
            path.write_bytes(data)
            arguments += [option, str(path)]
        program = Model(self.params, self.folder).program
        run_logged([program, *arguments], self.log, good=(int(training.END),))

    def _read_stamp(self) -> Mapping[str, str]:
        try:
            return json.loads(self._stamp_file.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return {}

    def _write_stamp(self, stamp: Mapping[str, str]) -> None:
        self._stamp_file.write_text(json.dumps(stamp))


def build_model(params: ModelParams) -> Model:
    """Build a model, or find it built.

    Raises ``ValueError`` for a configuration that can't be, ``BuildError`` if a tool fails.
    """
    check_cpu(params.soc.cpu, params.soc.cpu_variant)
    return _Builder(params).build()
