"""The interrupt echo instrument: how long an interrupt line waits for its handler, in hardware."""

from __future__ import annotations

from litex.gen import LiteXModule
from litex.soc.interconnect.csr import CSR, CSRField, CSRStatus, CSRStorage
from migen import Case, Cat, If, Memory, Mux, Record, Signal

#: The shortest distance of two moments; a smaller one is taken for this.
MIN_INTERVAL_CYCLES = 64
INTERVAL_BITS = 24
#: A random interval is longer by less than 2 to this power at the most.
MAX_SPREAD_LOG2 = 20
MAX_BINS = 4096
#: A bin of the histogram is at the most 2 to this power cycles wide.
MAX_BIN_LOG2 = 7
#: x^32 + x^22 + x^2 + x + 1, of maximal length (Xilinx XAPP052, table 3), as a Galois register that
#: shifts right.
LFSR_TAPS = 0x8020_0003
#: Steps of the register between one random number and the next, which so shares no bit with it.
LFSR_STEPS = 32


def echo_layout() -> list[tuple[str, int]]:
    """Names and widths of the pins for a logic analyser."""
    return [("line", 1), ("answer", 1)]


def _check(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")


class _Saturating(LiteXModule):
    """Adds up to a status register that stops at its highest value, and remembers that it has.

    ``add`` takes effect at the end of a cycle in which ``enable`` is set, ``erase`` before it.
    """

    def __init__(self, status: Signal, add: Signal | int, enable: Signal, erase: Signal) -> None:
        #: Something was not added any more.
        self.saturated = Signal()
        total = Signal(len(status) + 1)
        self.comb += total.eq(status + add)
        self.sync += [
            If(
                enable,
                If(
                    total[-1],
                    status.eq(2 ** len(status) - 1),
                    self.saturated.eq(1),
                ).Else(status.eq(total)),
            ),
            If(erase, status.eq(0), self.saturated.eq(0)),
        ]


class EchoInstrument(LiteXModule):
    """Raises its line at chosen moments and measures when the handler answers.

    A latency is counted from the first cycle in which the line is high to the cycle in which the
    access that answers is on the CSR bus: a read of ``take``, which tests and lowers the line at
    once, or a write of ``line``, which lowers it after a read of ``line`` has tested it. The line
    is low from the next cycle on. A handler that answered in the cycle of the rise would have 0.

    Moments come once (``fire``) or one after the other (``start``), at distances of
    ``interval`` cycles plus the low ``spread_log2`` bits of a pseudo-random number; the first comes
    ``interval`` cycles after the cycle behind that of the command. One that comes while the line is
    still high, or in the cycle of its answer, is missed: it is counted and has no other effect.
    ``stop`` lowers the line too, so that no answer counts behind it.

    Each answer counts in a histogram and in sums for mean and standard deviation within four
    cycles. Counters that would wrap stay at their highest value, and ``saturated`` says which.

    Raises ``ValueError`` naming a parameter that is out of range:

    - ``bins``: of the histogram, a power of two from 2 to 4096;
    - ``counter_bits``: of each bin and counter, 4 to 32;
    - ``latency_bits``: of a latency, 8 to 24; a longer one counts as the longest;
    - ``sum_bits``: of the sums of latencies and of their squares, ``2 * latency_bits`` to 64.

    ``pads`` may have the pins of ``echo_layout``: the line, and a pulse in the cycle after an
    answer.
    """

    def __init__(
        self,
        pads: Record | None = None,
        *,
        bins: int = 1024,
        counter_bits: int = 32,
        latency_bits: int = 18,
        sum_bits: int = 64,
    ) -> None:
        _check("bins", bins, 2, MAX_BINS)
        if bins & (bins - 1):
            raise ValueError(f"bins must be a power of two, not {bins!r}")
        _check("counter_bits", counter_bits, 4, 32)
        _check("latency_bits", latency_bits, 8, 24)
        _check("sum_bits", sum_bits, 2 * latency_bits, 64)
        self._make_registers(bins, counter_bits, latency_bits, sum_bits)
        #: LiteX takes a block's line from here.
        self.ev = Record([("irq", 1)])
        self._line = Signal()
        self._erase = Signal()
        self._missed = Signal()
        self._add_moments()
        answered = self._add_answer(latency_bits)
        self._add_histogram(bins, counter_bits, answered)
        self._add_sums(answered)
        if pads is not None:
            self.comb += [pads.line.eq(self._line), pads.answer.eq(answered)]

    def constants(self) -> dict[str, int]:
        """Name and value of the constants for C: what the registers take and hold."""
        return {
            "ECHO_BINS": 2 ** len(self.bin_index.storage),
            "ECHO_LATENCY_BITS": len(self.latency.status),
            "ECHO_MIN_INTERVAL_CYCLES": MIN_INTERVAL_CYCLES,
            "ECHO_MAX_INTERVAL_CYCLES": 2**INTERVAL_BITS - 1,
            "ECHO_MAX_SPREAD_LOG2": MAX_SPREAD_LOG2,
            "ECHO_MAX_BIN_LOG2": MAX_BIN_LOG2,
        }

    def _make_registers(
        self, bins: int, counter_bits: int, latency_bits: int, sum_bits: int
    ) -> None:
        self.take = CSRStatus(description="Read: 1 if the line is high, and lowers it.")
        self.line = CSR(1, name="line")
        self.line.description = "Read: the line. Write 1: lowers it."
        self.control = CSRStorage(
            fields=[
                CSRField("start", 1, pulse=True, description="Load the seed; moments from now on."),
                CSRField("stop", 1, pulse=True, description="No further moment; lower the line."),
                CSRField("fire", 1, pulse=True, description="One moment, unless running."),
                CSRField(
                    "erase",
                    1,
                    pulse=True,
                    description="Stop, lower the line, and set all that is counted to 0.",
                ),
            ],
            description="Commands, without effect while status.erasing; write one at a time.",
        )
        self.status = CSRStatus(
            fields=[
                CSRField("running", 1, description="Moments come until told to stop."),
                CSRField("armed", 1, description="The moment of fire is still to come."),
                CSRField(
                    "erasing",
                    1,
                    reset=1,
                    description="The histogram is being erased, also after a reset.",
                ),
            ],
            description="What it is doing.",
        )
        self.seed = CSRStorage(
            32, reset=1, description="Start of the pseudo-random numbers; 0 counts as 1."
        )
        self.interval = CSRStorage(
            INTERVAL_BITS,
            reset=1000,
            description=f"Cycles between moments; less than {MIN_INTERVAL_CYCLES} counts as that.",
        )
        self.spread_log2 = CSRStorage(
            bits_of(MAX_SPREAD_LOG2),
            description=f"Random bits added to the interval, {MAX_SPREAD_LOG2} at the most.",
        )
        self.bin_log2 = CSRStorage(
            bits_of(MAX_BIN_LOG2), description="Cycles of latency in a bin of the histogram, log2."
        )
        self.latency = CSRStatus(latency_bits, description="Cycles that the last answer took.")
        self.elapsed = CSRStatus(
            latency_bits, description="Cycles since the line last rose, answered or not; saturates."
        )
        self.samples = CSRStatus(counter_bits, description="Answers.")
        self.missed = CSRStatus(
            counter_bits, description="Moments that came before the last one was answered."
        )
        self.overflow = CSRStatus(
            counter_bits, description="Answers whose latency was beyond the histogram."
        )
        self.minimum = CSRStatus(
            latency_bits,
            reset=2**latency_bits - 1,
            description="Least latency; the highest value before the first answer.",
        )
        self.maximum = CSRStatus(latency_bits, description="Most latency.")
        self.sum = CSRStatus(sum_bits, description="Sum of the latencies.")
        self.squares = CSRStatus(sum_bits, description="Sum of the squares of the latencies.")
        self.saturated = CSRStatus(
            fields=[
                CSRField("bins", 1, description="A bin of the histogram."),
                CSRField("samples", 1, description="samples."),
                CSRField("missed", 1, description="missed."),
                CSRField("overflow", 1, description="overflow."),
                CSRField("sum", 1, description="sum."),
                CSRField("squares", 1, description="squares."),
                CSRField("latency", 1, description="A latency was longer than can be counted."),
            ],
            description="What has stopped at its highest value since the last erase.",
        )
        self.bin_index = CSRStorage(
            bits_of(bins - 1), description="Chooses the bin that bin_count shows."
        )
        self.bin_count = CSRStatus(
            counter_bits,
            description="Answers in the bin, two cycles after its index was written.",
        )

    def _add_moments(self) -> None:
        """Commands, the pseudo-random register and the countdown to the next moment."""
        control = self.control.fields
        running, armed = Signal(), Signal()
        erasing = self.status.fields.erasing
        self.comb += [
            self.status.fields.running.eq(running),
            self.status.fields.armed.eq(armed),
            self._erase.eq(control.erase & ~erasing),
        ]

        lfsr = Signal(32, reset=1)
        steps = Signal(max=LFSR_STEPS + 1)
        spread = Signal(MAX_SPREAD_LOG2)
        interval = Signal(INTERVAL_BITS)
        longest = self.interval.storage
        self.comb += [
            spread.eq(
                lfsr & Cat(*[self.spread_log2.storage > bit for bit in range(MAX_SPREAD_LOG2)])
            ),
            interval.eq(Mux(longest < MIN_INTERVAL_CYCLES, MIN_INTERVAL_CYCLES, longest)),
        ]

        countdown = Signal(INTERVAL_BITS + 1)
        due = Signal()
        begin = Signal()
        self.comb += [
            due.eq((running | armed) & (countdown == 1)),
            begin.eq(~erasing & (control.start | (control.fire & ~running))),
            self._missed.eq(due & self._line),
        ]
        self.sync += [
            countdown.eq(countdown - 1),
            If(
                steps != 0,
                steps.eq(steps - 1),
                lfsr.eq((lfsr >> 1) ^ Mux(lfsr[0], LFSR_TAPS, 0)),
            ),
            If(due, armed.eq(0), steps.eq(LFSR_STEPS), countdown.eq(interval + spread)),
            If(begin, countdown.eq(interval)),
            If(control.fire & begin, armed.eq(1)),
            If(
                control.start & begin,
                running.eq(1),
                armed.eq(0),
                steps.eq(LFSR_STEPS),
                lfsr.eq(Mux(self.seed.storage == 0, 1, self.seed.storage)),
            ),
            If(control.stop | self._erase, running.eq(0), armed.eq(0)),
        ]
        self._due = due

    def _add_answer(self, latency_bits: int) -> Signal:
        """The line, and the latency of its answer; returns a pulse in the cycle after that."""
        longest = 2**latency_bits - 1
        age = self.elapsed.status
        answer = Signal()
        answered = Signal()
        self.comb += [
            self.ev.irq.eq(self._line),
            self.take.status.eq(self._line),
            self.line.w.eq(self._line),
            answer.eq(self._line & (self.take.we | (self.line.re & self.line.r))),
        ]
        self.sync += [
            answered.eq(answer),
            If(age != longest, age.eq(age + 1)),
            If(answer, self._line.eq(0), self.latency.status.eq(age)),
            If(answer & (age == longest), self.saturated.fields.latency.eq(1)),
            If(self._due & ~self._line, self._line.eq(1), age.eq(0)),
            If(self.control.fields.stop, self._line.eq(0)),
            If(self._erase, self._line.eq(0), answered.eq(0), self.saturated.fields.latency.eq(0)),
        ]
        return answered

    def _add_histogram(self, bins: int, counter_bits: int, answered: Signal) -> None:
        """A memory of counters: read in the cycle of ``answered``, written in the next."""
        memory = Memory(counter_bits, bins)
        update = memory.get_port(write_capable=True)
        show = memory.get_port()
        self.specials += memory, update, show

        number = Signal(len(self.latency.status))
        self.comb += [
            Case(
                self.bin_log2.storage,
                {
                    shift: number.eq(self.latency.status >> shift)
                    for shift in range(MAX_BIN_LOG2 + 1)
                },
            ),
            show.adr.eq(self.bin_index.storage),
            self.bin_count.status.eq(show.dat_r),
        ]

        erasing = self.status.fields.erasing
        sweep = Signal(max=bins)
        inside = Signal()
        add = Signal()
        address = Signal(max=bins)
        self.comb += [
            inside.eq(number[len(sweep) :] == 0),
            update.adr.eq(Mux(erasing, sweep, Mux(add, address, number))),
            update.we.eq(erasing | add),
            update.dat_w.eq(Mux(erasing, 0, update.dat_r + 1)),
        ]
        full = update.dat_r == 2**counter_bits - 1
        self.sync += [
            add.eq(answered & inside),
            address.eq(number),
            If(
                add & full,
                self.saturated.fields.bins.eq(1),
            ),
            If(erasing, sweep.eq(sweep + 1), If(sweep == bins - 1, erasing.eq(0))),
            If(
                self._erase,
                erasing.eq(1),
                sweep.eq(0),
                add.eq(0),
                self.saturated.fields.bins.eq(0),
            ),
        ]
        self.comb += If(add & full, update.we.eq(0))
        self._count("overflow", self.overflow.status, 1, answered & ~inside)

    def _add_sums(self, answered: Signal) -> None:
        """Counters, extremes and sums; the multiplication has a cycle of its own."""
        latency = self.latency.status
        square = Signal(2 * len(latency))
        squared = Signal()
        self.sync += [
            squared.eq(answered & ~self._erase),
            square.eq(latency * latency),
            If(
                answered,
                If(latency < self.minimum.status, self.minimum.status.eq(latency)),
                If(latency > self.maximum.status, self.maximum.status.eq(latency)),
            ),
            If(
                self._erase,
                self.minimum.status.eq(self.minimum.status.reset),
                self.maximum.status.eq(0),
            ),
        ]
        self._count("samples", self.samples.status, 1, answered)
        self._count("missed", self.missed.status, 1, self._missed)
        self._count("sum", self.sum.status, latency, answered)
        self._count("squares", self.squares.status, square, squared)

    def _count(self, name: str, status: Signal, add: Signal | int, enable: Signal) -> None:
        counter = _Saturating(status, add, enable, self._erase)
        self.add_module(f"{name}_counter", counter)
        self.comb += getattr(self.saturated.fields, name).eq(counter.saturated)


def bits_of(highest: int) -> int:
    """Bits of a number up to ``highest``."""
    return highest.bit_length()
