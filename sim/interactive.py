"""A simulated board on the desk: its console on the terminal, its network on the host."""

from __future__ import annotations

import contextlib
import enum
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import tty
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tierv.soc.params import PREFIX_BITS

from .elf import Program
from .model import Model
from .paths import build_root, say
from .records import RunEnd
from .run import Simulation
from .signals import left_in_order

#: Linux, if_tun.h.
_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
_TUN_DEVICE = "/dev/net/tun"
#: Of a socket; Linux, un.h, without the zero behind it.
_MOST_PATH_BYTES = 107
#: TCP port of JTAG if no other is given; ``soc/openocd.cfg`` has the same.
JTAG_PORT = 9824


class Network(enum.StrEnum):
    """Where the frames of the simulated board go."""

    #: A TAP device if that is allowed, or else a socket.
    AUTO = "auto"
    #: A network interface of the host; needs root.
    TAP = "tap"
    #: A UNIX datagram socket, one frame a datagram; answers whom it last heard from.
    SOCKET = "socket"
    NONE = "none"


class NetworkError(Exception):
    """The network that was asked for can't be had; says why."""


@dataclass(frozen=True)
class Port:
    """An open end of the network and what to tell the user about it."""

    fd: int | None
    description: str


def open_tap(name: str) -> int:
    """File descriptor of a new TAP device.

    Raises ``NetworkError`` where TAP devices are not available or not allowed.
    """
    try:
        fd = os.open(_TUN_DEVICE, os.O_RDWR)
    except OSError as error:
        raise NetworkError(f"cannot open {_TUN_DEVICE}: {error.strerror}") from None
    try:
        request = struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI)
        fcntl.ioctl(fd, _TUNSETIFF, request)
    except OSError as error:
        os.close(fd)
        raise NetworkError(f"cannot make TAP device {name}: {error.strerror}") from None
    return fd


def _configure_tap(name: str, address: str) -> None:
    for words in (
        ["address", "replace", f"{address}/{PREFIX_BITS}", "dev", name],
        ["link", "set", name, "up"],
    ):
        try:
            done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise NetworkError("cannot find ip; install iproute2") from None
        if done.returncode:
            raise NetworkError(f"ip {' '.join(words)}: {done.stderr.strip()}")


@contextlib.contextmanager
def _socket_port(path: Path) -> Iterator[Port]:
    length = len(os.fsencode(path))
    if length > _MOST_PATH_BYTES:
        raise NetworkError(f"{path} must have {_MOST_PATH_BYTES} bytes at the most, not {length}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        _free(path)
        end.bind(str(path))
        own = path.stat()
        try:
            yield Port(end.fileno(), f"datagram socket {path}")
        finally:
            # Another simulation's, if somebody has removed this one.
            if path.exists() and os.path.samestat(path.stat(), own):
                path.unlink()


def _free(path: Path) -> None:
    """Remove the socket of a simulation that was killed; raises ``NetworkError`` if it lives."""
    if not path.exists():
        return
    if not path.is_socket():
        raise NetworkError(f"{path} is there already, and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        try:
            end.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as error:
            raise NetworkError(f"{path} can't be taken: {error.strerror}") from None
    raise NetworkError(f"{path} is in use; is it another simulation's? --socket names another")


@contextlib.contextmanager
def open_network(kind: Network, name: str, path: Path, host_address: str) -> Iterator[Port]:
    """Open the network: a TAP device ``name`` with the host's address, or a socket at ``path``."""
    if kind is Network.NONE:
        yield Port(None, "none")
        return
    if kind is not Network.SOCKET:
        try:
            fd = open_tap(name)
            try:
                _configure_tap(name, host_address)
                yield Port(fd, f"TAP device {name}, this host is {host_address}")
            finally:
                os.close(fd)
            return
        except NetworkError as error:
            if kind is Network.TAP:
                raise
            say(f"no TAP device: {error}")
    with _socket_port(path) as port:
        yield port


@dataclass(frozen=True)
class End:
    """How an interactive run came to its end."""

    reason: RunEnd
    #: The firmware's, if that ended it, or 0.
    exit_code: int = 0


@contextlib.contextmanager
def raw_terminal() -> Iterator[None]:
    """Every key goes to the board, while the standard input is a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    fd = sys.stdin.fileno()
    saved = termios.tcgetattr(fd)
    tty.setraw(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, saved)


def run_interactively(
    model: Model,
    program: Program,
    *,
    network: Network = Network.AUTO,
    tap_name: str = "tierv0",
    socket_path: Path | None = None,
    pcap: Path | None = None,
    jtag_port: int = JTAG_PORT,
) -> End:
    """Run a program until the user types Ctrl-] or firmware ends it.

    A SoC with external debug has its JTAG on ``jtag_port``, as OpenOCD's remote_bitbang. Raises
    ``NetworkError`` if the network that was asked for can't be had, and ``ValueError`` without a
    standard input.
    """
    if sys.stdin is None:
        raise ValueError("the console must have a standard input; /dev/null is one without keys")
    soc = model.params.soc
    if not soc.ethernet:
        network = Network.NONE
    path = socket_path or build_root() / "sim.sock"
    with (
        left_in_order(),
        tempfile.NamedTemporaryFile(prefix="tierv-", suffix=".bin") as image,
        tempfile.NamedTemporaryFile(prefix="tierv-", suffix=".json") as summary,
        open_network(network, tap_name, path, soc.remote_ip) as port,
    ):
        image.write(Simulation(model).image(program, {}))
        image.flush()
        command = [str(model.program), "--image", image.name, "--console", "--text"]
        command += ["--summary", summary.name]
        if port.fd is not None:
            command += ["--network-fd", str(port.fd)]
        if soc.debug:
            command += ["--jtag-port", str(jtag_port)]
        if pcap is not None:
            command += ["--pcap", str(pcap)]
        say(f"network: {port.description}; the board is {soc.local_ip} as far as its firmware says")
        say("console: Ctrl-] ends the simulation")
        fds = () if port.fd is None else (port.fd,)
        blocking = os.get_blocking(sys.stdin.fileno())
        try:
            with raw_terminal():
                status = subprocess.run(command, pass_fds=fds, check=False).returncode
        finally:
            # The harness shares the terminal, and leaves it not blocking.
            os.set_blocking(sys.stdin.fileno(), blocking)
        reason = RunEnd(status) if status in list(RunEnd) else RunEnd.ERROR
        if reason is RunEnd.ERROR:
            return End(reason)
        return End(reason, json.loads(Path(summary.name).read_text())["exit_code"])
