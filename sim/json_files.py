"""Figures as JSON files: whole, or as they were before; errors name them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .paths import naming, whole_file


def write_whole(path: Path, text: str) -> None:
    """Write a text; if that fails, the file stays as it was. Raises ``OSError`` that names it."""
    with naming(path), whole_file(path) as partial:
        partial.write_text(text)


def write_json(
    path: Path, content: Any, *, indent: int = 1, default: Callable[[Any], Any] | None = None
) -> None:
    """Write figures, as ``write_whole``; ``default`` makes JSON's idea of what is none."""
    write_whole(path, json.dumps(content, indent=indent, default=default) + "\n")


def read_json(path: Path) -> Any:
    """Figures of a file. Raises ``ValueError`` that names one that is damaged."""
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is no JSON file: {error}") from error
