"""Planted bugs of the caches."""

from __future__ import annotations

from .planting import Plant

#: What the checks of the data cache prove, of hits and of misses, and suppose of its lines.
_OF_LINES = ("hit_reads_the_last_store", "supposed_line", "supposed_line_so_far")
_OF_LOADS = ("miss_reads_the_last_store", "supposed_word")

PLANTS = [
    Plant(
        name="cache-overlooks-the-tag",
        module="cache.tags",
        text="self.hit.eq((read.data == Cat(1, tag)) & ~self.clearing),",
        bug="self.hit.eq(read.data[0] & ~self.clearing),",
        check="fetches-1-cached",
        finds=("is_the_word",),
    ),
    Plant(
        name="tag-is-compared-but-for-one-bit",
        module="cache.tags",
        text="self.hit.eq((read.data == Cat(1, tag)) & ~self.clearing),",
        bug="self.hit.eq((read.data[:-1] == Cat(1, tag[:-1])) & ~self.clearing),",
        check="data-cache-8k",
        finds=_OF_LINES,
        short=True,
    ),
    Plant(
        name="line-that-is-dropped-still-hits",
        module="cache.tags",
        text="self.hit.eq((read.data == Cat(1, tag)) & ~self.clearing),",
        bug="self.hit.eq(read.data == Cat(1, tag)),",
        check="data-cache",
        finds=_OF_LINES,
    ),
    Plant(
        name="line-is-read-past-the-stores",
        module="cache.data",
        text="self.load.valid & empty & ~returns.any() & ~tags.clearing",
        bug="self.load.valid & ~returns.any() & ~tags.clearing",
        check="data-cache",
        finds=(*_OF_LOADS, "supposed_no_stores_meanwhile"),
        short=True,
    ),
    Plant(
        name="line-is-read-while-stores-return",
        module="cache.data",
        text="self.load.valid & empty & ~returns.any() & ~tags.clearing",
        bug="self.load.valid & empty & ~tags.clearing",
        check="data-cache",
        finds=(*_OF_LOADS, "supposed_no_stores_meanwhile"),
    ),
    Plant(
        name="stores-pass-every-load",
        module="cache.data",
        text="queue.w_rdy & (~self.load.valid | bit(goes_first, self.store_tier))",
        bug="queue.w_rdy",
        check="data-cache",
        finds=("only_urgent_stores_pass_a_load",),
    ),
    Plant(
        name="line-is-there-before-its-words",
        module="cache.data",
        text="m.d.comb += [tags.write.eq(1), tags.write_word.eq(self.load_word)]",
        bug="m.d.comb += [tags.write.eq(1), tags.write_word.eq(self.load_word),"
        " tags.write_valid.eq(1)]",
        check="data-cache",
        finds=("hit_reads_a_row_at_rest", "supposed_no_line_meanwhile"),
    ),
    Plant(
        name="line-that-is-replaced-still-hits",
        module="cache.data",
        text="m.d.comb += [tags.write.eq(1), tags.write_word.eq(self.load_word)]",
        bug="m.d.comb += tags.write_word.eq(self.load_word)",
        check="data-cache",
        finds=("hit_reads_a_row_at_rest", "supposed_no_line_meanwhile"),
    ),
    Plant(
        name="line-outlives-fence-i",
        module="cache.data",
        text="spoilt.eq(spoilt | self.invalidate | (answer.valid & answer.error))",
        bug="spoilt.eq(spoilt | (answer.valid & answer.error))",
        check="data-cache",
        finds=_OF_LINES,
    ),
    Plant(
        name="line-with-an-error-is-kept",
        module="cache.data",
        text="spoilt.eq(spoilt | self.invalidate | (answer.valid & answer.error))",
        bug="spoilt.eq(spoilt | self.invalidate)",
        check="data-cache",
        finds=_OF_LINES,
    ),
    Plant(
        name="load-has-the-last-word-of-its-line",
        module="cache.data",
        text="with m.If(beat == word[:line_bits]):",
        bug="with m.If(beat.all()):",
        check="data-cache",
        finds=(*_OF_LOADS, "error_is_of_its_word", "supposed_word_failed"),
    ),
    Plant(
        name="store-changes-all-bytes-of-a-line",
        module="cache.data",
        text="self.store & tags.hit & self.store_mask[byte]",
        bug="self.store & tags.hit",
        check="data-cache",
        finds=_OF_LINES,
        short=True,
    ),
    Plant(
        name="store-writes-all-bytes-to-memory",
        module="cache.port",
        text="self.sel.eq(Mux(stores, self.store.mask, 0b1111)),",
        bug="self.sel.eq(0b1111),",
        check="data-cache",
        finds=("supposed_newest", "fence_leaves_it_in_memory"),
    ),
    Plant(
        name="fence-overlooks-a-store",
        module="cache.data",
        text="self.stores_open[tier].eq(count != 0)",
        bug="self.stores_open[tier].eq(count > 1)",
        check="data-cache",
        finds=("fence_leaves_it_in_memory",),
    ),
]
