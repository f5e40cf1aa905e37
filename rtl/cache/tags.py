"""Which line of external memory each place of a cache holds."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..layouts import PC_BITS
from ..params import CoreParams


class Tags(wiring.Component):
    """Tag and valid bit of each line of a direct-mapped cache of ``size_bytes``.

    The lookup is combinational, so it is known within the cycle whether an access hits. After
    reset and after `invalidate` the lines are cleared one in a cycle; until then nothing hits. One
    that is told meanwhile changes nothing, so that a line can come in the cycle behind.
    """

    def __init__(self, params: CoreParams, size_bytes: int) -> None:
        self._region_bits = params.cached.size_log2 - 2
        self._line_bits = params.cache_line_bytes.bit_length() - 3
        self._set_bits = (size_bytes // params.cache_line_bytes).bit_length() - 1
        super().__init__(
            {
                #: Word address, of which only the part within the cached range counts.
                "lookup": In(PC_BITS),
                "hit": Out(1),
                #: Drop every line.
                "invalidate": In(1),
                #: Lines are being dropped: no `write`.
                "clearing": Out(1, init=1),
                #: The line of `write_word` is there, or not.
                "write": In(1),
                "write_word": In(PC_BITS),
                "write_valid": In(1),
            }
        )

    def _split(self, word):
        """Set and tag of a word address."""
        above = self._line_bits + self._set_bits
        return word[self._line_bits : above], word[above : self._region_bits]

    def elaborate(self, platform) -> Module:
        m = Module()
        set_bits = self._set_bits
        tag_bits = self._region_bits - self._line_bits - set_bits
        memory = Memory(shape=tag_bits + 1, depth=1 << set_bits, init=[])
        m.submodules.memory = memory
        write = memory.write_port()
        read = memory.read_port(domain="comb")

        cleared = Signal(set_bits)
        m.d.sync += cleared.eq(cleared + self.clearing)
        # No line comes while they are dropped, so that this need not begin anew.
        with m.If(self.clearing):
            m.d.sync += self.clearing.eq(~cleared.all())
        with m.Elif(self.invalidate):
            m.d.sync += self.clearing.eq(1)

        line, tag = self._split(self.lookup)
        write_line, write_tag = self._split(self.write_word)
        m.d.comb += [
            read.addr.eq(line),
            self.hit.eq((read.data == Cat(1, tag)) & ~self.clearing),
            write.addr.eq(Mux(self.clearing, cleared, write_line)),
            write.data.eq(Cat(self.write_valid & ~self.clearing, write_tag)),
            write.en.eq(self.write | self.clearing),
        ]
        return m
