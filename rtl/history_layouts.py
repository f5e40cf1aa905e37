"""What is known of branches, as it is kept and as it goes down the pipeline."""

from __future__ import annotations

from amaranth.lib import data

#: How many times back a branch is remembered.
PAST_BITS = 8

#: A counter of two bits: whether a branch breaks the rule "backward taken, forward not taken", and
#: whether it has been seen to do so, or not to, twice. All 0 if it was never seen.
TENDENCY = data.StructLayout({"breaks": 1, "sure": 1})

#: What is known of a branch.
HISTORY = data.StructLayout(
    {
        # Whether it broke the rule the last times, the newest in bit 0.
        "past": PAST_BITS,
        # What followed this past, and what the branch does whatever its past.
        "pattern": TENDENCY,
        "usual": TENDENCY,
    }
)

#: The same of the branch of a pair that is remembered, and the word that it is.
PAIR_HISTORY = data.StructLayout({"branch": HISTORY, "word": 1})

#: The same as it is kept; of each word, whether it is expected to break the rule.
KEPT_HISTORY = data.StructLayout({"pair": PAIR_HISTORY, "breaks": 2})

#: The same of one instruction; `known` is 0 if nothing is.
OWN_HISTORY = data.StructLayout({"branch": HISTORY, "known": 1})
