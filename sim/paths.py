"""Where builds go, and running the programs that make them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

#: Lines of a log that are shown when its program failed.
LOG_TAIL_LINES = 25
#: In which a program that has used its CPU time may end.
_CPU_GRACE_S = 60


class BuildError(Exception):
    """A program that a build needs is missing or failed; says which, and shows its last words."""


class ProgramError(BuildError):
    """A program has failed, with an exit status or, below zero, by a signal."""

    def __init__(self, name: str, status: int, log: Path) -> None:
        # What it is made of anew in another process, which a worker tells of it.
        super().__init__(name, status, log)
        lines = log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        self._text = "\n".join([f"{name} failed ({status}); the end of {log}:", *lines])
        self.status = status

    def __str__(self) -> str:
        return self._text


class CpuTimeError(BuildError):
    """A program has used the CPU time that it is given."""


def build_root() -> Path:
    """The folder for everything built: ``build`` of the checkout, or else of the current folder."""
    checkout = Path(__file__).resolve().parent.parent
    base = checkout if (checkout / "pyproject.toml").exists() else Path.cwd()
    return base / "build"


def say(text: str) -> None:
    """Tell on the standard error stream what is being done."""
    print(text, file=sys.stderr, flush=True)


def run_logged(
    command: Sequence[str | Path],
    log: Path,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    good: Sequence[int] = (0,),
    most_cpu_s: int | None = None,
) -> None:
    """Run a program with its output in a log file.

    Raises ``ProgramError`` with the end of the log unless its exit status is a ``good`` one,
    ``CpuTimeError`` if it takes more than ``most_cpu_s`` seconds of CPU time, ``BuildError`` if it
    is not there.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(word) for word in command]
    name = Path(words[0]).name
    if most_cpu_s is not None:
        # At the hard limit it would be killed, and not known why.
        words = ["prlimit", f"--cpu={most_cpu_s}:{most_cpu_s + _CPU_GRACE_S}", *words]
    with log.open("a") as output:
        output.write(f"$ {' '.join(words)}\n")
        output.flush()
        try:
            status = subprocess.run(
                words,
                cwd=cwd,
                env=None if env is None else os.environ | dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        except FileNotFoundError:
            raise BuildError(f"cannot find {words[0]}; is it installed?") from None
    if most_cpu_s is not None and status == -signal.SIGXCPU:
        raise CpuTimeError(f"{name} has taken {most_cpu_s} s of CPU time")
    if status not in good:
        raise ProgramError(name, status, log)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from building in the folder, which is made.

    Raises ``BuildError`` if its path has a space, with which make and others would fail later.
    """
    if any(character.isspace() for character in str(folder)):
        raise BuildError(f"the checkout's path must have no spaces: builds are in {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another build in {folder}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write a file that is to be there when it is complete, beside it.

    What fails or is interrupted leaves the file as it was. Who is reading it reads all of it, and
    several processes may make it at a time. Raises ``BuildError`` if nothing is written.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        if not partial.exists():
            raise BuildError(f"there is no {path}: what makes it has written nothing")
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def naming(file: Path | str) -> Iterator[None]:
    """Have an ``OSError`` name the file: that of a full disk does not by itself."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


@contextlib.contextmanager
def step(text: str) -> Iterator[None]:
    """Tell what is being done, and how long it took."""
    start = time.monotonic()
    print(f"{text} ...", end=" ", file=sys.stderr, flush=True)
    try:
        yield
    except BaseException:
        print("failed", file=sys.stderr, flush=True)
        raise
    print(f"{time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
