"""Tables of figures in the README and the manual."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .json_files import write_json, write_whole

README = Path(__file__).resolve().parent.parent / "README.md"


def markdown(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose first line is its head, and whose first column is text."""
    head, *rest = lines
    rule = "|---" + "|---:" * (len(head) - 1) + "|"

    def joined(cells: Sequence[str]) -> str:
        return f"|{'|'.join(f' {text} ' if text else ' ' for text in cells)}|"

    return [joined(head), rule, *map(joined, rest)]


def fill(text: str, table: str, marker: str) -> str:
    """The README, or the manual, with another table behind a marker.

    Raises ``ValueError`` if it has no place for one.
    """
    place = re.compile(rf"(<!-- {marker} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not place.search(text):
        raise ValueError(f"there is no place for a table of {marker}")
    return place.sub(lambda match: match[1] + table + match[2], text)


def keep(kept: Any, golden: Path, page: Path, tables: Mapping[str, str]) -> None:
    """Keep figures as JSON in ``golden``, and show them in a page's tables, by their markers.

    Raises ``ValueError``, and changes neither file, if the page has no place for one of them.
    """
    text = page.read_text()
    for marker, table in tables.items():
        text = fill(text, table, marker)
    write_json(golden, kept)
    write_whole(page, text)
