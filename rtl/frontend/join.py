"""How fetch, prediction and the issue buffers are joined to the rest of the core."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import data


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
