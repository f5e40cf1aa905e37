"""Planted faults that no test can find, and why.

Names are those that yosys gives for the present sources: a change of the core plants other faults.
"""

from __future__ import annotations

from mutated_core import Mutant

_SIGN_ONLY = "a copy of a loaded byte or half word of which only the sign is used"
#: What the description of a fault begins with, and why it changes nothing that matters.
_EXPLANATIONS = {
    "inv of $flatten\\line_unit.$procmux$12146 B": (
        "the age of a line after its stamp was written, which its next rise clears"
    ),
    "cnot1 of $flatten\\execute.$procmux$12658_CMP121 A": (
        "a comparison with 0x7e3, bit 2 of which is 0, and the fault needs bit 2 to be 1"
    ),
    "cnot0 of bus_fetcher.$9[26]": (
        "the bit is inverted twice: as the first word of a pair comes, and as the second does"
    ),
    "const0 of $flatten\\fetcher.$lt$core.v:12597$2644 A": (
        "a tier with four pairs has no fetch in F, so that the comparison is not used then"
    ),
    "inv of history$366.$19[2]": "bit 2 of a sum of which two bits are kept",
    "inv of $flatten\\write_back.$ternary$core.v:21613$11309 B": _SIGN_ONLY,
    "const0 of write_back.$47[3]": _SIGN_ONLY,
    "const0 of $flatten\\csrs.$procmux$13316 S": (
        "reset of a select that is loaded in every cycle, and used two cycles after a fetch"
    ),
    "const1 of packets[524]": "an output of the RVFI monitor, which a core for hardware has not",
}


def explanation(mutant: Mutant) -> str | None:
    """Why the fault changes nothing that matters; None if that is not known."""
    for beginning, reason in _EXPLANATIONS.items():
        if str(mutant).startswith(beginning):
            return reason
    return None
