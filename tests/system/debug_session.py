"""A simulated SoC that a debugger is attached to: simulation, OpenOCD and gdb as they are used."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from tierv.sim.elf import Program
from tierv.sim.model import Model
from tierv.sim.run import Simulation

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGURATION = ROOT / "soc/openocd.cfg"
#: Programs by their Debian packages.
_TOOLS = {"openocd": "openocd", "gdb-multiarch": "gdb-multiarch"}
TIMEOUT_S = 120
_OWN_MAC = "02:00:00:00:00:01"
#: The harness says on which port it listens, OpenOCD which it has opened.
_JTAG = "jtag: remote_bitbang on port "
_GDB = "Listening on port "


def need_tools() -> None:
    """Fail with what to install if OpenOCD or gdb is missing."""
    missing = [package for program, package in _TOOLS.items() if shutil.which(program) is None]
    if missing:
        pytest.fail(f"not installed: apt-get install {' '.join(missing)}", pytrace=False)


def _free_ports(count: int) -> int:
    """The first of so many TCP ports in a row that are free."""
    for first in range(42_000 + os.getpid() % 2_000, 60_000, count):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    end = stack.enter_context(socket.socket())
                    end.bind(("localhost", port))
            except OSError:
                continue
            return first
    raise OSError("there are no free TCP ports")


class _Logged:
    """A process whose output is a file, ended when it is done with."""

    def __init__(self, command: Sequence[str], log: Path, **options) -> None:
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output, **options)

    def wait_for(self, text: str, count: int = 1) -> str:
        """Its output, as soon as the text is in it so many times."""
        deadline = time.monotonic() + TIMEOUT_S
        while (found := self.log.read_text(errors="replace")).count(text) < count:
            assert self.process.poll() is None, found
            assert time.monotonic() < deadline, f"no {text!r} in {found}"
            time.sleep(0.02)
        return found

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


class Network:
    """The other end of the SoC's Ethernet."""

    def __init__(self, end: socket.socket, board: str, model: Model) -> None:
        self._end, self._board, self._soc = end, board, model.params.soc
        self._end.settimeout(0.2)
        self._sequence = 0

    def ping(self, seconds: float) -> bool:
        """True if the SoC answers a ping within this time; it is asked again and again."""
        self._sequence += 1
        ours, own = self._soc.local_ip, self._soc.remote_ip
        request = Ether(dst=self._soc.mac_address, src=_OWN_MAC) / IP(src=own, dst=ours)
        request /= ICMP(id=1, seq=self._sequence) / Raw(b"tier" * 16)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._send(request)
            with contextlib.suppress(TimeoutError):
                while True:
                    frame = Ether(self._end.recv(2000))
                    if ARP in frame and frame[ARP].op == 1 and frame[ARP].pdst == own:
                        answer = ARP(op=2, hwsrc=_OWN_MAC, psrc=own, pdst=frame[ARP].psrc)
                        self._send(Ether(dst=frame.src, src=_OWN_MAC) / answer)
                    if self._is_answer(frame):
                        return True
        return False

    def _is_answer(self, frame: Ether) -> bool:
        return ICMP in frame and frame[ICMP].type == 0 and frame[ICMP].seq == self._sequence

    def _send(self, frame) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
            self._end.sendto(bytes(frame), self._board)


class Session:
    """A running SoC, which debuggers come to and leave."""

    def __init__(
        self, jtag_port: int, folder: Path, network: Network, tiers: int, program: Program
    ) -> None:
        self._jtag_port, self._folder, self._tiers = jtag_port, folder, tiers
        self.network, self.program = network, program

    @contextlib.contextmanager
    def openocd(self, *, stop_all: bool = False) -> Iterator[int]:
        """OpenOCD at the SoC; the port of its first gdb server."""
        gdb = _free_ports(self._tiers)
        settings = {"JTAG_PORT": self._jtag_port, "TIERS": self._tiers, "STOP_ALL": int(stop_all)}
        words = [f"set {name} {value}" for name, value in settings.items()]
        words += [f"gdb_port {gdb}", "tcl_port disabled", "telnet_port disabled"]
        command = ["openocd", *(part for word in words for part in ("-c", word))]
        process = _Logged([*command, "-f", str(CONFIGURATION)], self._folder / "openocd.log")
        try:
            process.wait_for(_GDB, 1 if stop_all else self._tiers)
            yield gdb
        finally:
            process.end()

    def gdb(self, port: int, program: Path, *commands: str) -> str:
        """Run gdb with a program on a server's port; what it said."""
        script = self._folder / "script.gdb"
        first = ["set pagination off", "set confirm off", f"set remotetimeout {TIMEOUT_S}"]
        script.write_text("\n".join([*first, f"target extended-remote :{port}", *commands, ""]))
        done = subprocess.run(
            ["gdb-multiarch", "-nx", "-batch", "-x", script, program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        return done.stdout


@contextlib.contextmanager
def session(model: Model, program: Program, tiers: int) -> Iterator[Session]:
    """The program on the model, with JTAG and a network."""
    need_tools()
    with (
        tempfile.TemporaryDirectory(prefix="tierv-debug-") as name,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as board,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own,
    ):
        folder = Path(name)
        image = folder / "image.bin"
        image.write_bytes(Simulation(model).image(program, {}))
        board.bind(str(folder / "board.sock"))
        own.bind(str(folder / "own.sock"))
        fd = board.fileno()
        command = [str(model.program), "--image", str(image), "--jtag-port", "0"]
        command += ["--network-fd", str(fd)]
        process = _Logged(command, folder / "simulation.log", pass_fds=(fd,))
        try:
            said = process.wait_for("\n")
            port = int(said.partition(_JTAG)[2].split()[0])
            network = Network(own, str(folder / "board.sock"), model)
            yield Session(port, folder, network, tiers, program)
        finally:
            process.end()
