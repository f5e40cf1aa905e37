"""Facts that the core and the debug module share."""

from __future__ import annotations

from amaranth.lib.wiring import In, Out

from ..params import CoreParams

#: Words of the program that a tier runs in debug mode: the transfer of an abstract command, the
#: program buffer, the implicit ``ebreak``.
PROGRAM_BUFFER_WORDS = 2
PROGRAM_WORDS = 2 + PROGRAM_BUFFER_WORDS
PROGRAM_INDEX_BITS = (PROGRAM_WORDS - 1).bit_length()


def debug_members(params: CoreParams) -> dict:
    """Ports of the core towards the debug module, prefixed with ``debug_``."""
    tiers = params.tiers
    return {
        #: Bit n: tier n shall halt, also if it is set for one cycle only; shall halt when the core
        #: leaves reset.
        "debug_halt": In(tiers),
        "debug_reset_halt": In(tiers),
        #: Pulse for a halted tier: it goes on at dpc.
        "debug_resume": In(tiers),
        #: Pulse for a halted tier: it runs the program.
        "debug_run": In(tiers),
        #: Word of the program, in the cycle in which it is named.
        "debug_program_index": Out(PROGRAM_INDEX_BITS),
        "debug_program_word": In(32),
        #: What mdebugdata reads; what it is written with.
        "debug_data_read": In(32),
        "debug_data_write": Out(1),
        "debug_data": Out(32),
        #: Tiers in debug mode.
        "debug_halted": Out(tiers),
        #: Pulse: the tier has left debug mode.
        "debug_resumed": Out(tiers),
        #: Pulses: the program has ended; it has ended in an exception.
        "debug_done": Out(1),
        "debug_failed": Out(1),
        #: The first cycle after a reset of the core.
        "debug_came_from_reset": Out(1),
    } | (
        #: Pulse: the debug module has written to the bus.
        {"debug_wrote": In(1)} if params.has_caches else {}
    )
