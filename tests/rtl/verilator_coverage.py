"""Coverage files of Verilator: what was executed and which bits changed, by module and source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_ESCAPE = re.compile(r"__0([0-9a-fA-F]{2})")
_BIT = re.compile(r"^(?P<signal>.*?)(?:\[(?P<bit>\d+)\])?:(?P<edge>0->1|1->0)$")
_MODULE = re.compile(r"^module \\?(\S+?) ?\(")
_SOURCE = re.compile(r'^\(\* src = "[^"]*?(rtl/[^":]+):\d+" \*\)$')


@dataclass(frozen=True, order=True)
class Point:
    """Something that a run may cover: a statement, or a bit's change."""

    module: str
    #: Line of the Verilog.
    line: int
    #: A signal, or the kind of statement.
    name: str
    #: Of a signal: its bit and the value that it changes to; -1 for a statement.
    bit: int = -1
    value: int = -1

    @property
    def is_toggle(self) -> bool:
        """A change of a bit, not a statement."""
        return self.value >= 0


def _decoded(name: str) -> str:
    """The name as the Verilog has it."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), name)


def _point(fields: Mapping[str, str]) -> Point:
    _, _, module = fields["page"].partition("/")
    line = int(fields["l"])
    bit = _BIT.match(fields["o"]) if fields["page"].startswith("v_toggle") else None
    if bit is None:
        # Column and hierarchy tell statements of one line apart.
        return Point(module, line, f"{fields['o']} at {fields['n']}")
    return Point(module, line, _decoded(bit["signal"]), int(bit["bit"] or 0), int(bit["edge"][-1]))


def read_coverage(paths: Iterable[Path]) -> Counter[Point]:
    """How often each point was covered in all runs together.

    Raises ``ValueError`` for a line that is no coverage point.
    """
    lines: Counter[str] = Counter()
    for path in paths:
        for text in path.read_text().splitlines():
            if text.startswith("#") or not text:
                continue
            key, quote, count = text.rpartition("' ")
            if not key.startswith("C '") or not quote or not count.isdecimal():
                raise ValueError(f"{path}: {text!r} is no coverage point")
            lines[key.removeprefix("C '")] += int(count)
    points: Counter[Point] = Counter()
    for key, count in lines.items():
        pairs = (field.split("\x02", 1) for field in key.split("\x01") if field)
        points[_point(dict(pairs))] += count
    return points


def module_sources(verilog: Path) -> dict[str, str]:
    """The Amaranth file that each module was made from."""
    found: dict[str, str] = {}
    source = ""
    for text in verilog.read_text().splitlines():
        attribute = _SOURCE.match(text)
        module = _MODULE.match(text)
        if attribute:
            source = attribute[1]
        elif module:
            found[module[1]] = source
            source = ""
    return found
