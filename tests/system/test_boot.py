"""Programs into external memory by LiteX's BIOS: over the serial line, the network, from flash.

The SoCs are those of boards with a BIOS, but for their pins, PHYs and the size of local memories.
"""

from __future__ import annotations

import contextlib
import os
import pty
import random
import socket
import struct
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from scapy.layers.l2 import Ether
from soc_firmware import build_firmware
from tftp_server import TftpServer

from tierv.boards.board import Board, with_bios
from tierv.boards.flash_image import flash_image
from tierv.boards.registry import find_board
from tierv.sim.bios import build_bios
from tierv.sim.elf import encode_image
from tierv.sim.model import SIMULATION_BAUD, Model, ModelParams, build_model
from tierv.sim.run import Simulation
from tierv.soc import map as soc_map

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("pseudo_terminals")]

#: DDR3 and a flash with four data pins; SDRAM whose bytes can't be masked and one data pin.
BOARDS = ("arty", "colorlight_i9")
#: How the SoC of a simulation differs.
SIMULATED = {
    "mailbox": True,
    "filled_memories": False,
    "itcm_bytes": soc_map.SIZES["itcm"],
    "dtcm_bytes": soc_map.SIZES["dtcm"],
    "uart_baud": SIMULATION_BAUD,
}
ORIGIN = soc_map.ORIGINS["main_ram"]
#: So many blocks of TFTP, and a part of one.
WORDS = 700
TIMEOUT_S = 900


@dataclass(frozen=True)
class Image:
    """What is to be booted, and what it says then."""

    data: bytes
    says: str


@pytest.fixture(scope="module", params=BOARDS)
def board(request) -> Board:
    return find_board(request.param)


@pytest.fixture(scope="module")
def model(board: Board) -> Model:
    soc = replace(with_bios(board).soc, **SIMULATED)
    build_bios(soc)
    return build_model(ModelParams(soc=soc, profile=False))


@pytest.fixture(scope="module")
def image(model: Model) -> Image:
    """A program, and random words behind it."""
    program = build_firmware("booted", model.include)
    data = bytearray()
    for segment in program.segments:
        begin = segment.load_address - ORIGIN
        data.extend(bytes(begin + len(segment.data) - len(data)))
        data[begin : begin + len(segment.data)] = segment.data
    data.extend(bytes(-len(data) % 4))
    rng = random.Random(7)
    words = [rng.getrandbits(32) for _ in range(WORDS)]
    data += struct.pack(f"<{WORDS + 1}I", WORDS, *words)
    assert program.entry == ORIGIN
    return Image(bytes(data), f"booted: {sum(words) & 0xFFFF_FFFF:08x}")


class Running:
    """A simulation with its console on a pseudo terminal."""

    def __init__(self, process: subprocess.Popen, terminal: int) -> None:
        self.process = process
        self.terminal = terminal
        self.shown = ""

    def follow(self, act: Callable[[], None] = lambda: None) -> None:
        """Keep what is shown until the program ends, and act meanwhile."""
        deadline = time.monotonic() + TIMEOUT_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.shown
            act()
            self._read()
        self._read()
        assert self.process.returncode == 0, self.shown

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.shown += os.read(self.terminal, 1 << 16).decode("ascii", "replace")


@contextlib.contextmanager
def running(model: Model, folder: Path, *options: str, fds: tuple[int, ...] = ()):
    """The SoC with its BIOS."""
    content = folder / "bios.bin"
    content.write_bytes(Simulation(model).image(build_bios(model.params.soc), {}))
    line, terminal = pty.openpty()
    tty.setraw(terminal)
    os.set_blocking(terminal, False)
    command = [str(model.program), "--image", str(content), "--console", "--any-character"]
    command += options
    process = subprocess.Popen(command, stdin=line, stdout=line, pass_fds=fds)
    try:
        yield Running(process, terminal)
    finally:
        process.kill()
        process.wait()
        os.close(line)
        os.close(terminal)


@contextlib.contextmanager
def litex_term(port: str, kernel: Path, log: Path) -> Iterator[None]:
    """LiteX's terminal program on a serial port, with what is to be booted."""
    keyboard, keys = pty.openpty()
    words = ["--speed", str(SIMULATION_BAUD), "--kernel", str(kernel), "--safe", port]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "litex.tools.litex_term", *words],
            stdin=keys,
            stdout=output,
            stderr=output,
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()
            os.close(keyboard)
            os.close(keys)


def shown_by(log: Path) -> str:
    """Beginning and end of what litex_term has shown: it shows its progress all the time."""
    with log.open("rb") as file:
        begin = file.read(4096)
        file.seek(max(4096, log.stat().st_size - 4096))
        return (begin + file.read()).decode("ascii", "replace")


def test_a_program_is_booted_over_the_serial_line(model, image, tmp_path):
    kernel, log = tmp_path / "kernel.bin", tmp_path / "litex_term.log"
    kernel.write_bytes(image.data)
    with running(model, tmp_path) as soc, litex_term(os.ttyname(soc.terminal), kernel, log):
        # What is shown is read by the other.
        assert soc.process.wait(TIMEOUT_S) == 0, shown_by(log)
        deadline = time.monotonic() + 10
        while image.says not in (shown := shown_by(log)):
            assert time.monotonic() < deadline, shown
            time.sleep(0.1)
    for text in ("Memtest OK", "Upload complete", "Liftoff!"):
        assert text in shown


def test_a_program_is_booted_over_the_network(model, image, tmp_path):
    server = TftpServer(model.params.soc.remote_ip, {"boot.bin": image.data})
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as board,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as own,
    ):
        address = str(tmp_path / "board.sock")
        board.bind(address)
        own.bind(str(tmp_path / "own.sock"))
        own.settimeout(0.02)
        # It answers whom it last heard from.
        own.sendto(bytes(60), address)

        def serve() -> None:
            with contextlib.suppress(TimeoutError):
                answer = server.answer(Ether(own.recv(2000)))
                if answer is not None:
                    own.sendto(bytes(answer), address)

        options = ("--network-fd", str(board.fileno()))
        with running(model, tmp_path, *options, fds=(board.fileno(),)) as soc:
            soc.follow(serve)
    assert server.asked == ["boot.json", "boot.bin"]
    for text in ("Memtest OK", "Booting from boot.bin", "Liftoff!", image.says):
        assert text in soc.shown


def test_a_program_is_booted_from_flash(board, model, image, tmp_path):
    data = flash_image(board, image.data)
    # The model of the flash has big-endian words.
    words = [data[begin : begin + 4] for begin in range(0, len(data), 4)]
    content = b"".join(word[::-1] for word in words)
    flash = tmp_path / "flash.bin"
    origin = soc_map.ORIGINS["spiflash"] + board.flash.program_offset
    flash.write_bytes(encode_image([(origin, content)]))
    with running(model, tmp_path, "--image", str(flash)) as soc:
        soc.follow()
    for text in ("Booting from flash", "Liftoff!", image.says):
        assert text in soc.shown
