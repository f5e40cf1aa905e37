"""How fetch, prediction and the issue buffers are joined to the rest of the core."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Module, Signal
from amaranth.lib import data

from .pair_priority import PairPriority


class FrontEndJoin:
    """Part of ``tierv.Core``."""

    def _join_front_end(self, m: Module) -> None:
        """Stages P, F and I."""
        fetcher = self._fetcher
        predecoder = self._predecoder
        buffer = self._buffer
        fetch = self._bus_fetcher
        history = self._history
        words = Signal(data.ArrayLayout(32, 2))
        m.d.comb += [
            self.imem_address.eq(fetcher.lookup_pc[1:]),
            words.eq(self.imem_read_data),
            fetcher.local_words.eq(words),
            fetcher.redirect.eq(self._redirect),
            fetcher.ended.eq(predecoder.ended),
            fetcher.has_target.eq(predecoder.has_target),
            fetcher.target.eq(predecoder.target),
            fetcher.loop_pairs.eq(predecoder.loop_pairs),
            fetcher.pairs.eq(buffer.pairs),
            history.lookup_tier.eq(fetcher.lookup_tier),
            history.lookup_pc.eq(fetcher.lookup_pc),
            fetcher.history.eq(history.found),
            fetch.start.eq(fetcher.bus_start),
            fetch.start_tier.eq(fetcher.arrival.tier),
            fetch.start_pc.eq(fetcher.arrival.pc),
            fetch.cancel.eq(fetcher.bus_cancel),
            fetch.taken.eq(fetcher.bus_taken),
            fetcher.bus_busy.eq(fetch.busy),
            fetcher.bus_done.eq(fetch.done),
            fetcher.bus_tier.eq(fetch.tier),
            fetcher.bus_words.eq(fetch.words),
            fetcher.bus_faults.eq(fetch.faults),
            predecoder.arrival.eq(fetcher.arrival),
            predecoder.redirect.eq(self._redirect),
            buffer.arrival.eq(fetcher.arrival),
            buffer.arriving.eq(fetcher.arriving),
            buffer.redirect.eq(self._redirect),
            buffer.kill.eq(self._commit.kill),
            buffer.dropped.eq(self._dropped),
            buffer.pair_valid.eq(predecoder.valid),
            buffer.pair_tier.eq(predecoder.tier),
            buffer.pair_flags.eq(predecoder.flags),
            buffer.ready.eq(self._tiers.ready),
            buffer.sharing.eq(self._csrs.sharing),
        ]
        # Pairs that come slowly, one at a time from each.
        slow = {"bus": self._bus_pair}
        if self.params.icache_bytes:
            slow["line"] = m.submodules.line_pair = PairPriority(self.params)
        for name, pair in slow.items():
            m.d.comb += [
                pair.asks.valid.eq(getattr(fetcher, f"{name}_asks")),
                pair.asks.tier.eq(fetcher.arrival.tier),
                pair.busy.eq(getattr(fetcher, f"{name}_busy")),
                pair.done.eq(getattr(fetcher, f"{name}_done")),
                pair.tier.eq(getattr(fetcher, f"{name}_tier")),
            ]
        m.d.comb += fetcher.outranked.eq(reduce(or_, (pair.outranked for pair in slow.values())))
