"""How the caches are connected to the pipeline and to the memory port."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring

from ..backend.bus import BusUnit
from ..backend.commit import Commit
from ..backend.execute import Execute
from ..frontend.fetch import Fetcher
from ..params import CoreParams
from ..util import join_ports
from .data import DataCache
from .instruction import InstructionCache
from .port import MemoryPort, memory_port_members


def join_caches(
    m: Module,
    params: CoreParams,
    core: wiring.Component,
    data_cache: DataCache | None,
    fetcher: Fetcher,
    execute: Execute,
    bus: BusUnit,
    commit: Commit,
    stale: Value,
) -> None:
    """Connect the data cache, if there is one, and add the instruction cache and the memory port,
    whose ports (``memory_port_members``) the ``core`` has.

    ``stale`` is 1 in a cycle in which memory may differ from the caches.
    """
    m.submodules.memory = memory = MemoryPort(params)
    join_ports(m, core, memory, {name: name.removeprefix("mem_") for name in memory_port_members()})
    # As fence.i retires, so that what is fetched next is new.
    invalidate = Signal()
    m.d.comb += invalidate.eq((commit.retired.valid & execute.m.control.fence_i) | stale)
    if params.icache_bytes:
        _join_instruction_cache(m, params, memory, fetcher, invalidate)
    if data_cache is not None:
        _join_data_cache(m, data_cache, memory, execute, bus, invalidate)


def _join_instruction_cache(
    m: Module, params: CoreParams, memory: MemoryPort, fetcher: Fetcher, invalidate: Value
) -> None:
    """Add the cache in which the fetcher looks up what it asks local memory for."""
    m.submodules.instruction_cache = cache = InstructionCache(params)
    m.d.comb += [
        cache.invalidate.eq(invalidate),
        cache.lookup_pc.eq(fetcher.lookup_pc),
        cache.pc.eq(fetcher.arrival.pc),
        cache.start.eq(fetcher.line_start),
        cache.start_tier.eq(fetcher.arrival.tier),
        cache.cancel.eq(fetcher.line_cancel),
        cache.taken.eq(fetcher.line_taken),
        fetcher.cache_hit.eq(cache.hit),
        fetcher.cache_words.eq(cache.words),
        fetcher.line_busy.eq(cache.busy),
        fetcher.line_done.eq(cache.done),
        fetcher.line_tier.eq(cache.tier),
        fetcher.line_words.eq(cache.missed_words),
        fetcher.line_faults.eq(cache.missed_faults),
        memory.instruction.eq(cache.request),
        cache.answer.eq(memory.instruction_answer),
    ]


def _join_data_cache(
    m: Module,
    cache: DataCache,
    memory: MemoryPort,
    execute: Execute,
    bus: BusUnit,
    invalidate: Value,
) -> None:
    """Look up and store in stage X; open loads that miss in stage M, like those of the bus."""
    stage = execute.m
    m.d.comb += [
        cache.invalidate.eq(invalidate),
        cache.word.eq(execute.cache_word),
        cache.store.eq(execute.cache_store),
        cache.store_tier.eq(execute.x.tier),
        cache.store_mask.eq(execute.cache_mask),
        cache.store_data.eq(execute.dmem_write_data),
        execute.cache_hit.eq(cache.hit),
        execute.cache_room.eq(cache.room),
        execute.stores_open.eq(cache.stores_open),
        cache.wait_for_stores.valid.eq(stage.valid & stage.waits_for_stores),
        cache.wait_for_stores.tier.eq(stage.tier),
        bus.open_cached.eq(stage.cached),
        bus.store_failed.eq(cache.store_failed),
        cache.load.eq(bus.cached_load),
        cache.load_word.eq(bus.cached_word),
        cache.load_taken.eq(bus.cached_taken),
        bus.cached_done.eq(cache.load_done),
        bus.cached_error.eq(cache.load_error),
        bus.cached_data.eq(cache.load_data),
    ]
    join_data_port(m, cache, memory)


def join_data_port(m: Module, cache: DataCache, memory: MemoryPort) -> None:
    """Have the data cache read lines and write stores by the memory port."""
    m.d.comb += [
        memory.data.eq(cache.request),
        cache.answer.eq(memory.data_answer),
        memory.store_valid.eq(cache.memory_store_valid),
        memory.load_waits.eq(cache.load.valid),
        memory.store.eq(cache.memory_store),
        cache.memory_store_done.eq(memory.store_done),
        cache.memory_store_error.eq(memory.store_error),
    ]
