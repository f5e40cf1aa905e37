"""A Wishbone slave for the bench: RAM, registers with side effects, wait states, errors."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


def lane_bits(mask: int) -> int:
    """The bits of a word in the bytes of a mask."""
    return sum(0xFF << 8 * byte for byte in range(4) if mask >> byte & 1)


def merged(old: int, new: int, mask: int) -> int:
    """Bytes of ``new`` where ``mask`` says so."""
    lanes = lane_bits(mask)
    return old & ~lanes | new & lanes


#: What is read with an error: "csrr t2, misa", which nobody must take for an instruction.
ERROR_WORD = 0x3010_23F3


@dataclass(frozen=True)
class Answer:
    """What the slave drives in a cycle."""

    ack: int = 0
    error: int = 0
    data: int = 0


@dataclass(frozen=True)
class Transfer:
    """A transaction that has ended."""

    #: The first cycle and the one of the answer.
    begin: int
    end: int
    address: int
    write: bool
    mask: int
    #: The word written or read.
    data: int
    error: bool


class BusModel:
    """Answers Wishbone classic cycles; an address that nothing serves gives an error."""

    def __init__(self) -> None:
        self.ram: dict[int, int] = {}
        self.transfers: list[Transfer] = []
        #: Wait states of a transfer to an address.
        self.wait_states: Callable[[int], int] = lambda address: 0
        self._writes: dict[int, Callable[[int], None]] = {}
        self._reads: dict[int, Callable[[], int]] = {}
        self._begin: int | None = None
        self._left = 0
        self._request: tuple = ()

    def add_ram(self, base: int, size_bytes: int) -> None:
        """Zeros at these addresses."""
        self.ram |= dict.fromkeys(range(base, base + size_bytes, 4), 0)

    def on_write(self, address: int, call: Callable[[int], None]) -> None:
        """Call with each word that is written to the address, as it is acknowledged."""
        self._writes[address] = call

    def draw_wait_states(self, seed: int, most: int) -> None:
        """Each transfer has from none to ``most`` of them."""
        rng = random.Random(seed)
        self.wait_states = lambda address: rng.randint(0, most)

    def on_read(self, address: int, call: Callable[[], int]) -> None:
        """Take the word read at the address from the call."""
        self._reads[address] = call

    def reset(self) -> None:
        """Forget what was going on and what was recorded."""
        self.transfers.clear()
        self._begin = None

    def idle(self) -> None:
        """No request in this cycle."""
        assert self._begin is None, "the core abandoned a bus transaction"

    def serve(self, *, cycle: int, address: int, write: bool, mask: int, data: int) -> Answer:
        """Answer the request of this cycle."""
        request = (address, write, mask, data)
        if self._begin is None:
            self._begin = cycle
            self._left = self.wait_states(address)
            self._request = request
        assert request == self._request, "the core changed a bus transaction"
        if self._left:
            self._left -= 1
            return Answer()
        begin, self._begin = self._begin, None
        known = address in self.ram or address in (self._writes if write else self._reads)
        word = data if write else ERROR_WORD
        if known and write:
            self._write(address, mask, data)
        elif known:
            call = self._reads.get(address)
            word = call() if call else self.ram[address]
        self.transfers.append(Transfer(begin, cycle, address, write, mask, word, not known))
        return Answer(ack=int(known), error=int(not known), data=0 if write else word)

    def _write(self, address: int, mask: int, data: int) -> None:
        if address in self._writes:
            self._writes[address](data)
            return
        self.ram[address] = merged(self.ram[address], data, mask)
