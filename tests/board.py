"""A simulated board with its console, and the network that the host sees it through."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tierv.sim.interactive import NetworkError, open_tap

#: The key that ends the simulation.
END = b"\x1d"
#: Seconds of patience for an answer, and for the first sign of life: the model may be built before.
TIMEOUT_S, START_S = 60, 900
NAMESPACE = "tierv-test"


class Board:
    """A running ``python -m tierv.sim interactive``."""

    def __init__(self, *words: str | Path, prefix: tuple[str, ...] = ()) -> None:
        command = [*prefix, sys.executable, "-m", "tierv.sim", "interactive"]
        command += [*map(str, words)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        os.set_blocking(self.process.stdout.fileno(), False)
        self.shown = b""

    def type(self, text: bytes) -> None:
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def wait_for(self, text: bytes) -> None:
        deadline = time.monotonic() + (TIMEOUT_S if self.shown else START_S)
        while text not in self.shown:
            assert self.process.poll() is None, self.process.stderr.read().decode()
            assert time.monotonic() < deadline, f"{text!r} not in {self.shown!r}"
            self.shown += self.process.stdout.read() or b""
            time.sleep(0.01)

    def end(self) -> int:
        self.type(END)
        return self.process.wait(TIMEOUT_S)


@contextlib.contextmanager
def board(*words: str | Path, prefix: tuple[str, ...] = ()) -> Iterator[Board]:
    running = Board(*words, prefix=prefix)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.communicate()


def tap_problem() -> str | None:
    """Why there can't be a TAP device in a network namespace here, or None."""
    if shutil.which("ip") is None:
        return "ip (iproute2) is not installed"
    try:
        os.close(open_tap("tierv-probe"))
    except NetworkError as error:
        return str(error)
    probe = f"{NAMESPACE}-probe"
    for words in (["add", probe], ["exec", probe, "true"], ["del", probe]):
        done = subprocess.run(["ip", "netns", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            subprocess.run(["ip", "netns", "del", probe], capture_output=True, check=False)
            return f"ip netns {words[0]}: {done.stderr.strip()}"
    return None


@contextlib.contextmanager
def network_namespace() -> Iterator[tuple[str, ...]]:
    """Words before a command that is to run in a network namespace of its own."""
    subprocess.run(["ip", "netns", "del", NAMESPACE], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "add", NAMESPACE], check=True)
    try:
        yield ("ip", "netns", "exec", NAMESPACE)
    finally:
        subprocess.run(["ip", "netns", "del", NAMESPACE], check=True)
