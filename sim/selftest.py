"""What the self-test of a board tells (``firmware/apps/selftest.c``)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .cores.kernels import EXPECTED

#: Keys whose value is the record's name, and what else the record must tell.
_KINDS = {
    "selftest": (),
    "check": ("passed",),
    "switch": ("samples",),
    "kernel": ("cycles", "first_result", "result"),
    "end": ("lines",),
}
#: Of a switch by a post, and of one by a line that came.
_POSTED = tuple(f"{end}_{way}" for way in ("in", "out") for end in ("least", "most"))
_CAME = ("least_latency", "most_latency", "sum_of_latencies")
_CAME += ("disturbed_cycles", "undisturbed_cycles")


@dataclass(frozen=True)
class Record:
    """A line: what it is about, and its values by their names."""

    kind: str
    name: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Selftest:
    """Everything from the first to the last line."""

    records: tuple[Record, ...]

    def of(self, kind: str) -> list[Record]:
        """Records of one kind, in their order."""
        return [record for record in self.records if record.kind == kind]

    @property
    def failures(self) -> list[str]:
        """What is wrong with the board, for people; empty if nothing is."""
        wrong = [
            " ".join((record.name, *(f"{key} {value}" for key, value in _details(record))))
            for record in self.of("check")
            if not record.values["passed"]
        ]
        for record in self.of("kernel"):
            found = {record.values["first_result"], record.values["result"]}
            if record.name not in EXPECTED:
                wrong.append(f"kernel {record.name} is not known")
            elif found != {EXPECTED[record.name]}:
                wrong.append(f"kernel {record.name} found something else")
        for record in self.of("switch"):
            values = record.values
            if not values.get("ready", True):
                wrong.append("the instrument did not get ready")
            elif values.get("missed"):
                wrong.append(f"{values['missed']} interrupts of the instrument were missed")
            elif not values["samples"]:
                wrong.append("no interrupt of the instrument came")
        return wrong

    @property
    def figures(self) -> dict[str, float]:
        """Cycles by what takes them, to be compared with those of others."""
        found: dict[str, float] = {}
        for record in self.of("switch"):
            values = record.values
            if record.name == "post":
                for name in _POSTED:
                    end, _, way = name.partition("_")
                    found[f"post, {way}: {end}"] = values[name]
            elif values["samples"]:
                taken = values["disturbed_cycles"] - values["undisturbed_cycles"]
                found["line to answer: least"] = values["least_latency"]
                found["line to answer: mean"] = values["sum_of_latencies"] / values["samples"]
                found["line to answer: most"] = values["most_latency"]
                found["taken from the application: mean"] = taken / values["samples"]
        for record in self.of("kernel"):
            found[f"kernel {record.name}"] = record.values["cycles"]
        return found

    def as_json(self) -> list[dict[str, Any]]:
        """The lines as they came."""
        return [{record.kind: record.name} | record.values for record in self.records]


def _details(record: Record) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in record.values.items() if key != "passed"]


def _read(line: str) -> Record:
    try:
        values = json.loads(line)
    except ValueError:
        values = None
    kind = next(iter(values), None) if isinstance(values, dict) else None
    if kind not in _KINDS:
        raise ValueError(f"a line of the self-test must be a JSON object, not {line!r}")
    record = Record(kind, values.pop(kind), values)
    needed = _KINDS[kind]
    if kind == "switch":
        more = _POSTED if record.name == "post" else _CAME
        needed += more if values.get("samples") else ()
    missing = [name for name in needed if name not in values]
    if missing:
        raise ValueError(f"a line of the self-test must have {', '.join(missing)}, not be {line!r}")
    return record


def read_selftest(lines: Iterable[str]) -> Selftest:
    """The first complete self-test in lines of text, which are taken as they come.

    Raises ``ValueError`` for a line that is none, for lines that are missing, and for text that
    ends before the self-test does.
    """
    records: list[Record] = []
    for line in lines:
        line = line.strip()
        if not line:
            continue
        if line.startswith('{"selftest"'):
            records = []
        elif not records:
            # The end of one that began before somebody listened.
            continue
        records.append(_read(line))
        if records[-1].kind == "end":
            wanted = records[-1].values["lines"]
            if len(records) - 1 != wanted:
                raise ValueError(
                    f"a self-test must have {wanted} lines, not {len(records) - 1}: some were lost"
                )
            return Selftest(tuple(records))
    raise ValueError(f"the self-test ended behind {len(records)} lines, before its last one")
