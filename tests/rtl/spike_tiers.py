"""The tiers of a core as instances of Spike over shared memory.

The CSRs that Spike lacks are cells that keep what is written to them. What lines do to them, and
when a tier stops, Spike can't know.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from riscv.cfg import cfg_t, mem_cfg_t
from riscv.csrs import csr_t
from riscv.devices import device_factory_t, mem_t, mmio_device_map
from riscv.sim import sim_t

from tierv.rtl.isa import LINES_PER_PRIORITY_CSR, Interrupt, csr_addresses
from tierv.rtl.params import CoreParams

CSR = csr_addresses()
MSTATUS_MIE, MSTATUS_MPIE = 1 << 3, 1 << 7

#: Spike's objects refer to each other behind Python's back: none is ever freed.
_KEPT: list[object] = []


class MismatchError(AssertionError):
    """The core did something else than Spike; the message says what, and where."""


class _Csr(csr_t):
    """A CSR that Spike does not have."""

    def __init__(self, processor, address: int, cell: list[int], mask: int) -> None:
        super().__init__(processor, address)
        self._cell = cell
        self._mask = mask

    def read(self) -> int:
        return self._cell[0]

    def unlogged_write(self, value: int) -> bool:
        self._cell[0] = value & self._mask
        return True


class _Memory(device_factory_t):
    """Puts one memory into several simulators."""

    def __init__(self, memory: mem_t) -> None:
        super().__init__()
        self._memory = memory

    def parse_from_fdt(self, fdt, sim, *arguments):
        return self._memory, int(arguments[0], 16)

    def generate_dts(self, sim, *arguments) -> str:
        return ""


@dataclass(frozen=True)
class Range:
    """Memory that all tiers see."""

    base: int
    size_bytes: int


class SpikeTiers:
    """A processor of Spike for each tier, each at its entry."""

    def __init__(
        self,
        params: CoreParams,
        ranges: list[Range],
        segments: dict[int, bytes],
        entries: list[int],
    ) -> None:
        self._params = params
        self._memories = [(r, mem_t(r.size_bytes)) for r in ranges]
        self._factories = []
        for number, (_, memory) in enumerate(self._memories):
            factory = _Memory(memory)
            mmio_device_map[f"shared{number}"] = factory
            self._factories.append(factory)
        for address, content in segments.items():
            base, memory = self._find(address)
            memory.store(address - base, content)
        self._shared = _shared_cells(params)
        self._masks: list[list[int]] = []
        self._modes: list[list[int]] = []
        self._sims = []
        self._csrs: list[_Csr] = []
        #: By tier.
        self.processors = [self._build(tier, entry) for tier, entry in enumerate(entries)]
        _KEPT.append(self)

    def _build(self, tier: int, entry: int):
        config = cfg_t(
            isa="_".join(("rv32im", *self._params.extensions, "zicsr_zifencei_zicntr")),
            priv="m",
            mem_layout=[mem_cfg_t(0x9000_0000, 0x1000)],
            start_pc=self._params.reset_address,
        )
        devices = [
            (f"shared{number}", [hex(r.base)]) for number, (r, _) in enumerate(self._memories)
        ]
        sim = sim_t(
            cfg=config,
            halted=False,
            plugin_device_factories=devices,
            args=["none"],
            dtb_enabled=True,
        )
        self._sims.append(sim)
        processor = sim.get_core(0)
        cells = self._shared | _own_cells(self._params, tier)
        self._masks.append(cells[CSR["mlinemask"]][0])
        self._modes.append(cells[CSR["mbusmode"]][0])
        for address, (cell, mask) in cells.items():
            custom = _Csr(processor, address, cell, mask)
            processor.state.add_csr(address, custom)
            self._csrs.append(custom)
        processor.state.pc = entry
        return processor

    def _find(self, address: int):
        for memory_range, memory in self._memories:
            if 0 <= address - memory_range.base < memory_range.size_bytes:
                return memory_range.base, memory
        raise MismatchError(f"no memory at {address:#010x}")

    def has(self, address: int) -> bool:
        """Whether there is memory at the address."""
        return any(0 <= address - r.base < r.size_bytes for r, _ in self._memories)

    def word(self, address: int) -> int:
        """The word in memory at the address. Raises ``MismatchError`` if there is no memory."""
        base, memory = self._find(address)
        (word,) = struct.unpack("<I", memory.load(address - base, 4))
        return word

    def line_mask(self, tier: int) -> int:
        """The tier's ``mlinemask``."""
        return self._masks[tier][0]

    def shared(self, address: int) -> int:
        """A CSR that Spike lacks and that all tiers see."""
        return self._shared[address][0][0]

    def is_posted(self, tier: int) -> bool:
        """Whether ``mpost`` has the tier's bit."""
        return bool(self.shared(CSR["mpost"]) >> tier & 1)

    def enables(self, tier: int) -> int:
        """The tier's ``mie``."""
        return self.processors[tier].get_csr(CSR["mie"])

    def enabled(self, tier: int) -> int:
        """The interrupts that the tier would take: its ``mie``, or none."""
        allowed = self.processors[tier].get_csr(CSR["mstatus"]) & MSTATUS_MIE
        return self.enables(tier) if allowed else 0

    def ceiling(self, tier: int) -> int:
        """The tier's ``mceiling``."""
        return self.processors[tier].get_csr(CSR["mceiling"])

    def buffers_accesses(self, tier: int) -> bool:
        """Whether the tier's ``mbusmode`` lets it go on before a bus access has ended."""
        return bool(self._modes[tier][0] & 1)

    def interrupt(self, tier: int, cause: int) -> None:
        """Let a tier take an interrupt.

        Raises ``MismatchError`` if it is not enabled.
        """
        processor = self.processors[tier]
        enables = self.enables(tier)
        if not (enables >> cause & 1 and processor.get_csr(CSR["mstatus"]) & MSTATUS_MIE):
            raise MismatchError(f"tier {tier} took interrupt {cause}, mie is {enables:#x}")
        self.trap(tier, 1 << 31 | cause)

    def trap(self, tier: int, cause: int) -> None:
        """Let a tier trap where it is, whatever the instruction there would do."""
        processor = self.processors[tier]
        status = processor.get_csr(CSR["mstatus"])
        before = MSTATUS_MPIE if status & MSTATUS_MIE else 0
        processor.put_csr(CSR["mstatus"], status & ~(MSTATUS_MIE | MSTATUS_MPIE) | before)
        processor.put_csr(CSR["mepc"], processor.state.pc & 0xFFFF_FFFF)
        processor.put_csr(CSR["mcause"], cause)
        processor.put_csr(CSR["mtval"], 0)
        processor.state.pc = processor.get_csr(CSR["mtvec"])

    def move(self, tier: int, pc: int) -> None:
        """Let a tier go on elsewhere, with interrupts disabled."""
        processor = self.processors[tier]
        processor.put_csr(CSR["mstatus"], processor.get_csr(CSR["mstatus"]) & ~MSTATUS_MIE)
        processor.state.pc = pc

    def run_alone(self, end: int, *, limit: int) -> list[int]:
        """Let the first tier's program run until its PC is ``end``; returns its registers.

        Raises ``MismatchError`` if that does not happen within ``limit`` instructions.
        """
        processor = self.processors[0]
        for _ in range(limit):
            if processor.state.pc & 0xFFFF_FFFF == end:
                return [processor.state.XPR[n] & 0xFFFF_FFFF for n in range(32)]
            processor.step(1)
        raise MismatchError(f"the program alone does not end within {limit} instructions")


def _shared_cells(params: CoreParams) -> dict[int, tuple[list[int], int]]:
    """What all tiers see: of each CSR its address, cell and bits that can be written."""
    cells = {
        CSR["mlineedge"]: ([0], (1 << params.lines) - 1),
        CSR["mpost"]: ([0], (1 << params.tiers) - 1),
    }
    groups = -(-params.lines // LINES_PER_PRIORITY_CSR)
    for group in range(groups):
        lines = min(LINES_PER_PRIORITY_CSR, params.lines - group * LINES_PER_PRIORITY_CSR)
        cells[CSR[f"mlineprio{group}"]] = ([0], (1 << 4 * lines) - 1)
    return cells


def _own_cells(params: CoreParams, tier: int) -> dict[int, tuple[list[int], int]]:
    """What each tier has for itself; a CSR that keeps nothing reads as 0."""
    cells = {
        CSR["mlinemask"]: ([0], (1 << params.lines) - 1),
        CSR["mceiling"]: ([0], (1 << params.tier_bits) - 1),
        CSR["mbusmode"]: ([0], 3 if params.tiers > 1 else 1),
        CSR["mhartid"]: ([tier], 0xFF),
        # Not Spike's own, so that its timer, which is always due, interrupts nobody.
        CSR["mie"]: ([0], sum(1 << code for code in Interrupt)),
    }
    names = ["mtierrun", "mlineack", "mlinepend", "mlineclaim", "mlineraw"]
    names += ["mtierlatency", *(f"mlinestamp{line}" for line in range(params.lines))]
    for number in range(params.tiers):
        names += [f"mtierpc{number}", f"mtierarg{number}"]
    return cells | {CSR[name]: ([0], 0) for name in names}
