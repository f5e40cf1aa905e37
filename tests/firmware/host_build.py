"""Host builds of the firmware's portable parts, under the sanitizers, and text-driven programs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tierv.sim.paths import whole_file

ROOT = Path(__file__).resolve().parents[2]
NET = ROOT / "firmware" / "net"
TESTS = ROOT / "tests" / "firmware"
#: Headers in the place of the firmware's, for drivers that have the hardware and what is around.
FAKE = TESTS / "fake"
BUILD = ROOT / "build" / "host"

#: The stack looks for what the hardware has found, through a port of the tests.
PORT_SOURCES = tuple(TESTS / f"{source}.c" for source in ("net_port", "text"))
PORT_DEFINE = 'NET_PORT="net_port_calls.h"'

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")

#: The exit status by which a driver says that this host has no single-step trap (single_step.h).
NOT_HERE = 77
#: For a driver that finds no end; with others on the processor some take minutes.
_STEPPED_S = 900


def examples(count: int, *, steps: int = 50) -> settings:
    """Hypothesis settings: ``count`` examples, the same in every run, nothing kept on disk."""
    return settings(
        max_examples=count,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def net_sources() -> list[Path]:
    """The C files of the network stack."""
    return sorted(NET.rglob("*.c"))


def run_compiler(command: list[str | Path]) -> None:
    """Runs a compiler; raises ``AssertionError`` with its messages if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout}{done.stderr}"


def write_headers(name: str, **headers: Mapping[str, object]) -> Path:
    """Writes ``generated/<header>.h`` as LiteX does, of names and values; the folder to include."""
    folder = BUILD / f"{name}-headers"
    generated = folder / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    for header, values in headers.items():
        text = "".join(f"#define {key} {value}\n" for key, value in values.items())
        (generated / f"{header}.h").write_text(text)
    return folder


def register_definitions(prefix: str, registers: Iterable[Any]) -> dict[str, int]:
    """What ``csr.h`` says of LiteX's registers that follow each other from address 0: where each
    begins, and the bits of its fields."""
    definitions: dict[str, int] = {}
    address = 0
    for register in registers:
        name = f"{prefix}_{register.name}".upper()
        definitions[f"{name}_ADDR"] = address
        for field in getattr(getattr(register, "fields", None), "fields", ()):
            definitions[f"{name}_{field.name}_OFFSET".upper()] = field.offset
        address += -(-register.size // 32) * 4
    return definitions


def build(
    name: str,
    sources: list[Path],
    *,
    sanitize: bool = True,
    include: Sequence[Path] = (),
    defines: Sequence[str] = (),
) -> Path:
    """Compiles ``sources`` to ``build/host/<name>`` and returns that path.

    ``include`` has folders of headers beside the firmware's; ``defines`` are NAME=VALUE.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / name
    flags = ["-std=gnu11", "-g", *WARNINGS, *(("-O1", *SANITIZERS) if sanitize else ("-O2",))]
    folders = [f"-I{folder}" for folder in (*include, ROOT / "firmware")]
    folders += [f"-D{define}" for define in defines]
    # Another process may be building it, or running what is there.
    with whole_file(program) as partial:
        run_compiler(["gcc", *flags, *folders, *sources, "-o", partial])
    return program


def build_net_driver(name: str, *defines: str) -> Path:
    """The stack with a text-driven driver, port and application, under the sanitizers."""
    names = ("net_driver", "net_mac", "net_application", "net_report")
    own = [*(TESTS / f"{source}.c" for source in names), *PORT_SOURCES]
    return build(name, [*own, *net_sources()], include=[TESTS], defines=[PORT_DEFINE, *defines])


def run_stepped(*command: str | Path) -> None:
    """Runs a driver that may need the single-step trap; skips the test on a host without it.

    Raises ``AssertionError`` with what the driver says if its case fails.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_STEPPED_S)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr


def hex_bytes(word: str) -> bytes:
    """A word of hexadecimal digits, as ``text_print_hex()`` prints it: "-" for nothing."""
    return b"" if word == "-" else bytes.fromhex(word)


class Program:
    """A running program that answers each command line with lines up to ``end``, or with one line.

    ``command`` raises ``AssertionError`` with the program's error output if it dies.
    """

    def __init__(self, path: Path, *, end: str | None = None) -> None:
        self._end = end
        self._process = subprocess.Popen(
            [path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def command(self, line: str) -> list[str]:
        """Sends one command; the answer's lines without the end mark."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(line + "\n")
            stdin.flush()
        except BrokenPipeError:
            self._died(line)
        answer: list[str] = []
        while True:
            text = stdout.readline()
            if not text:
                self._died(line)
            if text.rstrip("\n") == self._end:
                return answer
            answer.append(text.rstrip("\n"))
            if self._end is None:
                return answer

    def _died(self, line: str) -> None:
        _, errors = self._process.communicate()
        raise AssertionError(
            f"the program ended with status {self._process.returncode} on {line[:200]!r}:\n{errors}"
        )

    def close(self) -> None:
        """Ends the program. Raises ``AssertionError`` if it leaked memory or failed."""
        if self._process.poll() is not None:
            return
        _, errors = self._process.communicate()
        assert self._process.returncode == 0, errors
