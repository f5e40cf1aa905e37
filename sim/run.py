"""Running firmware on a simulated SoC: the interface for experiments and tests."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tierv.soc import map as soc_map

from .elf import Program, encode_image, jump_to
from .model import Model
from .records import RunEnd
from .result import RunResult, read_result
from .stimulus import (
    Frame,
    LineLevel,
    RandomLine,
    UartBreak,
    UartBytes,
    UartFormat,
    encode_frames,
    encode_lines,
    encode_uart,
)

#: What the harness shows goes there; its own errors become exceptions.
_STANDARD_ERROR = 2


class SimulationError(Exception):
    """The harness can't do what it is asked; the message is its own."""


class CycleLimitError(Exception):
    """The run did not end by itself; ``result`` is what it gave until then."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(f"the run did not end within {result.cycles} cycles")
        self.result = result


@dataclass(frozen=True, kw_only=True)
class Until:
    """Ends of a run other than firmware's write to EXIT; whichever comes first."""

    #: So many frames from the SoC.
    frames: int | None = None
    #: A text from a serial port.
    text: tuple[int, str] | None = None
    #: So many cycles after the last stimulus.
    quiet_cycles: int | None = None


@dataclass(frozen=True, kw_only=True)
class Wave:
    """A waveform of part of a run, for a model that was built for it."""

    path: Path
    first_cycle: int = 0
    last_cycle: int | None = None


class Simulation:
    """A model that runs programs. Each run starts from reset; the same inputs give the same."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._params = model.params.soc

    def run(
        self,
        program: Program | Path | str,
        *,
        cycles: int,
        frames: Iterable[Frame] = (),
        uart: Iterable[UartBytes | UartBreak] = (),
        uart_formats: Mapping[int, UartFormat] | None = None,
        wires: Iterable[Sequence[int]] = (),
        lines: Iterable[LineLevel | RandomLine] = (),
        watch_cycles: int = 0,
        set: Mapping[str, int | bytes] | None = None,
        get: Sequence[str] = (),
        until: Until | None = None,
        mii_hz: int | None = None,
        pcap: Path | None = None,
        wave: Wave | None = None,
        limit_is_error: bool = True,
        show_text: bool = False,
        progress: bool = False,
    ) -> RunResult:
        """Load a program and run it for at most ``cycles``.

        ``set`` gives 32-bit variables (by a number) or others (by their first bytes) another
        initial value, ``get`` names those to read at the end. The serial ports of each of ``wires``
        share one: a low level of their pins or of their stimulus is what all of them receive.
        Instructions are logged for ``watch_cycles`` after each rise of an external line. The clocks
        of MII, or GMII, run at ``mii_hz``, by default as the SoC's rate of the wire wants it.
        ``pcap`` is a file for the frames from the SoC. Raises ``CycleLimitError`` unless the run
        ends before the limit or ``limit_is_error`` is false, ``NotInProgramError`` and
        ``ValueError`` for variables that are not there, ``SimulationError`` for what the harness
        refuses.
        """
        if not isinstance(program, Program):
            program = Program(program)
        formats = self._formats(uart_formats or {})
        with tempfile.TemporaryDirectory(prefix="tierv-run-") as name:
            folder = Path(name)
            arguments = self._inputs(folder, program, frames, uart, formats, lines, set or {})
            arguments += self._outputs(folder, program, get)
            arguments += ["--cycles", str(cycles), *_optional("--mii-hz", mii_hz)]
            arguments += ["--watch-cycles", str(watch_cycles)]
            arguments += self._wires(wires) + _until_arguments(until or Until())
            arguments += _optional("--pcap", pcap) + _wave_arguments(wave)
            arguments += ["--text"] * show_text + ["--progress"] * progress
            self._call(arguments)
            values = self._values(folder, program, get)
            result = read_result(folder, values)
        if result.end is RunEnd.LIMIT and limit_is_error:
            raise CycleLimitError(result)
        return result

    def image(self, program: Program, variables: Mapping[str, int | bytes]) -> bytes:
        """Image file of a program, with a jump to it at the reset address unless it is there.

        ``variables`` have another initial value than the program gives them.
        """
        segments = [(segment.load_address, segment.data) for segment in program.segments]
        reset = soc_map.ORIGINS["rom"]
        if not program.covers(reset):
            segments.append((reset, jump_to(program.entry)))
        segments += [program.assignment(name, value) for name, value in variables.items()]
        return encode_image(segments)

    def _formats(self, chosen: Mapping[int, UartFormat]) -> list[UartFormat]:
        formats = [UartFormat(self._params.uart_baud)] * self._params.uart_pins
        for port, form in chosen.items():
            if not 0 <= port < len(formats):
                raise ValueError(f"port must be from 0 to {len(formats) - 1}, not {port!r}")
            formats[port] = form
        return formats

    def _wires(self, wires: Iterable[Sequence[int]]) -> list[str]:
        taken: set[int] = set()
        arguments = []
        for wire in wires:
            for port in wire:
                if not 0 <= port < self._params.uart_pins:
                    last = self._params.uart_pins - 1
                    raise ValueError(f"port of a wire must be from 0 to {last}, not {port!r}")
                if port in taken:
                    raise ValueError(f"port {port} can be on one wire only")
                taken.add(port)
            arguments += ["--wire", ",".join(map(str, wire))]
        return arguments

    def _inputs(self, folder, program, frames, uart, formats, lines, variables) -> list[str]:
        files = {
            "--image": self.image(program, variables),
            "--frames": encode_frames(frames),
            "--uart": encode_uart(uart, formats, self._params.sys_clk_hz),
        }
        lines = list(lines)
        files["--lines"] = encode_lines(line for line in lines if isinstance(line, LineLevel))
        arguments = []
        for option, data in files.items():
            path = folder / f"{option.lstrip('-')}.bin"
            path.write_bytes(data)
            arguments += [option, str(path)]
        for port, form in enumerate(formats):
            text = f"{port}:{round(form.baud)}:{form.data_bits}:{form.parity}"
            arguments += ["--uart-format", text]
        for line in lines:
            if isinstance(line, RandomLine):
                arguments += ["--random-line", _random_line(line)]
        return arguments

    def _outputs(self, folder: Path, program: Program, get: Sequence[str]) -> list[str]:
        arguments = []
        for name in get:
            symbol = program.symbol(name)
            arguments += ["--peek", f"{symbol.address:#x},{symbol.size or 4}"]
        for option, name in {
            "--peeks-out": "peeks.bin",
            "--frames-out": "frames_out.bin",
            "--frames-sent": "frames_sent.bin",
            "--uart-out": "uart_out.bin",
            "--lines-out": "lines_out.bin",
            "--retired-out": "retired.bin",
            "--mailbox-out": "mailbox.bin",
            "--summary": "summary.json",
        }.items():
            arguments += [option, str(folder / name)]
        return arguments

    def _values(self, folder: Path, program: Program, get: Sequence[str]) -> dict[str, int | bytes]:
        data = (folder / "peeks.bin").read_bytes()
        values: dict[str, int | bytes] = {}
        position = 0
        for name in get:
            size = program.symbol(name).size or 4
            value = data[position : position + size]
            values[name] = int.from_bytes(value, "little") if size == 4 else value
            position += size
        return values

    def _call(self, arguments: list[str]) -> None:
        done = subprocess.run(
            [str(self.model.program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=_STANDARD_ERROR,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        try:
            end = RunEnd(done.returncode)
        except ValueError:
            end = RunEnd.ERROR
        if end is RunEnd.ERROR:
            message = done.stderr.strip().removeprefix("error: ")
            raise SimulationError(message or f"the simulation died ({done.returncode})")


def _optional(option: str, value: object) -> list[str]:
    return [] if value is None else [option, str(value)]


def _until_arguments(until: Until) -> list[str]:
    arguments = _optional("--stop-frames", until.frames)
    arguments += _optional("--stop-after", until.quiet_cycles)
    if until.text is not None:
        port, text = until.text
        arguments += ["--stop-text", f"{port}:{text}"]
    return arguments


def _wave_arguments(wave: Wave | None) -> list[str]:
    if wave is None:
        return []
    arguments = ["--wave", str(wave.path), "--wave-from", str(wave.first_cycle)]
    return arguments + _optional("--wave-to", wave.last_cycle)


def _random_line(line: RandomLine) -> str:
    numbers = (line.line, line.min_cycles, line.max_cycles, line.hold_cycles, line.seed)
    return ",".join(str(number) for number in (*numbers, line.start, line.count))
