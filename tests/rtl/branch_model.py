"""What the core expects of a tier's branches, by what they did before."""

from __future__ import annotations

from dataclasses import dataclass, field

PAST_BITS = 8
#: Bits of a PC that choose the patterns of a branch.
PLACE_BITS = 3


@dataclass(frozen=True)
class Tendency:
    """Whether a branch breaks the rule "backward taken, forward not taken", and twice."""

    breaks: bool = False
    sure: bool = False

    def then(self, broken: bool) -> Tendency:
        """What it becomes when the branch does so, or does not, once more."""
        return Tendency(self.breaks if self.sure else broken, self.breaks == broken)


#: Of what has not been seen yet.
UNSEEN = Tendency()


@dataclass(frozen=True)
class Remembered:
    """The branch of a pair: which word it is, whether it broke the rule the last times, the newest
    in bit 0, what followed the same before, and what it usually does."""

    word: int = 0
    past: int = 0
    pattern: Tendency = UNSEEN
    usual: Tendency = UNSEEN

    @property
    def expected(self) -> bool:
        """Whether it is expected to break the rule."""
        return (self.pattern if self.pattern.sure else self.usual).breaks


@dataclass
class BranchModel:
    """One tier's branches, from reset; PCs are word addresses."""

    #: Pairs that have a place of their own, log2.
    pairs_log2: int
    branches: dict[int, Remembered] = field(default_factory=dict)
    #: What followed a past of a branch, by both.
    patterns: dict[tuple[int, int], Tendency] = field(default_factory=dict)

    def _row(self, pc: int) -> int:
        return (pc >> 1) % (1 << self.pairs_log2)

    def find(self, pc: int) -> Remembered | None:
        """What is known of the branch."""
        branch = self.branches.get(self._row(pc), Remembered())
        return branch if branch.word == pc & 1 else None

    def expected(self, pc: int) -> bool:
        """Whether the branch is expected to break the rule."""
        branch = self.find(pc)
        return bool(branch and branch.expected)

    def learn(self, pc: int, broken: bool, found: Remembered | None) -> Remembered | None:
        """A branch retires of which ``found`` was known when it was fetched: what is to be kept."""
        if found is None and not broken:
            return None
        old = found or Remembered()
        place = pc % (1 << PLACE_BITS)
        self.patterns[place, old.past] = old.pattern.then(broken)
        past = (2 * old.past + broken) % (1 << PAST_BITS)
        pattern = self.patterns.get((place, past), UNSEEN)
        return Remembered(pc & 1, past, pattern, old.usual.then(broken))

    def keep(self, pc: int, branch: Remembered | None) -> None:
        """Later fetches find this of the branch."""
        if branch:
            self.branches[self._row(pc)] = branch
