"""What a check is."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace

from .bench import BareBench


class Method(enum.Enum):
    """How the properties of a check are proved."""

    #: In every trace of `depth` cycles from reset.
    BOUNDED = "bounded"
    #: In every trace: `depth` cycles after any state, reachable or not, and in the `depth` cycles
    #: from reset.
    UNBOUNDED = "unbounded"
    #: In every trace: in `depth` cycles from reset, and in the cycle after any `depth` cycles in
    #: which the check's properties held, whatever the state was before.
    INDUCTION = "induction"
    #: In every trace of `depth` cycles after one cycle of reset in any state.
    RESET = "reset"
    #: In every trace, by a relation of the two cores of the bench, `core` and `other`: whatever
    #: their states, if it holds, it holds a cycle later, and the other properties do.
    RELATION = "relation"


@dataclass(frozen=True, kw_only=True)
class Check:
    """A bench and how deep it is looked at."""

    name: str
    #: What is proved, in one line.
    claim: str
    build: Callable[[], BareBench]
    #: Cycles, as the method says.
    depth: int
    method: Method = Method.BOUNDED
    #: Cycles from reset in which every trigger must have been seen; `depth` unless said.
    cover_depth: int | None = None
    #: Part of the short set.
    short: bool = False
    #: The depth in the short set, if its last cycles take minutes; ``depth`` unless said.
    short_depth: int | None = None

    @property
    def covers_within(self) -> int:
        return self.depth if self.cover_depth is None else self.cover_depth

    def shortened(self) -> Check:
        """The check as it is in the short set."""
        return self if self.short_depth is None else replace(self, depth=self.short_depth)
