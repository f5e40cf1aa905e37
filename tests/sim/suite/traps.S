// Exceptions of machine mode: cause, mepc and mtval, and CSRs that must be there.
#include "env.h"

#define TRAPS(number, cause, ...) \
    li      s1, -1;               \
    TEST(number, s1, cause, __VA_ARGS__)

    CODE_BEGIN
    la      s0, data
    TEST(2, a0, 1, csrr a0, misa; srli a0, a0, 30)
    TRAPS(3, 2, .word 0)
    TRAPS(4, 2, csrw mhartid, a0)
    TRAPS(5, 2, csrr a0, 0x5c0)
    TRAPS(6, 3, ebreak)
    TRAPS(7, 4, lw a0, 1(s0))
    TEST(8, s2, 1, sub s2, s2, s0)
    TRAPS(9, 6, sh a0, 3(s0))
    TEST(10, s2, 3, sub s2, s2, s0)
    TRAPS(11, 0, la t0, 2f + 2; jr t0; 2: nop)
    TRAPS(12, 5, li a0, 0x70000000; lw a0, 0(a0))
    TRAPS(13, 7, li a0, 0x70000000; sw a0, 0(a0))
    TEST(14, a0, 0x5a5, li a1, 0x5a5; csrw mscratch, a1; csrr a0, mscratch)
    TEST(15, a0, 0x1800, csrr a0, mstatus; li a1, 0x1800; and a0, a0, a1)
    TEST(16, a0, 1, csrr a1, minstret; csrr a2, minstret; sub a0, a2, a1)
    CODE_END

    // Notes cause and mtval, and returns behind the instruction.
    .balign 4
    .globl  mtvec_handler
mtvec_handler:
    csrr    s1, mcause
    csrr    s2, mtval
    csrr    t5, mepc
    addi    t5, t5, 4
    csrw    mepc, t5
    mret
    HOST_DATA

    .data
    .balign 8
data:
    .dword  0
