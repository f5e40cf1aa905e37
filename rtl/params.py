"""The parameters of the core: one frozen object that every part of it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .isa import MAX_LINES, MAX_TIERS

#: Smallest and largest tightly coupled memory in bytes.
MIN_LOCAL_BYTES = 1 << 10
MAX_LOCAL_BYTES = 1 << 24
#: Smallest and largest range of addresses that is cached, cache and line in bytes.
MIN_CACHED_BYTES, MAX_CACHED_BYTES = 1 << 17, 1 << 30
MIN_CACHE_BYTES, MAX_CACHE_BYTES = 1 << 10, 1 << 16
MIN_LINE_BYTES, MAX_LINE_BYTES = 1 << 4, 1 << 7
#: Most triggers of a tier.
MAX_TRIGGERS = 4
#: Optional extensions of the instruction set, each a parameter of the core.
EXTENSIONS = ("zba", "zbb", "zbs")


@dataclass(frozen=True, kw_only=True)
class Region:
    """A naturally aligned range of addresses whose size is a power of two.

    Raises ``ValueError`` for a size that is no power of two or out of range, and for a base that
    is not a multiple of the size.
    """

    _LEAST_BYTES: ClassVar[int] = MIN_LOCAL_BYTES
    _MOST_BYTES: ClassVar[int] = MAX_LOCAL_BYTES

    base: int
    size_bytes: int

    def __post_init__(self) -> None:
        size = self.size_bytes
        least, most = self._LEAST_BYTES, self._MOST_BYTES
        if not least <= size <= most or size & (size - 1):
            raise ValueError(
                f"size_bytes must be a power of two from {least} to {most}, not {size!r}"
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


@dataclass(frozen=True, kw_only=True)
class CachedRegion(Region):
    """The same for addresses that are cached: external memory, never a device."""

    _LEAST_BYTES: ClassVar[int] = MIN_CACHED_BYTES
    _MOST_BYTES: ClassVar[int] = MAX_CACHED_BYTES


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
    #: The Wishbone port of the data memory is B4 pipelined, an access a cycle, in place of classic.
    dmem_pipelined: bool = False
    #: Instruction words per tier whose branches have a history, two in a row share one, log2; 0
    #: predicts backward branches taken.
    branch_history_log2: int = 8
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
    #: Bytes of the instruction cache and of the data cache, powers of two; 0: there is none.
    icache_bytes: int = 0
    dcache_bytes: int = 0
    #: Bytes of a line of either, a power of two.
    cache_line_bytes: int = 32
    #: What is cached; accesses in this range use the memory port.
    cached: CachedRegion = CachedRegion(base=0x4000_0000, size_bytes=256 << 20)
    #: External debug: ports for a debug module, and so many triggers per tier.
    debug: bool = False
    triggers: int = 2
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
        _check_range("triggers", self.triggers, 1, MAX_TRIGGERS)
        if self.reset_address % 4:
            raise ValueError(f"reset_address must be a multiple of 4, not {self.reset_address:#x}")
        for name in ("imem", "dmem"):
            local = getattr(self, name)
            if not isinstance(local, Region) or isinstance(local, CachedRegion):
                raise ValueError(f"{name} must be a Region, not {local!r}")
        if self.imem.overlaps(self.dmem):
            raise ValueError(
                f"imem and dmem must not overlap, not {self.imem.base:#x} and {self.dmem.base:#x}"
            )
        self._check_caches()
        if self.altops and not self.rvfi:
            raise ValueError("altops must be used with rvfi, not alone")

    def _check_caches(self) -> None:
        if not isinstance(self.cached, CachedRegion):
            raise ValueError(f"cached must be a CachedRegion, not {self.cached!r}")
        for name, low, high in (
            ("icache_bytes", MIN_CACHE_BYTES, MAX_CACHE_BYTES),
            ("dcache_bytes", MIN_CACHE_BYTES, MAX_CACHE_BYTES),
            ("cache_line_bytes", MIN_LINE_BYTES, MAX_LINE_BYTES),
        ):
            size = getattr(self, name)
            _check_range(name, size, 0, high)
            if size & (size - 1) or (size < low and (size or name == "cache_line_bytes")):
                or_none = "" if name == "cache_line_bytes" else "0 or "
                raise ValueError(
                    f"{name} must be {or_none}a power of two from {low} to {high}, not {size!r}"
                )
        for name in ("imem", "dmem"):
            local = getattr(self, name)
            if self.has_caches and self.cached.overlaps(local):
                raise ValueError(
                    f"cached and {name} must not overlap, not {self.cached.base:#x} and"
                    f" {local.base:#x}"
                )
        # What is fetched behind a pair of words is first looked for where that was.
        for below, above in ((self.imem, self.cached), (self.cached, self.imem)):
            if self.icache_bytes and (below.base + below.size_bytes) % (1 << 32) == above.base:
                raise ValueError(
                    "imem and cached must be apart in a core with an instruction cache, not"
                    f" {below.size_bytes:#x} bytes from {below.base:#x} on before {above.base:#x}"
                )
        program = self.debug_program_address
        above = program - self.cached.base
        if self.debug and self.has_caches and 0 <= above < self.cached.size_bytes:
            raise ValueError(
                f"cached must not hold {program:#x}, the program of debug mode, as that from"
                f" {self.cached.base:#x} on does"
            )

    @property
    def has_caches(self) -> bool:
        """Whether there is a cache, and so a memory port."""
        return bool(self.icache_bytes or self.dcache_bytes)

    @property
    def debug_program_address(self) -> int:
        """Where the program of debug mode seems to be: outside local memory, so that it is fetched
        through the bus unit, which finds it elsewhere than on the bus."""
        return self.imem.base ^ 1 << 31

    @property
    def extensions(self) -> tuple[str, ...]:
        """Optional extensions that it has, as in a string that names the instruction set."""
        return tuple(name for name in EXTENSIONS if getattr(self, name))

    @property
    def tier_bits(self) -> int:
        """Width of a tier number; one bit even for a single tier, so that no port is empty."""
        return max(1, (self.tiers - 1).bit_length())

    @property
    def contexts(self) -> int:
        """Rows of a memory that is addressed by the tier number."""
        return 1 << self.tier_bits
