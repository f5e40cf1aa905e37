"""A simulated SoC that a debugger is attached to: simulation, OpenOCD and gdb as they are used."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from tierv.sim.elf import Program
from tierv.sim.firmware import CC
from tierv.sim.model import Model
from tierv.sim.run import Simulation
from tierv.soc import map as soc_map

ROOT = Path(__file__).resolve().parent.parent.parent
CONFIGURATION = ROOT / "soc/openocd.cfg"
_SOURCE = Path(__file__).resolve().parent / "debugged.c"
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
        self,
        model: Model,
        program: Program,
        *,
        jtag_port: int,
        folder: Path,
        network: Network | None,
        tiers: int,
    ) -> None:
        self._jtag_port, self._folder, self._tiers = jtag_port, folder, tiers
        self._model, self.program, self.network = model, program, network

    def register(self, name: str) -> str:
        """A register of the SoC, by LiteX's name, as gdb can read and write it."""
        registers = json.loads(self._model.csr_json.read_text())["csr_registers"]
        return f"{{unsigned}}{registers[name]['addr']:#x}"

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
        first += ["set osabi none"]
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


def build_debugged(folder: Path) -> Path:
    """What is loaded by the debugger, into memory that the program on the SoC does not use."""
    path = folder / "debugged.elf"
    origin = soc_map.ORIGINS["main_ram"]
    flags = ["-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-Og", "-g", "-ffreestanding"]
    flags += ["-nostdlib", "-static", f"-Wl,-Ttext={origin:#x},-e,main,--no-relax,-N"]
    flags += ["-Wl,--no-warn-rwx-segments"]
    subprocess.run([CC, *flags, "-o", path, _SOURCE], check=True)
    return path


def said(output: str, name: str) -> str:
    """The text behind ``name: `` on a line of its own, which a script has echoed."""
    lines = [line for line in output.splitlines() if line.startswith(f"{name}: ")]
    assert len(lines) == 1, output
    return lines[0].partition(": ")[2]


@contextlib.contextmanager
def session(
    model: Model, program: Program, tiers: int, values: Mapping[str, int] | None = None
) -> Iterator[Session]:
    """The program on the model, with JTAG, and with a network if it has Ethernet.

    ``values`` are those of the program's variables.
    """
    need_tools()
    with (
        tempfile.TemporaryDirectory(prefix="tierv-debug-") as name,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as board,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own,
    ):
        folder = Path(name)
        image = folder / "image.bin"
        image.write_bytes(Simulation(model).image(program, values or {}))
        command = [str(model.program), "--image", str(image), "--jtag-port", "0"]
        network = None
        if model.params.soc.ethernet:
            board.bind(str(folder / "board.sock"))
            own.bind(str(folder / "own.sock"))
            command += ["--network-fd", str(board.fileno())]
            network = Network(own, str(folder / "board.sock"), model)
        process = _Logged(command, folder / "simulation.log", pass_fds=(board.fileno(),))
        try:
            first = process.wait_for("\n")
            port = int(first.partition(_JTAG)[2].split()[0])
            yield Session(
                model, program, jtag_port=port, folder=folder, network=network, tiers=tiers
            )
        finally:
            process.end()
