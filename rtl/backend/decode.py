"""Decode an instruction (combinational, stage D)."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..isa import Cause, Funct12, Opcode
from ..layouts import CONTROL, PC_BITS, Operation
from ..params import CoreParams
from . import bitmanip


class Decoder(wiring.Component):
    """RV32IM_Zicsr_Zifencei, machine mode (volume I, chapter 35; volume II, chapter 3), and the
    extensions for bit manipulation that the parameters name.

    Anything else raises an illegal-instruction exception; whether a CSR exists is found in X.
    """

    instruction: In(32)
    #: The fetch of the instruction ended in a bus error.
    fetch_fault: In(1)
    #: The branch is predicted taken.
    predicted: In(1)
    control: Out(CONTROL)
    #: The ALU takes `immediate` for its second operand; it is 0 otherwise.
    has_immediate: Out(1)
    immediate: Out(32)
    #: Another constant takes the place of rs1: 4 or 0.
    has_constant: Out(1)
    is_four: Out(1)
    #: The alternative address is also the result.
    gives: Out(1)
    offset: Out(12)
    #: Words from the PC to the alternative address.
    distance: Out(PC_BITS)
    #: A jump or branch goes to an odd half-word.
    misaligned_target: Out(1)

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__()

    def elaborate(self, platform) -> Module:
        m = Module()
        word = self.instruction
        control = self.control
        opcode = word[2:7]
        funct3 = word[12:15]
        funct7 = word[25:32]
        rd = word[7:12]
        legal = Signal()
        writes = Signal()

        immediate_i = word[20:32].as_signed()
        immediate_u = Cat(C(0, 12), word[12:32])
        distance_b = Cat(word[9:12], word[25:31], word[7], word[31]).as_signed()
        distance_j = Cat(word[22:31], word[20], word[12:20], word[31]).as_signed()
        m.d.comb += [
            control.funct3.eq(funct3),
            control.rd.eq(rd),
            control.writes.eq(writes & (rd != 0)),
            self.immediate.eq(immediate_i),
            self.has_immediate.eq(1),
            self.offset.eq(word[20:32]),
            self.distance.eq(1),
        ]
        with m.Switch(opcode):
            with m.Case(Opcode.LUI):
                m.d.comb += [
                    legal.eq(1),
                    writes.eq(1),
                    control.add.eq(1),
                    self.has_constant.eq(1),
                    self.immediate.eq(immediate_u),
                ]
            with m.Case(Opcode.AUIPC):
                m.d.comb += [
                    legal.eq(1),
                    writes.eq(1),
                    self.gives.eq(1),
                    self.distance.eq(immediate_u[2:]),
                ]
            with m.Case(Opcode.JAL):
                m.d.comb += [
                    legal.eq(1),
                    writes.eq(1),
                    control.add.eq(1),
                    control.jump.eq(1),
                    self.has_constant.eq(1),
                    self.is_four.eq(1),
                    self.distance.eq(distance_j),
                    self.misaligned_target.eq(word[21]),
                ]
            with m.Case(Opcode.JALR):
                m.d.comb += [
                    legal.eq(funct3 == 0),
                    writes.eq(1),
                    self.gives.eq(1),
                    control.jump_register.eq(1),
                ]
            with m.Case(Opcode.BRANCH):
                m.d.comb += [
                    legal.eq(funct3[1:] != 0b01),
                    control.branch.eq(1),
                    control.subtract.eq(1),
                    self.has_immediate.eq(0),
                    self.immediate.eq(0),
                    self.misaligned_target.eq(word[8]),
                ]
                with m.If(~self.predicted):
                    m.d.comb += self.distance.eq(distance_b)
            with m.Case(Opcode.LOAD):
                m.d.comb += [
                    legal.eq((funct3 != 3) & (funct3[1:] != 0b11)),
                    writes.eq(1),
                    control.load.eq(1),
                    self.gives.eq(1),
                ]
            with m.Case(Opcode.STORE):
                m.d.comb += [
                    legal.eq((funct3 != 3) & ~funct3[2]),
                    control.store.eq(1),
                    self.distance.eq(0),
                    self.has_immediate.eq(0),
                    self.immediate.eq(0),
                    self.offset.eq(Cat(word[7:12], word[25:32])),
                ]
            with m.Case(Opcode.OP_IMM):
                is_shift = funct3[:2] == 0b01
                m.d.comb += [
                    legal.eq(~is_shift | (funct7 == 0) | ((funct7 == 0b0100000) & funct3[2])),
                    writes.eq(1),
                    control.shift.eq(is_shift),
                    control.fill.eq(word[30] & (funct3 == 0b101)),
                ]
                self._alu(m, funct3, 0)
            with m.Case(Opcode.OP):
                m.d.comb += [writes.eq(1), self.has_immediate.eq(0), self.immediate.eq(0)]
                with m.If(funct7 == 0b0000001):
                    m.d.comb += [
                        legal.eq(1),
                        control.multiply.eq(~funct3[2]),
                        control.divide.eq(funct3[2]),
                    ]
                with m.Else():
                    m.d.comb += [
                        legal.eq(
                            (funct7 == 0)
                            | ((funct7 == 0b0100000) & ((funct3 == 0) | (funct3 == 0b101)))
                        ),
                        control.shift.eq(funct3[:2] == 0b01),
                        control.fill.eq(word[30] & (funct3 == 0b101)),
                    ]
                    self._alu(m, funct3, word[30])
            with m.Case(Opcode.MISC_MEM):
                m.d.comb += [
                    legal.eq(funct3[1:] == 0),
                    control.fence.eq(1),
                    control.fence_i.eq(funct3[0]),
                ]
            with m.Case(Opcode.SYSTEM):
                self._system(m, legal, writes)
        bitmanip.decode(m, self._params, word, control, legal)
        with m.If(self.fetch_fault):
            m.d.comb += [control.exception.eq(1), control.cause.eq(Cause.INSTRUCTION_ACCESS)]
        with m.Elif(~legal | (word[:2] != 0b11)):
            m.d.comb += [control.exception.eq(1), control.cause.eq(Cause.ILLEGAL)]
        return m

    def _alu(self, m: Module, funct3, subtracts) -> None:
        control = self.control
        compares = funct3[1:] == 0b01
        m.d.comb += [
            control.add.eq(funct3 == 0),
            control.compare.eq(compares),
            control.subtract.eq(compares | subtracts),
        ]
        with m.Switch(funct3):
            with m.Case(0b100):
                m.d.comb += control.operation.eq(Operation.XOR)
            with m.Case(0b110):
                m.d.comb += control.operation.eq(Operation.OR)
            with m.Case(0b111):
                m.d.comb += control.operation.eq(Operation.AND)

    def _system(self, m: Module, legal, writes) -> None:
        word = self.instruction
        control = self.control
        funct3 = word[12:15]
        with m.If(funct3 == 0):
            no_registers = (word[7:12] == 0) & (word[15:20] == 0)
            with m.Switch(word[20:32]):
                with m.Case(Funct12.ECALL):
                    m.d.comb += [
                        legal.eq(no_registers),
                        control.exception.eq(1),
                        control.cause.eq(Cause.ECALL_M),
                    ]
                with m.Case(Funct12.EBREAK):
                    m.d.comb += [
                        legal.eq(no_registers),
                        control.exception.eq(1),
                        control.cause.eq(Cause.BREAKPOINT),
                        self.distance.eq(0),
                    ]
                with m.Case(Funct12.WFI):
                    m.d.comb += [legal.eq(no_registers), control.wfi.eq(1)]
                with m.Case(Funct12.MRET):
                    m.d.comb += [legal.eq(no_registers), control.mret.eq(1)]
        with m.Else():
            # The source operand passes through the adder.
            m.d.comb += [
                legal.eq(funct3 != 0b100),
                writes.eq(1),
                control.csr.eq(1),
                control.add.eq(1),
                control.csr_writes.eq(~funct3[1] | (word[15:20] != 0)),
                self.immediate.eq(Mux(funct3[2], word[15:20], 0)),
                self.has_constant.eq(funct3[2]),
            ]
