"""Debug mode of each tier: how it gets there, what it does there, how it leaves."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..isa import DebugCause, debug_csr_addresses
from ..layouts import PC_BITS, csr_access_layout, redirect_layout, tier_event_layout
from ..params import CoreParams
from ..util import applied, bit, highest, one_hot, pick

CSR = debug_csr_addresses()
#: Cycles for which more urgent tiers may keep one from what the debugger asks of it.
PATIENCE_LOG2 = 12
#: Fields of dcsr (Debug Support 0.13.2, section 4.8.1).
DCSR_EBREAKM = 15
DCSR_CAUSE = 6
DCSR_STEP = 2
#: xdebugver: as this specification describes it; prv: machine mode.
DCSR_FIXED = 4 << 28 | 3


class DebugMode(wiring.Component):
    """Halt, resume and single-step tiers, and have a halted one run the debug module's program.

    A tier halts as it stops: its next instruction, when it comes to stage X, does not execute, and
    its PC is kept. One that waits in wfi, is stopped or held back is let into the pipeline for
    this one instruction. A tier that never began halts at once. What a tier waits for it goes on
    to wait for when it is resumed, unless it has been stepped or got another dpc.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        p = params
        event = tier_event_layout(p)
        super().__init__(
            {
                # The debug module.
                "halt": In(p.tiers),
                "reset_halt": In(p.tiers),
                "resume": In(p.tiers),
                "run": In(p.tiers),
                "data_read": In(32),
                "data_write": Out(1),
                "data": Out(32),
                "resumed": Out(p.tiers),
                "done": Out(1),
                "failed": Out(1),
                "came_from_reset": Out(1),
                # Stage X: the tier, and why its instruction does not execute.
                "x_tier": In(p.tier_bits),
                "x_trigger": In(1),
                "x_break": In(1),
                # Stage M.
                "stopped": In(event),
                "retired": In(event),
                #: Of a tier that is not in debug mode; of one that is.
                "trapped": In(event),
                "program_trapped": In(event),
                #: An instruction that may still execute, and its PC.
                "m": In(event),
                "m_pc": In(PC_BITS),
                "csr": In(csr_access_layout(p)),
                "csr_reads": In(1),
                #: Stage A: what was read; 0 if it was no CSR of debug mode.
                "read_data": Out(32),
                #: mtierpc of a tier that is not started has been written with the source of `csr`.
                "moved": In(event),
                # Where a tier goes when nothing else is redirected.
                "begin": Out(event),
                "begin_pc": Out(PC_BITS),
                "begin_taken": In(1),
                "redirect": In(redirect_layout(p)),
                # The tiers.
                "started": In(p.tiers),
                "debug": Out(p.tiers),
                #: On its way into debug mode.
                "halting": Out(p.tiers),
                #: The instruction in X is the one behind that of a single step.
                "behind_step": Out(p.tiers),
                #: Tiers that issue, whether they are started, wait or are held back.
                "forced": Out(p.tiers),
                #: Of these, the ones that wait for no access and no division.
                "forced_ready": In(p.tiers),
                #: No others may issue: more urgent ones have kept these waiting for too long.
                "alone": Out(1),
                "stepping": Out(p.tiers),
                #: It does not go on to wait when it is resumed.
                "forget_wait": Out(p.tiers),
                #: An ebreak does not trap, but halts the tier or ends its program.
                "break_halts": Out(p.tiers),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        tiers = p.tiers

        def of(event) -> Value:
            return Mux(event.valid, one_hot(event.tier, tiers), 0)

        fresh = Signal(init=1)
        reset_halting = Signal(tiers)
        begun = Signal(tiers)
        running = Signal(tiers)
        passed = Signal(tiers)
        ebreakm = Signal(tiers)
        step = Signal(tiers)
        causes = Signal(data.ArrayLayout(3, tiers))
        m.d.sync += [fresh.eq(0), begun.eq(begun | of(self.redirect.begins))]
        m.d.comb += [
            self.came_from_reset.eq(fresh),
            self.break_halts.eq(ebreakm | self.debug),
        ]

        # Into debug mode. A stepping tier stops behind its one instruction, and at once if it is
        # not started.
        stepped = Signal(tiers)
        # A request that is withdrawn may have let a tier that does not run into the pipeline.
        asked = Signal(tiers)
        kept_asked = Signal(tiers)
        m.d.comb += [
            asked.eq(~self.debug & (self.halt | kept_asked)),
            stepped.eq(passed | (self.stepping & ~self.started)),
            self.halting.eq(asked | (~self.debug & (reset_halting | stepped))),
            self.behind_step.eq(self.stepping & of(self.m)),
            self.forced.eq((self.halting & begun) | running),
        ]
        cause = Signal(DebugCause)
        m_cause = Signal(DebugCause)
        x_reset = bit(reset_halting, self.x_tier)
        stepping = bit(self.stepping, self.x_tier)
        with m.If(self.x_trigger):
            m.d.comb += cause.eq(DebugCause.TRIGGER)
        with m.Elif(self.x_break):
            m.d.comb += cause.eq(DebugCause.EBREAK)
        with m.Elif(x_reset):
            m.d.comb += cause.eq(DebugCause.RESET_HALT)
        with m.Elif(bit(asked, self.x_tier)):
            m.d.comb += cause.eq(DebugCause.HALT)
        with m.Elif(stepping):
            m.d.comb += cause.eq(DebugCause.STEP)
        m.d.sync += m_cause.eq(cause)

        entering = Signal(tiers)
        at_once = Signal(tiers)
        m.d.comb += [
            entering.eq(Mux(m_cause != DebugCause.NONE, of(self.stopped) & ~self.debug, 0)),
            # Not in the cycle in which it begins, as tier 0 does after a reset.
            at_once.eq(self.halting & ~begun & ~of(self.redirect.begins)),
        ]
        m.d.sync += kept_asked.eq(asked & ~entering & ~at_once)
        for tier in range(tiers):
            with m.If(entering[tier] | at_once[tier]):
                m.d.sync += [
                    self.debug[tier].eq(1),
                    reset_halting[tier].eq(0),
                    passed[tier].eq(0),
                    self.stepping[tier].eq(0),
                ]
            with m.If(entering[tier]):
                m.d.sync += causes[tier].eq(m_cause)
            with m.Elif(at_once[tier]):
                m.d.sync += causes[tier].eq(
                    Mux(
                        reset_halting[tier],
                        DebugCause.RESET_HALT,
                        Mux(asked[tier], DebugCause.HALT, DebugCause.STEP),
                    )
                )
            completes = (of(self.retired) | of(self.trapped))[tier]
            with m.If(self.stepping[tier] & completes):
                m.d.sync += passed[tier].eq(1)
        with m.If(fresh):
            m.d.sync += reset_halting.eq(self.reset_halt)

        self._programs(m, running, step, of)
        self._registers(m, ebreakm, step, causes, entering)

        waited = Signal(PATIENCE_LOG2 + 1)
        m.d.comb += self.alone.eq(waited[-1])
        with m.If(~self.forced_ready.any()):
            m.d.sync += waited.eq(0)
        with m.Elif(~self.alone):
            m.d.sync += waited.eq(waited + 1)
        return m

    def _programs(self, m: Module, running: Signal, step: Signal, of) -> None:
        """What happens in debug mode: programs run and end, tiers leave."""
        tiers = self._params.tiers
        to_run = Signal(tiers)
        to_resume = Signal(tiers)
        begins = Signal(tiers)
        wants = to_run | to_resume
        m.d.comb += [
            self.begin.valid.eq(wants.any()),
            self.begin.tier.eq(highest(wants)),
            begins.eq(Mux(self.begin_taken, of(self.begin), 0)),
            self.resumed.eq(begins & ~to_run),
        ]
        m.d.sync += [
            to_run.eq((to_run & ~begins) | self.run),
            to_resume.eq((to_resume & ~self.resumed) | self.resume),
        ]
        for tier in range(tiers):
            with m.If(self.resumed[tier]):
                m.d.sync += [self.debug[tier].eq(0), self.stepping[tier].eq(step[tier])]
        m.d.comb += [
            self.failed.eq((of(self.program_trapped) & running).any()),
            self.done.eq((of(self.stopped) & running).any() | self.failed),
        ]
        ended = of(self.program_trapped) | of(self.stopped)
        m.d.sync += running.eq((running & ~ended) | (begins & to_run))
        m.d.comb += self.forget_wait.eq(
            (self.resumed & step)
            | of(self.moved)
            | Mux(self._writes(m, "dpc"), one_hot(self.csr.tier, tiers), 0)
        )

        # dpc: where each tier goes on. What stops when the tier has been sent elsewhere meanwhile
        # is of its old path.
        sent = Signal(tiers)
        m.d.sync += sent.eq((sent | of(self.moved)) & self.halting)
        pcs = Memory(
            shape=PC_BITS,
            depth=self._params.contexts,
            init=[self._params.imem.base >> 2] * self._params.contexts,
        )
        m.submodules.pcs = pcs
        pc_write = pcs.write_port()
        begin_read = pcs.read_port(domain="comb")
        self._dpc = csr_read = pcs.read_port(domain="comb")
        m.d.comb += [
            begin_read.addr.eq(self.begin.tier),
            self.begin_pc.eq(
                Mux(
                    bit(to_run, self.begin.tier),
                    C(self._params.debug_program_address >> 2, PC_BITS),
                    begin_read.data,
                )
            ),
            csr_read.addr.eq(self.csr.tier),
        ]
        with m.If(self.stopped.valid):
            m.d.comb += [
                pc_write.en.eq(~bit(self.debug | sent, self.stopped.tier)),
                pc_write.addr.eq(self.stopped.tier),
                pc_write.data.eq(self.m_pc),
            ]
        with m.Elif(self.moved.valid):
            m.d.comb += [
                pc_write.en.eq(1),
                pc_write.addr.eq(self.moved.tier),
                pc_write.data.eq(Mux(self.csr.operation == 3, 0, self.csr.source[2:])),
            ]
        with m.Else():
            m.d.comb += [
                pc_write.en.eq(self._writes(m, "dpc")),
                pc_write.addr.eq(self.csr.tier),
                pc_write.data.eq(applied(self.csr, csr_read.data, 2)),
            ]

    def _writes(self, m: Module, name: str) -> Value:
        return self.csr.write & (self.csr.address == CSR[name])

    def _registers(self, m: Module, ebreakm, step, causes, entering) -> None:
        """dcsr, dpc, mdebugdata; they exist in debug mode only."""
        tier = self.csr.tier
        for own in range(self._params.tiers):
            with m.If(self._writes(m, "dcsr") & (tier == own)):
                m.d.sync += [
                    ebreakm[own].eq(applied(self.csr, ebreakm[own], DCSR_EBREAKM)),
                    step[own].eq(applied(self.csr, step[own], DCSR_STEP)),
                ]
        dcsr = (
            (bit(ebreakm, tier) << DCSR_EBREAKM)
            | (pick(list(causes), tier) << DCSR_CAUSE)
            | (bit(step, tier) << DCSR_STEP)
            | DCSR_FIXED
        )
        m.d.comb += [
            self.data_write.eq(self._writes(m, "mdebugdata")),
            self.data.eq(applied(self.csr, self.data_read)),
        ]
        value = Signal(32)
        with m.Switch(self.csr.address):
            with m.Case(CSR["dcsr"]):
                m.d.comb += value.eq(dcsr)
            with m.Case(CSR["dpc"]):
                m.d.comb += value.eq(Cat(C(0, 2), self._dpc.data))
            with m.Case(CSR["mdebugdata"]):
                m.d.comb += value.eq(self.data_read)
        m.d.sync += self.read_data.eq(Mux(self.csr_reads, value, 0))
