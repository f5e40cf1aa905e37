// Start, end and checks of a test program, in the conventions of riscv-tests' `p` environment: code
// and data in one memory, CSRs that may not exist probed with mtvec behind the probe, `gp` the
// number of the test, an ecall to end, `tohost` written by the trap handler.
#pragma once

// Runs the instructions; if one traps, goes on behind them.
#define PROBE(...)        \
    la      t0, 1f;       \
    csrw    mtvec, t0;    \
    __VA_ARGS__;          \
    .balign 4;            \
1:

#define CODE_BEGIN                                          \
    .section .text.init, "ax";                              \
    .balign 64;                                             \
    .globl  _start;                                         \
    .weak   mtvec_handler;                                  \
_start:                                                     \
    j       reset_vector;                                   \
    .balign 4;                                              \
trap_vector:                                                \
    csrr    t5, mcause;                                     \
    li      t6, 11;                                         \
    beq     t5, t6, write_tohost;                           \
    la      t5, mtvec_handler;                              \
    beqz    t5, 1f;                                         \
    jr      t5;                                             \
1:  ori     gp, gp, 1337;                                   \
write_tohost:                                               \
    la      t5, tohost;                                     \
    sw      gp, 0(t5);                                      \
    sw      zero, 4(t5);                                    \
    j       write_tohost;                                   \
reset_vector:                                               \
    li      gp, 0;                                          \
    csrr    a0, mhartid;                                    \
1:  bnez    a0, 1b;                                         \
    PROBE(csrwi 0x744, 8)                                   \
    PROBE(csrwi satp, 0)                                    \
    PROBE(li t0, -1; csrw pmpaddr0, t0;                     \
          li t0, 31; csrw pmpcfg0, t0)                      \
    csrwi   mie, 0;                                         \
    PROBE(csrwi medeleg, 0; csrwi mideleg, 0)               \
    la      t0, trap_vector;                                \
    csrw    mtvec, t0;                                      \
    csrwi   mstatus, 0;                                     \
    la      t0, 1f;                                         \
    csrw    mepc, t0;                                       \
    csrr    a0, mhartid;                                    \
    mret;                                                   \
1:

#define PASS        \
    fence;          \
    li      gp, 1;  \
    li      a7, 93; \
    li      a0, 0;  \
    ecall

#define FAIL            \
    fence;              \
1:  beqz    gp, 1b;     \
    slli    gp, gp, 1;  \
    ori     gp, gp, 1;  \
    li      a7, 93;     \
    mv      a0, gp;     \
    ecall

// Runs the instructions as test `number`; fails unless the register then has the value.
#define TEST(number, register, value, ...) \
    li      gp, number;                    \
    __VA_ARGS__;                           \
    li      t2, value;                     \
    bne     register, t2, fail

#define CODE_END      \
    j       pass;     \
fail:                 \
    FAIL;             \
pass:                 \
    PASS;             \
    unimp

#define HOST_DATA                          \
    .pushsection .tohost, "aw", @progbits; \
    .balign 64;                            \
    .globl  tohost;                        \
tohost:                                    \
    .dword  0;                             \
    .balign 64;                            \
    .globl  fromhost;                      \
fromhost:                                  \
    .dword  0;                             \
    .popsection

// What a test leaves for comparison lies between these.
#define SIGNATURE_BEGIN                    \
    .balign 16;                            \
    .globl  begin_signature;               \
begin_signature:

#define SIGNATURE_END                      \
    .balign 16;                            \
    .globl  end_signature;                 \
end_signature:
