"""E16: this core and this stack beside those of others, in the same SoC."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..firmware import LITEETH
from ..result import RunResult
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .frames import arp_reply, arp_request
from .rfc2544_plot import Curve, plot_throughput
from .rfc2544_trial import MOST_FRAMES, SHORT_SIZES, SIZES, Target, measure

_SERVICES = ("echo", "sink")
#: Time in which every program gets ready, the slowest core's too.
_START_CYCLES = 2_000_000
#: B echoes so many times what libliteeth does.
_GAIN = 2
_HEADLINE_SIZES = (64, 1518)


@dataclass(frozen=True)
class _Peer:
    """A core with a stack. Without a CPU, the build's own."""

    core: str
    stack: str
    build: Build
    app: str
    cpu: str | None = None
    dma: bool = False

    @property
    def name(self) -> str:
        return f"{self.core}, {self.stack}"


_OWN, _LITEX = "this stack", "libliteeth"
_BANKED = _Peer("TierV B with DMA", _OWN, Build.BANKED, "services", dma=True)
_LITEX_HERE = _Peer("TierV", _LITEX, Build.POLLED, LITEETH)
_PEERS = (
    _BANKED,
    _Peer("TierV B", _OWN, Build.BANKED, "services"),
    _LITEX_HERE,
    _Peer("VexRiscv interrupts", _OWN, Build.SINGLE, "services", "vexriscv"),
    _Peer("VexRiscv polled", _OWN, Build.POLLED, "services", "vexriscv"),
    _Peer("VexRiscv", _LITEX, Build.POLLED, LITEETH, "vexriscv"),
    _Peer("PicoRV32 polled", _OWN, Build.POLLED, "services", "picorv32"),
)


class Peers(Experiment):
    """Frames at 100 Mbit/s to an echo and to a sink, on other cores and stacks.

    A short run has three of the seven sizes.

    VexRiscv and PicoRV32 are as LiteX ships them, with program and data in main RAM, VexRiscv
    behind its caches; this core has them in its local memories. They have the MAC with slots,
    which is all that libliteeth knows; only B has DMA too. libliteeth is polled, as it is made to
    be, and verifies no checksum. PicoRV32 is polled as well: its interrupts are of their own kind.
    """

    id = "E16"
    title = "Cores and stacks"
    reference = "LiteEth with Linux on a soft core at 100 MHz: 20 to 25 Mbit/s (litex #1924)"
    pass_line = (
        f"B with DMA echoes {_GAIN} times what libliteeth does on the same core, or at line rate"
    )
    length_unit = "frames in a trial"
    short_length = 200
    full_length = 5_000
    most_length = MOST_FRAMES

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every core and stack, service and size."""
        targets = {peer: _target(bench, peer) for peer in _PEERS}
        sizes = SHORT_SIZES if self.is_short(settings) else SIZES
        cases = list(itertools.product(_PEERS, _SERVICES, sizes))

        def case(item: tuple[_Peer, str, int]) -> dict[str, Any]:
            peer, service, size = item
            row = measure(targets[peer], service, size, settings)
            progress(f"{peer.name}, {service} of {size} bytes")
            return {"core": peer.core, "stack": peer.stack, "service": service, "bytes": size} | row

        rows = bench.map(case, cases)
        found = dict(zip(cases, rows, strict=True))
        headline = {
            f"{peer.name}, echo of {size} bytes (Mbit/s)": found[peer, "echo", size][
                "throughput (Mbit/s)"
            ]
            for peer, size in itertools.product(_PEERS, _HEADLINE_SIZES)
        }
        passed = all(
            _is_ahead(found[_BANKED, "echo", size], found[_LITEX_HERE, "echo", size])
            for size in sizes
        )
        return Outcome(rows=rows, headline=headline, passed=passed)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Throughput of the echo against the frame size."""
        curves = []
        for peer in _PEERS:
            case = (peer.core, peer.stack, "echo")
            rows = [r for r in outcome.rows if (r["core"], r["stack"], r["service"]) == case]
            curves.append(Curve(peer.name, rows))
        plot_throughput(path, self.title, curves)


def _is_ahead(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    rate = "throughput (Mbit/s)"
    return ours["of line rate (%)"] == 100 or ours[rate] >= _GAIN * theirs[rate]


def _target(bench: Bench, peer: _Peer) -> Target:
    soc = {} if peer.cpu is None else {"cpu": peer.cpu, "cpu_variant": "standard"}
    setup = bench.setup(peer.build, peer.app, eth_dma=peer.dma, **soc)
    introduction = arp_reply() if peer.app == LITEETH else arp_request()
    return Target(setup=setup, ready=_ready(setup, peer), introduction=introduction)


def _ready(setup: Setup, peer: _Peer) -> int:
    """The cycle in which the program says that it is ready. Raises ``RuntimeError`` if never."""
    result: RunResult = setup.run(cycles=_START_CYCLES, limit_is_error=False)
    if not result.marks:
        raise RuntimeError(f"{peer.name} was not ready after {_START_CYCLES:,} cycles")
    return result.marks[0][0]
