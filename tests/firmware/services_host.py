"""Console, commands over UDP and LIN nodes of the firmware on the host."""

from __future__ import annotations

import functools
from pathlib import Path

from host_build import FAKE, ROOT, TESTS, Program, build, write_headers
from serial_headers import serial_headers

from tierv.soc.serial.params import SerialParams

CLOCK_HZ = 100_000_000
#: Serial ports: one more than there are LIN nodes.
UARTS = 5
CPU_NAME = "a computer"

_LIN = ("lin", "command", "show", "udp", "host", "node", "task", "commander", "diagnostic")
_SOURCES = (
    *(f"apps/{name}.c" for name in ("command", "console", "remote", "serial_ports")),
    *(f"apps/lin/{name}.c" for name in _LIN),
    *(f"drivers/{name}.c" for name in ("serial", "uart")),
    *(f"net/{name}.c" for name in ("packet", "checksum", "udp_application")),
    "irq/table.c",
)
#: Only the rings of the console's UART are used.
_UART = dict.fromkeys(
    ("BASE", *(f"{name}_ADDR" for name in ("RXTX", "TXFULL", "RXEMPTY", "EV_PENDING", "EV_ENABLE")),
     "PHY_TUNING_WORD_ADDR", "EV_PENDING_TX_OFFSET", "EV_PENDING_RX_OFFSET"), 0)  # fmt: skip


@functools.cache
def build_services(
    transmit_depth: int = SerialParams.transmit_depth, cpu: str = "VEXRISCV"
) -> Path:
    """``services_driver.c`` under the sanitizers, with so many characters in a port's FIFO."""
    params = SerialParams(sys_clk_hz=CLOCK_HZ, ports=UARTS, transmit_depth=transmit_depth)
    headers = serial_headers(params, first_line=16, mac_line=1)
    headers["csr"] |= {f"CSR_UART_{name}": value for name, value in _UART.items()}
    headers["soc"] |= {"CONFIG_CPU_HUMAN_NAME": f'"{CPU_NAME}"', f"CONFIG_CPU_TYPE_{cpu}": 1}
    own = ("services_driver", "services_devices", "services_network", "text")
    sources = [TESTS / f"{name}.c" for name in own]
    sources += [ROOT / "firmware" / name for name in _SOURCES]
    name = f"services_driver{transmit_depth}-{cpu}"
    include = [FAKE, write_headers(name, **headers), TESTS]
    return build(name, sources, include=include, defines=["CONTEXT_POLLED"])


class Services:
    """The driver, started. Events are what it tells with a "!"."""

    def __init__(self, program: Path | None = None) -> None:
        self._program = Program(program or build_services(), end=".")
        self.events: list[list[str]] = []
        self.do("start")

    def do(self, *words: object) -> list[str]:
        """One command of services_driver.c; its answer, and ``events`` of it."""
        lines = self._program.command(" ".join(map(str, words)))
        self.events = [line[1:].split() for line in lines if line.startswith("!")]
        return [line for line in lines if not line.startswith("!")]

    def told(self, kind: str) -> list[list[str]]:
        """Events of a kind that the last command led to, without that word."""
        return [words for first, *words in self.events if first == kind]

    def number(self, *words: object) -> int:
        """The only answer of a command, a number."""
        (answer,) = self.do(*words)
        return int(answer)

    def ask(self, text: str, *, locks: int | None = None) -> tuple[list[str], bool]:
        """What a command line prints, and whether it failed; how often it locked, if told."""
        *lines, verdict = self.do("run", text.encode().hex())
        kind, locked = verdict.split()
        assert locks is None or int(locked) == locks
        return lines, kind == "failed"

    def tell(self, text: str, *, locks: int | None = None) -> list[str]:
        """What a command line prints that does not fail."""
        lines, failed = self.ask(text, locks=locks)
        assert not failed, lines
        return lines

    def error(self, text: str) -> str:
        """What a command line is refused with."""
        (line,), failed = self.ask(text)
        assert failed
        return line.removeprefix("error: ")

    def close(self) -> None:
        """Ends the program; fails if it leaked."""
        self._program.close()
