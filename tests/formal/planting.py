"""Plant a bug in the core: a replacement in its source text that some check must find."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

#: The package whose modules are changed, and where it is.
PACKAGE = "tierv.rtl"


class PlantError(Exception):
    """The text that a planted bug replaces is not there exactly once."""


@dataclass(frozen=True, kw_only=True)
class Plant:
    """Replace ``text``, which ``module`` holds exactly once, by ``bug``."""

    name: str
    #: Below ``tierv.rtl``.
    module: str
    text: str
    bug: str
    #: The check that finds it, and the properties each of which fails.
    check: str
    finds: tuple[str, ...]
    #: Cheap enough for the short set.
    short: bool = False

    def applied(self, source: str) -> str:
        """The source with the bug. Raises ``PlantError`` unless ``text`` occurs once."""
        found = source.count(self.text)
        if found != 1:
            raise PlantError(
                f"{self.name}: {self.module} must hold {self.text!r} once, not {found} times"
            )
        return source.replace(self.text, self.bug)

    def breaks(self, failed: list[str]) -> bool:
        """All properties have failed that should."""
        return set(self.finds) <= set(failed)


def unplanted(claims: Iterable[str], plants: Iterable[Plant]) -> set[str]:
    """The claims that no planted bug breaks. Two checks that make a claim under the same name make
    it of different cores, and one of them is enough."""
    return set(claims).difference(*(plant.finds for plant in plants))


def source_of(module: str) -> str:
    """The text of a module below ``tierv.rtl``, which is not imported."""
    return Path(importlib.util.find_spec(f"{PACKAGE}.{module}").origin).read_text()


class _Loader(importlib.machinery.SourceFileLoader):
    """Load a module from its changed text, past every cache."""

    plant: Plant

    def get_code(self, fullname: str):
        source = Path(self.path).read_text()
        return compile(self.plant.applied(source), self.path, "exec", dont_inherit=True)


class _Finder:
    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def find_spec(self, name: str, path=None, target=None):
        if name != f"{PACKAGE}.{self._plant.module}":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        loader = _Loader(name, spec.origin)
        loader.plant = self._plant
        spec.loader = loader
        return spec


def install(plant: Plant) -> None:
    """Have this process import the core with the bug. Call it before the core is imported."""
    module = f"{PACKAGE}.{plant.module}"
    if module in sys.modules:
        raise PlantError(f"{plant.name}: {module} has been imported already")
    sys.meta_path.insert(0, _Finder(plant))
