"""E11: irqtune's own argument forms, and what they make of sixteen lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..host.commands import COMMAND_PORT
from ..result import RunResult
from ..stimulus import Frame
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .frames import arp_request, ipv4_frames, udp_frame
from .plots import figure

_IRQS = 16
#: A command and its answer need no more cycles than this; nor does the start of the firmware.
_GAP, _START = 200_000, 1_500_000
#: Bytes of the headers in front of a datagram's payload, and where its UDP length is.
_PAYLOAD, _UDP_LENGTH = 42, slice(38, 40)

#: Priority of IRQ 0 to 15 for the forms that the FAQ names, 0 the most urgent, worked out by hand.
#: The FAQ itself prints the order of an unchanged PC, 0 and 8: the timer, IRQ 0, has priority 0,
#: and the serial ports, IRQ 3 and 4, have 11 and 12.
FORMS = {
    "0 8": (0, 1, 2, 11, 12, 13, 14, 15, 3, 4, 5, 6, 7, 8, 9, 10),
    "3": (5, 6, 7, 0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 8, 9),
    "3 14": (5, 6, 7, 0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 8, 9),
    "3 12": (5, 6, 7, 0, 1, 2, 3, 4, 12, 13, 14, 15, 8, 9, 10, 11),
    "2 11": (14, 15, 0, 9, 10, 11, 12, 13, 6, 7, 8, 1, 2, 3, 4, 5),
}


def rotated(master: int, slave: int) -> tuple[int, ...]:
    """Priority of IRQ 0 to 15 with two 8259s, by their definition.

    Each has its inputs in a circle that begins with the most urgent; the slave is on input 2.
    """
    first = [(master + place) % 8 for place in range(8)]
    second = [8 + (slave + place) % 8 for place in range(8)]
    behind = first.index(2) + 1
    order = first[:behind] + second + first[behind:]
    return tuple(order.index(irq) for irq in range(_IRQS))


@dataclass(frozen=True)
class _Answer:
    """What a build made of a form: the table that it printed, and the lines' priorities."""

    table: tuple[int, ...]
    lines: dict[int, int]

    def errors(self, wanted: Sequence[int]) -> int:
        """Priorities that are not what they should be; 15 is a line's most urgent."""
        wrong = sum(found != priority for found, priority in zip(self.table, wanted, strict=True))
        return wrong + sum(
            priority != _IRQS - 1 - wanted[line]
            for line, priority in self.lines.items()
            if line < _IRQS
        )


class Rotation(Experiment):
    """The forms ``irqtune MASTER [SLAVE]``, carried out by the services' firmware over UDP.

    Line n stands for IRQ n. Compared are the table that the command prints, for the FAQ's forms
    with tables worked out by hand and for all others with the definition of two cascaded 8259s, and
    the priorities that the lines of the SoC then have.
    """

    id = "E11"
    title = "irqtune tables"
    reference = "the IRQTUNE FAQ's forms 3, 3 12 and 2 11, and the priorities of an unchanged PC"
    pass_line = "S and B: every priority of every form is right"
    length_unit = "settings of master and slave"
    short_length = 64
    full_length = 64

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """The FAQ's forms, and as many of all settings as are asked for."""
        pairs = [(master, slave) for master in range(8) for slave in range(8, 16)]
        wanted = dict(FORMS)
        for master, slave in pairs[: settings.length]:
            wanted.setdefault(f"{master} {slave}", rotated(master, slave))
        builds = (Build.SINGLE, Build.BANKED)
        setups = bench.setups("services", builds)

        def case(build: Build) -> dict[str, _Answer]:
            answers = _ask(setups[build], list(wanted))
            progress(f"{build}: {len(answers)} forms")
            return answers

        rows: list[dict[str, Any]] = []
        for build, answers in zip(builds, bench.map(case, builds), strict=True):
            rows += [
                {
                    "build": build,
                    "irqtune": form,
                    "compared with": "table" if form in FORMS else "definition",
                    "priorities of IRQ 0 to 15": " ".join(map(str, answers[form].table)),
                    "lines compared": sum(line < _IRQS for line in answers[form].lines),
                    "wrong": answers[form].errors(wanted[form]),
                }
                for form in wanted
            ]
        headline: dict[str, float] = {}
        for build in builds:
            own = [row for row in rows if row["build"] == build]
            headline[f"{build} forms"] = len(own)
            headline[f"{build} priorities compared"] = sum(_IRQS + r["lines compared"] for r in own)
            headline[f"{build} wrong"] = sum(row["wrong"] for row in own)
        passed = not any(row["wrong"] for row in rows) and all(r["lines compared"] for r in rows)
        return Outcome(rows=rows, headline=headline, passed=passed)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Priority against IRQ for the FAQ's forms."""
        with figure(path, self.title, xlabel="IRQ", ylabel="priority, 0 first") as axes:
            for row in outcome.rows:
                if row["build"] == Build.BANKED and row["irqtune"] in FORMS:
                    table = [int(word) for word in row["priorities of IRQ 0 to 15"].split()]
                    axes.plot(table, marker="o", label=f"irqtune {row['irqtune']}")
            axes.invert_yaxis()
            axes.legend(fontsize="x-small")


def _texts(result: RunResult) -> list[str]:
    """Payloads of the answers."""
    payloads = []
    for frame in ipv4_frames(result):
        length = int.from_bytes(frame.data[_UDP_LENGTH], "big") - 8
        payloads.append(frame.data[_PAYLOAD : _PAYLOAD + length].decode())
    return payloads


def _ask(setup: Setup, forms: Sequence[str]) -> dict[str, _Answer]:
    """Each form, and behind it the listing of the lines."""
    frames = [Frame(arp_request(), _START)]
    for form in forms:
        for command in (f"irqtune {form}", "irqtune"):
            cycle = _START + _GAP * len(frames)
            request = f"{len(frames)} {command}".encode()
            frames.append(Frame(udp_frame(request, COMMAND_PORT), cycle))
    last = _START + _GAP * (len(frames) + 1)
    texts = _texts(setup.run(cycles=last, frames=frames, limit_is_error=False))
    if len(texts) != 2 * len(forms):
        raise ValueError(f"{2 * len(forms)} commands must be answered, not {len(texts)}")
    answers = {}
    for index, form in enumerate(forms):
        table, listing = texts[2 * index : 2 * index + 2]
        found = dict(re.findall(r"^I(\d\d)/P(\d\d)", table, re.MULTILINE))
        lines = re.findall(r"^ *(\d+) \w+ +\w+ +(\d+) +\d+ +[\d.-]+ *$", listing, re.MULTILINE)
        answers[form] = _Answer(
            table=tuple(int(found[f"{irq:02}"]) for irq in range(_IRQS)),
            lines={int(line): int(priority) for line, priority in lines},
        )
    return answers
