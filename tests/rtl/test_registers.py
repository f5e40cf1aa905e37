"""All tiers run at once, lines rise at random: every register of every tier ends as it should.

Each tier's program runs a fixed computation and, as a handler, a fixed number of rounds, each
after a wfi; however the tiers interleave, its registers end as if it had run alone. What they
would be alone is taken from Spike, which runs each tier's computation without lines or other tiers.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from pathlib import Path

import encoding as rv
import pytest
from lockstep import CORES
from random_code import CSR
from slow_turns import turns
from worker_pool import run_in_workers

from tierv.rtl.isa import MAX_TIERS, Interrupt
from tierv.rtl.params import CoreParams
from tierv.sim.core_model import CoreModel

CONSOLE = 0xF000_0000
BUS_BASE = 0x4000_0000
BUS_BYTES = 0x1_0000
#: Offsets in a tier's own memory: registers at the end, and the flag that it has finished.
REGISTERS, DONE = 0x400, 0x500
LOCAL, BUS, COUNT = 29, 30, 31
FREE = [*range(1, 29)]
ROUNDS = 40
CODE_BYTES = 0x600
LOCAL_BYTES = 0x800


@dataclass(frozen=True)
class Job:
    """What Spike is to run: one tier's words without what waits, and its address of registers."""

    tiers: int
    tier: int
    seed: int


def params_of(tiers: int) -> CoreParams:
    return CORES[str(tiers)]


def code_base(params: CoreParams, tier: int) -> int:
    """Where the tier's program begins; tier 0's, the longest, comes last, behind a jump."""
    return params.imem.base + (tier or MAX_TIERS) * CODE_BYTES


def local(params: CoreParams, tier: int) -> int:
    """Address of the tier's part of local data memory."""
    return params.dmem.base + tier * LOCAL_BYTES


def random_words(rng: random.Random, count: int) -> list[int]:
    """Computation, loads and stores, short branches; the same from everywhere."""
    words: list[int] = []

    def some() -> int:
        return rng.choice(FREE)

    while len(words) < count:
        kind = rng.randrange(8)
        if kind < 3:
            words.append(rv.r_type(rng.choice([*rv.R_TYPE]), some(), some(), some()))
        elif kind < 5:
            name = rng.choice([*rv.I_TYPE])
            words.append(rv.i_type(name, some(), some(), rng.randrange(-2048, 2048)))
        elif kind < 7:
            base = rng.choice((LOCAL, LOCAL, BUS))
            if rng.random() < 0.6:
                name = rng.choice([*rv.LOADS])
                words.append(rv.load(name, some(), base, 4 * rng.randrange(64)))
            else:
                words.append(
                    rv.store(rng.choice([*rv.STORES]), some(), base, 4 * rng.randrange(64))
                )
        else:
            words.append(rv.branch(rng.choice([*rv.BRANCHES]), some(), some(), 8))
            words.append(rv.addi(some(), some(), 1))
    return words


def tier_program(params: CoreParams, tier: int, seed: int, *, alone: bool) -> list[int]:
    """The program of a tier; ``alone``: without starting, waiting and the lines."""
    rng = random.Random(f"{seed} {tier}")
    code: list[int] = []
    if tier == 0 and not alone:
        for other in range(1, params.tiers):
            code += rv.li(1, code_base(params, other))
            code.append(rv.csr("csrrw", 0, CSR[f"mtierpc{other}"], 1))
        code += [*rv.li(1, (1 << params.tiers) - 1), rv.csr("csrrs", 0, CSR["mtierrun"], 1)]
    if not alone:
        # Edges of the tier's own lines, and one that all have.
        lines = sum(1 << line for line in range(params.lines) if line % params.tiers == tier) | 1
        code += [*rv.li(1, 0xFF), rv.csr("csrrs", 0, CSR["mlineedge"], 1), *rv.li(1, lines)]
        code += [rv.csr("csrrw", 0, CSR["mlinemask"], 1), *rv.li(1, 1 << Interrupt.MEI)]
        code.append(rv.csr("csrrw", 0, CSR["mie"], 1))
        code += [rv.csr("csrrwi", 0, CSR["mbusmode"], seed % 2)]
    code += rv.li(LOCAL, local(params, tier))
    code += rv.li(BUS, BUS_BASE + tier * BUS_BYTES)
    for register in FREE:
        code += rv.li(register, rng.getrandbits(32))
    code += rv.li(COUNT, ROUNDS)
    body = random_words(rng, 90)
    if not alone:
        # Tier 0 is the one that is interrupted; the others wait for their lines. Acknowledging
        # with x0 in between keeps every register as it is.
        body = [*body, rv.csr("csrrci", 0, CSR["mlineack"], 0)]
        if tier:
            body = [rv.WFI, rv.csr("csrrwi", 0, CSR["mlineack"], 31), *body]
    body.append(rv.addi(COUNT, COUNT, -1))
    code += [*body, rv.branch("bne", COUNT, 0, -4 * len(body))]
    code += [rv.store("sw", register, LOCAL, REGISTERS + 4 * register) for register in range(32)]
    return code


def ending(params: CoreParams, tier: int) -> list[int]:
    """Say that the tier has ended; tier 0 waits for all."""
    code = [rv.addi(1, 0, 1), rv.store("sw", 1, LOCAL, DONE)]
    if tier == 0:
        for other in range(1, params.tiers):
            code += [*rv.li(2, local(params, other)), rv.load("lw", 1, 2, DONE)]
            code.append(rv.branch("beq", 1, 0, -4))
        for other in range(params.tiers):
            for word in range(32):
                code += [*rv.li(2, local(params, other) + REGISTERS + 4 * word)]
                code += [rv.load("lw", 1, 2, 0), *rv.li(2, CONSOLE), rv.store("sw", 1, 2, 16)]
        code.append(rv.store("sw", 0, 2, 0))
    return [*code, rv.csr("csrrwi", 0, CSR["mie"], 0), rv.WFI, rv.jal(0, -4)]


def registers_alone(job: Job) -> list[int]:
    """Registers of the tier as Spike ends it."""
    from spike_tiers import Range, SpikeTiers

    params = params_of(job.tiers)
    base = params.reset_address
    words = tier_program(params, job.tier, job.seed, alone=True)
    memory = [
        Range(params.imem.base, params.imem.size_bytes),
        Range(params.dmem.base, params.dmem.size_bytes),
        Range(BUS_BASE, 0x10_0000),
    ]
    single = CoreParams(tiers=1, lines=8, reset_address=base)
    content = {base: struct.pack(f"<{len(words)}I", *words)}
    spike = SpikeTiers(single, memory, content, [base])
    return spike.run_alone(base + 4 * len(words), limit=1_000_000)


@pytest.mark.usefixtures("spike")
@pytest.mark.parametrize("tiers", turns([2, 3, 8], [2, 8]))
def test_every_register_of_every_tier_ends_as_its_program_alone_leaves_it(
    tiers: int, tmp_path: Path
) -> None:
    params = params_of(tiers)
    model = CoreModel(params)
    for seed in range(6):
        jump = rv.jal(0, code_base(params, 0) - params.reset_address)
        segments = {params.reset_address: struct.pack("<I", jump)}
        for tier in range(tiers):
            words = tier_program(params, tier, seed, alone=False) + ending(params, tier)
            base = code_base(params, tier)
            segments[base] = struct.pack(f"<{len(words)}I", *words)
        # Nothing is left from elsewhere in the memories.
        segments[params.dmem.base] = bytes(params.dmem.size_bytes)
        elf = tmp_path / f"{seed}.elf"
        elf.write_bytes(rv.elf(segments, params.reset_address))
        options = ["--seed", seed, "--line-period", 20 + 10 * seed, "--pulse", 1 + seed]
        options += ["--wait-states", seed % 4, "--cycles", 2_000_000]
        run = model.run(elf, *map(str, options))
        assert run.status == 0, f"seed {seed}: exit status {run.status}"
        found = [int(word, 16) for word in run.output.split()]
        jobs = [Job(tiers, tier, seed) for tier in range(tiers)]
        # One worker, so that the results come in order.
        alone = [*run_in_workers(registers_alone, jobs, workers=1)]
        for tier, registers in enumerate(alone):
            for number, value in enumerate(registers):
                if number in (LOCAL, BUS):
                    continue
                word = found[32 * tier + number]
                where = f"{tiers} tiers, seed {seed}, tier {tier}, x{number}"
                assert word == value, f"{where} is {word:#010x}, alone {value:#010x}"
