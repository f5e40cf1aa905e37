"""LiteX's BIOS, unmodified, on this core: it runs in tier 0."""

from __future__ import annotations

import pytest
from board import board

from tierv.sim.bios import build_bios
from tierv.sim.model import ModelParams, build_model, simulation_params

ABORT_HINT = b"ESC to abort boot"
NO_BOOT = b"\x1b"
PROMPT = b"litex\x1b[0m> "


@pytest.mark.parametrize("variant", ["standard", pytest.param("single", marks=pytest.mark.slow)])
def test_the_bios_boots_to_its_prompt_and_takes_commands(variant):
    # Built before the board is waited for.
    soc = simulation_params(cpu="tierv", cpu_variant=variant)
    build_model(ModelParams(soc=soc))
    build_bios(soc)
    with board("--bios", "--cpu-variant", variant, "--network", "none") as running:
        running.wait_for(ABORT_HINT)
        running.type(NO_BOOT)
        running.wait_for(PROMPT)
        assert b"BIOS CRC passed" in running.shown
        assert b"TierV @ 100MHz" in running.shown
        running.type(b"mem_write 0x40000000 0x600dcafe\n")
        running.type(b"mem_read 0x40000000 4\n")
        running.wait_for(b"fe ca 0d 60")
        assert running.end() == 0
