"""RISC-V Formal Interface: what every instruction did, in program order of its tier.

Two channels, as riscv-formal concatenates them: the pipeline, and buffered loads, whose result
comes after younger instructions have retired. ``rvfi_ctx`` is the tier; ``order`` counts over all
tiers. Memory addresses are aligned to words (RISCV_FORMAL_ALIGNED_MEM).
"""

from __future__ import annotations

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .backend.bus import BusUnit
from .backend.commit import Commit
from .backend.execute import Execute
from .backend.operands import Operands
from .backend.writeback import WriteBack
from .isa import Opcode
from .layouts import executed_layout, tier_event_layout, trap_layout
from .params import CoreParams
from .system.tiers import TierState
from .util import pick

CHANNELS = 2


def packet_layout(params: CoreParams) -> data.StructLayout:
    """One channel; fields as in the RVFI document."""
    return data.StructLayout(
        {
            "valid": 1,
            "order": 64,
            "insn": 32,
            "trap": 1,
            "halt": 1,
            "intr": 1,
            # Of the trap whose handler begins here, as in mcause: the interrupt bit above the
            # code. 0 after a wake from wfi.
            "cause": 6,
            "mode": 2,
            "ixl": 2,
            "rs1_addr": 5,
            "rs2_addr": 5,
            "rs1_rdata": 32,
            "rs2_rdata": 32,
            "rd_addr": 5,
            "rd_wdata": 32,
            "pc_rdata": 32,
            "pc_wdata": 32,
            "mem_addr": 32,
            "mem_rmask": 4,
            "mem_wmask": 4,
            "mem_rdata": 32,
            "mem_wdata": 32,
            "ctx": params.tier_bits,
        }
    )


def port_members(params: CoreParams) -> dict[str, wiring.Member]:
    """Ports ``rvfi_valid`` to ``rvfi_ctx``, the channels side by side."""
    return {f"rvfi_{name}": Out(field.width * CHANNELS) for name, field in packet_layout(params)}


class RvfiMonitor(wiring.Component):
    """Follow the pipeline and report in the cycle after stage M."""

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        p = params
        super().__init__(
            {
                # Stage D, a cycle before X.
                "d_instruction": In(32),
                "d_first": In(32),
                "d_second": In(32),
                # Stage M.
                "m": In(executed_layout(p)),
                "retired": In(tier_event_layout(p)),
                "postponed": In(1),
                "trap": In(trap_layout(p)),
                "local_word": In(32),
                "bus_word": In(32),
                #: A tier leaves wfi.
                "waking": In(p.tiers),
                "late": In(tier_event_layout(p)),
                # Stage A.
                "result": In(32),
                "packets": Out(data.ArrayLayout(packet_layout(p), CHANNELS)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        i = self.m
        layout = packet_layout(p)

        x_instruction = Signal(32)
        instruction = Signal(32)
        firsts = [Signal(32, name=f"first_{stage}") for stage in "xm"]
        seconds = [Signal(32, name=f"second_{stage}") for stage in "xm"]
        m.d.sync += [
            x_instruction.eq(self.d_instruction),
            instruction.eq(x_instruction),
            Cat(firsts).eq(Cat(self.d_first, firsts[0])),
            Cat(seconds).eq(Cat(self.d_second, seconds[0])),
        ]

        order = Signal(64)
        first_of_handler = Signal(p.tiers)
        causes = Signal(data.ArrayLayout(6, p.tiers))
        reports = Signal()
        excepts = Signal()
        m.d.comb += [
            excepts.eq(self.trap.valid & ~self.trap.interrupt),
            reports.eq(self.retired.valid | excepts),
        ]
        with m.If(reports):
            m.d.sync += order.eq(order + 1)
        for tier in range(p.tiers):
            here = i.tier == tier
            with m.If((self.trap.valid & here) | self.waking[tier]):
                m.d.sync += [
                    first_of_handler[tier].eq(1),
                    causes[tier].eq(
                        Mux(
                            self.trap.valid & here,
                            Cat(self.trap.cause, self.trap.interrupt),
                            0,
                        )
                    ),
                ]
            with m.Elif(self.retired.valid & here):
                m.d.sync += first_of_handler[tier].eq(0)

        packet = Signal(layout)
        reads, writes = _register_use(instruction)
        is_memory = (i.control.load | i.control.store) & ~excepts
        loaded = i.control.load & ~excepts
        stored = i.control.store & ~excepts
        m.d.comb += [
            packet.valid.eq(reports & ~(self.retired.valid & self.postponed & i.control.load)),
            packet.order.eq(order),
            packet.insn.eq(instruction),
            packet.trap.eq(excepts),
            packet.intr.eq(pick(list(first_of_handler), i.tier)),
            packet.cause.eq(pick([causes[tier] for tier in range(p.tiers)], i.tier)),
            packet.mode.eq(3),
            packet.ixl.eq(1),
            packet.rs1_addr.eq(Mux(reads[0], instruction[15:20], 0)),
            packet.rs2_addr.eq(Mux(reads[1], instruction[20:25], 0)),
            packet.rs1_rdata.eq(Mux(packet.rs1_addr != 0, firsts[1], 0)),
            packet.rs2_rdata.eq(Mux(packet.rs2_addr != 0, seconds[1], 0)),
            packet.rd_addr.eq(Mux(writes & ~excepts, instruction[7:12], 0)),
            packet.pc_rdata.eq(Cat(C(0, 2), i.pc)),
            packet.pc_wdata.eq(self._next_pc(instruction, excepts)),
            packet.mem_addr.eq(Mux(is_memory, i.address & ~3, 0)),
            packet.mem_rmask.eq(Mux(loaded, i.store_mask, 0)),
            packet.mem_wmask.eq(Mux(stored, i.store_mask, 0)),
            packet.mem_rdata.eq(Mux(i.remote, self.bus_word, self.local_word)),
            packet.mem_wdata.eq(i.store_data),
            packet.ctx.eq(i.tier),
        ]
        # The result is known a cycle later.
        direct = Signal(layout)
        shown = Signal(layout)
        m.d.sync += direct.eq(packet)
        m.d.comb += [
            shown.eq(direct),
            shown.rd_wdata.eq(Mux(direct.rd_addr != 0, self.result, 0)),
            self.packets[0].eq(shown),
        ]

        # Buffered loads: kept until their result comes.
        kept = Signal(data.ArrayLayout(layout, p.tiers))
        for tier in range(p.tiers):
            with m.If(self.retired.valid & self.postponed & (i.tier == tier)):
                m.d.sync += kept[tier].eq(packet)
        late = Signal(layout)
        late_shown = Signal(layout)
        m.d.sync += [
            late.eq(pick([kept[tier] for tier in range(p.tiers)], self.late.tier)),
            late.valid.eq(self.late.valid),
            late.mem_rdata.eq(self.bus_word),
        ]
        m.d.comb += [
            late_shown.eq(late),
            late_shown.rd_wdata.eq(Mux(late.rd_addr != 0, self.result, 0)),
            self.packets[1].eq(late_shown),
        ]
        return m

    def outputs(self) -> dict[str, Value]:
        """What the core's ports of RVFI show, by name."""
        return {
            f"rvfi_{name}": Cat(getattr(packet, name) for packet in self.packets)
            for name, _ in packet_layout(self._params)
        }

    def _next_pc(self, instruction: Value, excepts: Value) -> Value:
        i = self.m
        control = i.control
        branch = Cat(C(0, 1), instruction[8:12], instruction[25:31], instruction[7])
        jump = Cat(C(0, 1), instruction[21:31], instruction[20], instruction[12:20])
        offset = Mux(
            control.jump,
            Cat(jump, instruction[31]).as_signed(),
            Mux(control.branch & i.taken, Cat(branch, instruction[31]).as_signed(), 4),
        )
        pc = Cat(C(0, 2), i.pc)
        return Mux(
            excepts | control.mret,
            Cat(C(0, 2), i.vector),
            Mux(control.jump_register, i.address & ~1, pc + offset),
        )


def join_monitor(
    m: Module,
    monitor: RvfiMonitor,
    d,
    local_word: Value,
    operands: Operands,
    execute: Execute,
    commit: Commit,
    bus: BusUnit,
    tiers: TierState,
    write_back: WriteBack,
) -> None:
    """Let the monitor see the pipeline from stage D (``layouts.issued_layout``) on."""
    m.d.comb += [
        monitor.d_instruction.eq(d.instruction),
        monitor.d_first.eq(operands.first),
        monitor.d_second.eq(operands.second),
        monitor.m.eq(execute.m),
        monitor.retired.eq(commit.retired),
        monitor.postponed.eq(commit.postponed),
        monitor.trap.eq(commit.trap),
        monitor.local_word.eq(local_word),
        monitor.bus_word.eq(bus.read_data),
        monitor.waking.eq(tiers.waking),
        monitor.late.valid.eq(commit.late_taken),
        monitor.late.tier.eq(bus.late.tier),
        monitor.result.eq(write_back.result),
    ]


def _register_use(instruction: Value):
    """Which of rs1 and rs2 are read, and whether rd is written."""
    opcode = instruction[2:7]
    funct3 = instruction[12:15]
    csr = (opcode == Opcode.SYSTEM) & (funct3 != 0)

    def is_one_of(*codes: Opcode) -> Value:
        return Cat(opcode == code for code in codes).any()

    register_register = is_one_of(Opcode.OP, Opcode.BRANCH, Opcode.STORE)
    first = register_register | is_one_of(Opcode.OP_IMM, Opcode.LOAD, Opcode.JALR)
    writes = is_one_of(
        Opcode.OP, Opcode.OP_IMM, Opcode.LOAD, Opcode.JALR, Opcode.JAL, Opcode.LUI, Opcode.AUIPC
    )
    return (first | (csr & ~funct3[2]), register_register), writes | csr
