"""A reset of the core alone, while it is in the middle of something."""

from __future__ import annotations

from migen import run_simulation

from tierv.soc.cpu.tierv import TierV


class WithoutCore(TierV):
    """What is around the core."""

    def do_finalize(self) -> None:
        pass


def resets(asked: list[tuple[int, int]]) -> list[int]:
    """When the core is reset.

    Told is for each cycle whether memory is in use, and whether the core is to be reset.
    """
    cpu = WithoutCore(platform=None)
    seen = []

    def drive():
        for busy, reset in asked:
            yield cpu.memory_bus.cyc.eq(busy)
            yield cpu.reset.eq(reset)
            yield
            seen.append((yield cpu.core_reset))

    run_simulation(cpu, drive())
    return seen


def test_the_core_is_reset_when_what_it_does_in_external_memory_is_over():
    asked = [(1, 0), (1, 1), (1, 1), (0, 1), (0, 1), (0, 0)]
    assert resets(asked) == [0, 0, 0, 1, 1, 0]


def test_a_reset_that_is_over_by_then_is_made_up_for():
    # As LiteX's reset of the SoC, which lasts a cycle.
    asked = [(1, 0), (1, 1), (1, 0), (1, 0), (0, 0), (0, 0), (1, 0), (0, 0)]
    assert resets(asked) == [0, 0, 0, 0, 1, 0, 0, 0]
