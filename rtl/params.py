"""The parameters of the core: one frozen object that every part of it reads."""

from __future__ import annotations

from dataclasses import dataclass

from .isa import MAX_LINES, MAX_TIERS

#: Smallest and largest tightly coupled memory in bytes.
MIN_LOCAL_BYTES = 1 << 10
MAX_LOCAL_BYTES = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Region:
    """A naturally aligned range of addresses whose size is a power of two.

    Raises ``ValueError`` for a size that is no power of two or out of range, and for a base that
    is not a multiple of the size.
    """

    base: int
    size_bytes: int

    def __post_init__(self) -> None:
        size = self.size_bytes
        if not MIN_LOCAL_BYTES <= size <= MAX_LOCAL_BYTES or size & (size - 1):
            raise ValueError(
                f"size_bytes must be a power of two from {MIN_LOCAL_BYTES} to {MAX_LOCAL_BYTES},"
                f" not {size!r}"
            )
        if not 0 <= self.base < 1 << 32 or self.base % size:
            raise ValueError(f"base must be a 32-bit multiple of {size:#x}, not {self.base:#x}")

    @property
    def size_log2(self) -> int:
        """Address bits within the region."""
        return self.size_bytes.bit_length() - 1

    def overlaps(self, other: Region) -> bool:
        """True if some address lies in both."""
        return (
            self.base < other.base + other.size_bytes and other.base < self.base + self.size_bytes
        )


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")


@dataclass(frozen=True, kw_only=True)
class CoreParams:
    """What the core is built with. ``dataclasses.replace`` derives variants.

    Raises ``ValueError`` naming the parameter for a value that can't be built.
    """

    #: Register contexts; tier 0 is the least urgent.
    tiers: int = 3
    #: External interrupt lines.
    lines: int = 32
    #: Where tier 0 starts after reset; a multiple of four.
    reset_address: int = 0x0000_0000
    #: Instruction fetches in this range use the local instruction port.
    imem: Region = Region(base=0x2000_0000, size_bytes=32 << 10)
    #: Loads and stores in this range use the local data port.
    dmem: Region = Region(base=0x3000_0000, size_bytes=32 << 10)
    #: Two-bit branch history counters per tier, log2; 0 predicts backward branches taken.
    branch_history_log2: int = 10
    #: Return addresses remembered per tier, log2; 0 remembers one.
    return_stack_log2: int = 1
    #: Cycles after the acknowledge of a tier's bus write in which its ``wfi`` does not yet believe
    #: a level line: the time that a peripheral takes to lower its line.
    line_settle_cycles: int = 2
    #: Per-tier performance monitors and worst-latency registers.
    counters: bool = True
    #: ``mlinestamp`` registers.
    line_stamps: bool = True
    #: Extensions for bit manipulation: addresses, basic, single bits.
    zba: bool = False
    zbb: bool = False
    zbs: bool = False
    #: RVFI outputs.
    rvfi: bool = False
    #: Replace multiply and divide by the formal stand-ins of riscv-formal.
    altops: bool = False

    def __post_init__(self) -> None:
        _check_range("tiers", self.tiers, 1, MAX_TIERS)
        _check_range("lines", self.lines, 1, MAX_LINES)
        _check_range("reset_address", self.reset_address, 0, (1 << 32) - 4)
        _check_range("branch_history_log2", self.branch_history_log2, 0, 12)
        _check_range("return_stack_log2", self.return_stack_log2, 0, 3)
        _check_range("line_settle_cycles", self.line_settle_cycles, 0, 7)
        if self.reset_address % 4:
            raise ValueError(f"reset_address must be a multiple of 4, not {self.reset_address:#x}")
        for name in ("imem", "dmem"):
            if not isinstance(getattr(self, name), Region):
                raise ValueError(f"{name} must be a Region, not {getattr(self, name)!r}")
        if self.imem.overlaps(self.dmem):
            raise ValueError(
                f"imem and dmem must not overlap, not {self.imem.base:#x} and {self.dmem.base:#x}"
            )
        if self.altops and not self.rvfi:
            raise ValueError("altops must be used with rvfi, not alone")

    @property
    def extensions(self) -> tuple[str, ...]:
        """Optional extensions of the instruction set, as in a string that names it."""
        return tuple(name for name in ("zba", "zbb", "zbs") if getattr(self, name))

    @property
    def tier_bits(self) -> int:
        """Width of a tier number; one bit even for a single tier, so that no port is empty."""
        return max(1, (self.tiers - 1).bit_length())

    @property
    def contexts(self) -> int:
        """Rows of a memory that is addressed by the tier number."""
        return 1 << self.tier_bits
