"""LiteX's BIOS, unmodified, on the console of a simulated board: here it runs in tier 0."""

from __future__ import annotations

import pytest
from board import board

from tierv.sim.bios import build_bios
from tierv.sim.model import ModelParams, build_model, simulation_params

ABORT_HINT = b"ESC to abort boot"
NO_BOOT = b"\x1b"
PROMPT = b"litex\x1b[0m> "


@pytest.mark.parametrize(
    ("cpu", "variant", "name"),
    [
        ("tierv", "standard", b"TierV"),
        pytest.param("tierv", "single", b"TierV", marks=pytest.mark.slow),
        pytest.param("vexriscv", "standard", b"VexRiscv", marks=pytest.mark.slow),
    ],
)
def test_the_bios_boots_to_its_prompt_takes_commands_and_ends_on_the_key(cpu, variant, name):
    # Built before the board is waited for.
    soc = simulation_params(cpu=cpu, cpu_variant=variant)
    build_model(ModelParams(soc=soc))
    build_bios(soc)
    words = ("--cpu", cpu, "--cpu-variant", variant, "--network", "none")
    with board("--bios", *words) as running:
        running.wait_for(ABORT_HINT)
        running.type(NO_BOOT)
        running.wait_for(PROMPT)
        assert b"BIOS CRC passed" in running.shown
        assert name + b" @ 100MHz" in running.shown
        running.type(b"mem_write 0x40000000 0x600dcafe\n")
        running.type(b"mem_read 0x40000000 4\n")
        running.wait_for(b"fe ca 0d 60")
        # Nothing is there, and the BIOS goes on.
        running.type(b"mem_read 0x50000000 4\n")
        running.wait_for(b"0x50000000  ")
        running.type(b"mem_read 0x40000004 4\n")
        running.wait_for(b"0x40000004  ")
        assert running.end() == 0
