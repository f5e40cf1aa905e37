"""The core: its ports and its parts, which are joined by each folder's ``join.py``."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .backend.begun_access import BegunAccess
from .backend.bus import BusUnit
from .backend.commit import Commit
from .backend.decode import Decoder
from .backend.execute import Execute
from .backend.join import BackEndJoin
from .backend.muldiv import Divider, Multiplier
from .backend.operands import Operands
from .backend.writeback import WriteBack
from .cache.data import DataCache
from .cache.join import join_caches
from .cache.port import memory_port_members
from .debug.join import DebugJoin
from .debug.layout import debug_members
from .frontend.bus_fetch import BusFetcher
from .frontend.fetch import Fetcher
from .frontend.history import BranchHistory
from .frontend.issue import IssueBuffer
from .frontend.join import FrontEndJoin
from .frontend.pair_priority import PairPriority
from .frontend.predecode import Predecoder
from .layouts import issued_layout, redirect_layout, tier_event_layout
from .params import CoreParams
from .rvfi import RvfiMonitor, join_monitor, port_members
from .system.counters import CycleCounter, InstructionCounter
from .system.csr import CsrFile
from .system.join import SystemJoin
from .system.lines import LineUnit
from .system.tiers import TierState
from .wishbone import master_ports


class Core(FrontEndJoin, BackEndJoin, SystemJoin, DebugJoin, wiring.Component):
    """A RISC-V core with ``params.tiers`` banked register contexts.

    Contains no memory but its registers. The local ports answer in the next cycle, always; the
    bus port and, with a cache, the memory port are Wishbone B4 classic with word addresses.
    """

    def __init__(self, params: CoreParams) -> None:
        self.params = params
        p = params
        super().__init__(
            {
                #: External interrupt lines, synchronous to the clock.
                "lines": In(p.lines),
                #: Machine timer interrupt of each tier.
                "timer": In(p.tiers),
                #: Address of an aligned pair of instruction words; the pair follows a cycle later.
                "imem_address": Out(p.imem.size_log2 - 3),
                "imem_read_data": In(64),
                #: Word address of a load or store; a load's data follows a cycle later.
                "dmem_address": Out(p.dmem.size_log2 - 2),
                "dmem_write_mask": Out(4),
                "dmem_write_data": Out(32),
                "dmem_read_data": In(32),
                **master_ports("wb_"),
                #: Pulses as a tier leaves wfi, with its pending lines.
                "wake": Out(p.tiers),
                #: An instruction issues (stage I) or retires (stage M).
                "issue_valid": Out(1),
                "issue_tier": Out(p.tier_bits),
                "retire_valid": Out(1),
                "retire_tier": Out(p.tier_bits),
                "retire_pc": Out(32),
            }
            | (memory_port_members() if p.has_caches else {})
            | (debug_members(p) if p.debug else {})
            | (port_members(p) if p.rvfi else {})
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self.params

        # The instruction in D; what stage M tells everyone.
        self._d = Signal(issued_layout(p))
        self._redirect = Signal(redirect_layout(p))
        # The redirect of the last cycle.
        self._dropped = Signal(tier_event_layout(p))
        m.d.sync += [
            self._dropped.valid.eq(self._redirect.valid),
            self._dropped.tier.eq(self._redirect.tier),
        ]

        self._fetcher = m.submodules.fetcher = Fetcher(p)
        self._bus_fetcher = m.submodules.bus_fetcher = BusFetcher(p)
        self._bus_pair = m.submodules.bus_pair = PairPriority(p)
        self._history = m.submodules.history = BranchHistory(p)
        self._predecoder = m.submodules.predecoder = Predecoder(p)
        self._buffer = m.submodules.buffer = IssueBuffer(p)
        self._operands = m.submodules.operands = Operands(p)
        self._decoder = m.submodules.decoder = Decoder(p)
        self._execute = m.submodules.execute = Execute(p)
        self._m = self._execute.m
        self._multiplier = m.submodules.multiplier = Multiplier(p)
        self._divider = m.submodules.divider = Divider(p)
        self._commit = m.submodules.commit = Commit(p)
        self._bus = m.submodules.bus = BusUnit(p)
        self._begun_access = m.submodules.begun_access = BegunAccess(p)
        self._write_back = m.submodules.write_back = WriteBack(p)
        self._tiers = m.submodules.tiers = TierState(p)
        self._csrs = m.submodules.csrs = CsrFile(p)
        self._lines = m.submodules.line_unit = LineUnit(p)
        self._cycles = m.submodules.cycles = CycleCounter(p)
        self._instructions = m.submodules.instructions = InstructionCounter(p)
        # What a load reads in M without the bus.
        self._m_word = self.dmem_read_data
        self._data_cache = None
        if p.dcache_bytes:
            self._data_cache = m.submodules.data_cache = DataCache(p)
            self._m_word = Mux(self._m.cached, self._data_cache.read_data, self.dmem_read_data)

        self._join_front_end(m)
        self._join_decode(m)
        self._join_execute(m)
        self._join_commit(m)
        self._join_bus(m)
        self._join_system(m)
        self._join_csrs(m)
        stale = self._join_debug(m)
        if p.has_caches:
            parts = (self._data_cache, self._fetcher, self._execute, self._bus, self._commit)
            join_caches(m, p, self, *parts, stale)
        if p.rvfi:
            self._join_rvfi(m)
        return m

    def _join_rvfi(self, m: Module) -> None:
        monitor = m.submodules.rvfi = RvfiMonitor(self.params)
        parts = (self._operands, self._execute, self._commit, self._bus, self._tiers)
        join_monitor(m, monitor, self._d, self._m_word, *parts, self._write_back)
        for name, value in monitor.outputs().items():
            m.d.comb += getattr(self, name).eq(value)
