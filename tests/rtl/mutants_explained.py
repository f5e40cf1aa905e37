"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

#: What the description of a fault begins with, and why it changes nothing that matters.
EXPLANATIONS: dict[str, str] = {}
