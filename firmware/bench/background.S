# What runs while interrupts come: rounds of eight passes of arithmetic, loads, stores and a
# multiplication, with two divisions.
#
# BACKGROUND_BUS     also loads and stores on the bus
# BACKGROUND_MISSES  also loads from more data, and has more code, than the caches of a peer hold

#include <bench_device.h>

# Where the bus is used. Without it there is a store to local memory or an addition.
#if defined(BACKGROUND_BUS)
#define BUS_STORE(value) sw value, DEVICE_OUTPUT(s2)
#define BUS_LOAD(result) lw result, 0(s3)
#elif defined(BACKGROUND_MISSES)
#define BUS_STORE(value) sw value, 24(s0)
#define BUS_LOAD(result) WALK result
#else
#define BUS_STORE(value) sw value, 24(s0)
#define BUS_LOAD(result) addi result, s4, 5
#endif

# Loads from a line that has not been used for long.
.macro WALK result
    addi    s6, s6, 1184
    and     s6, s6, s7
    add     \result, s0, s6
    lw      \result, 0(\result)
.endm

# Loads, stores, arithmetic and a multiplication, with and without a wait for the one before.
.macro PASS
    addi    t0, s1, 3
    lw      t1, 0(s0)
    sw      t0, 8(s0)
    xor     t4, t0, s5
    lw      t5, 4(s0)
    add     t6, t4, t5
    sw      t6, 12(s0)
    slli    t0, t6, 3
    sub     t4, t0, t1
    mul     t2, t1, s4
    lw      t3, 8(s0)
    srli    t1, t0, 7
    or      t0, t3, s4
    sw      t4, 16(s0)
    and     t6, t0, s1
    lw      t0, 12(s0)
    sltu    t3, t0, t6
    sw      t2, 20(s0)
#if defined(BACKGROUND_BUS)
    BUS_STORE(t1)
    BUS_LOAD(t3)
#elif defined(BACKGROUND_MISSES)
    WALK    t3
    WALK    t1
#endif
    addi    t4, t3, -9
    sra     t1, t4, s4
    lw      t3, 16(s0)
    add     t4, t4, t3
    sh      t4, 24(s0)
    lbu     t0, 25(s0)
.endm

.section .text, "ax", @progbits
.global background
.type background, @function
# Never returns. a0: 64 bytes of local memory, or 16 KiB.
background:
    mv      s0, a0
    li      s1, 0x12345678
    li      s2, DEVICE_BASE
    li      s3, DEVICE_BASE + DEVICE_DATA
    li      s4, 77
    li      s5, 10007
    li      s6, 0
    li      s7, 0x3fe0
    sw      s1, 0(s0)
    sw      s5, 4(s0)
.global background_round
.balign 32
background_round:
    # Every register here has a value that the round began with or has computed.
    PASS
    div     t5, s1, s4
    xor     t6, t5, t2
    PASS
    PASS
    BUS_STORE(t4)
    PASS
    BUS_LOAD(t5)
    PASS
    remu    t6, t4, s5
    PASS
    add     t5, t6, t2
    PASS
    BUS_STORE(t4)
    PASS
    BUS_LOAD(t5)
#if defined(BACKGROUND_MISSES)
.rept 32
    PASS
.endr
#endif
    j       background_round
.size background, . - background
