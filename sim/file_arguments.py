"""Files on command lines: all are checked before anything is done, and named when that fails."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from .paths import naming


class _NewFile(click.Path):
    """A file that can be written when the time comes, which may be long after."""

    def convert(self, value, param, ctx) -> Path:
        path = super().convert(value, param, ctx)
        folder = path.parent
        if not path.exists() and not (folder.is_dir() and os.access(folder, os.W_OK)):
            self.fail(f"{path} can't be written: {folder} is no folder for that", param, ctx)
        return path


#: Types of arguments that are files: one that is there, and one to write.
OLD_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = _NewFile(dir_okay=False, writable=True, path_type=Path)


def check_outputs(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Raises ``UsageError`` for an output that is an input or another output; None is no file."""
    taken = [path for path in inputs if path is not None]
    for path in outputs:
        # A device is many files.
        if path is None or (path.exists() and not path.is_file()):
            continue
        if any(_same(path, other) for other in taken):
            raise click.UsageError(f"{path} can't be written: it is given for something else, too")
        taken.append(path)


def write_text(path: Path, text: str) -> None:
    """Raises ``OSError`` that names the file, also when the disk is full."""
    with naming(path):
        path.write_text(text, newline="")


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()
