/* What an instruction can do with tiers, lines and posts, and the idiom of a tier's loop:
 *
 *     for (;;) {
 *         uint32_t lines = tier_wait();
 *         ...
 *         tier_post(TIER_PROTOCOL);
 *     }
 *
 * A tier that waits keeps its registers, so what the loop's body needs stays in them. For firmware
 * that also runs where there is one context, see context.h.
 */
#ifndef TIERV_TIER_H
#define TIERV_TIER_H

#include <generated/soc.h>

#ifdef CONFIG_CPU_TYPE_TIERV
#include <generated/tierv.h>
#else
/* LiteX's VexRiscv has these two (litex/soc/cores/cpu/vexriscv/csr-defs.h). */
#define CSR_MLINEMASK 0xbc0
#define CSR_MLINEPEND 0xfc0
#define MSTATUS_MIE_BIT 3
#define MIP_MSIP_BIT 3
#define MIP_MEIP_BIT 11
#endif

/* PicoRV32 has no CSRs but counters. Nobody is told which of its lines are pending. */
#ifdef CONFIG_CPU_TYPE_PICORV32
#define TIER_HAS_CSRS 0
#else
#define TIER_HAS_CSRS 1
#endif

#ifndef __ASSEMBLER__

#include <stdint.h>

/* CSR instructions; `csr` is a constant. Small constants become immediates. */
#define CSR_READ(csr)                                                                              \
    ({                                                                                             \
        uint32_t value_;                                                                           \
        __asm__ volatile("csrr %0, %1" : "=r"(value_) : "i"(csr));                                 \
        value_;                                                                                    \
    })
#define CSR_WRITE(csr, value)                                                                      \
    __asm__ volatile("csrw %0, %1" : : "i"(csr), "rK"((uint32_t)(value)) : "memory")
#define CSR_SET(csr, bits)                                                                         \
    __asm__ volatile("csrs %0, %1" : : "i"(csr), "rK"((uint32_t)(bits)) : "memory")
#define CSR_CLEAR(csr, bits)                                                                       \
    __asm__ volatile("csrc %0, %1" : : "i"(csr), "rK"((uint32_t)(bits)) : "memory")
#define CSR_SWAP(csr, value)                                                                       \
    ({                                                                                             \
        uint32_t old_;                                                                             \
        __asm__ volatile("csrrw %0, %1, %2"                                                        \
                         : "=r"(old_)                                                              \
                         : "i"(csr), "rK"((uint32_t)(value))                                       \
                         : "memory");                                                              \
        old_;                                                                                      \
    })

/* Who does what; a more urgent tier has a higher number. */
enum { TIER_APPLICATION = 0, TIER_PROTOCOL = 1, TIER_INTERRUPT = 2, TIERS_USED = 3 };

/* Waits for an enabled interrupt without taking a trap, if mstatus.MIE is 0. */
static inline void tier_sleep(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

#if TIER_HAS_CSRS

/* Pending lines of this tier. */
static inline uint32_t tier_lines(void)
{
    return CSR_READ(CSR_MLINEPEND);
}

/* Waits for a line or a post; returns the pending lines of this tier. */
static inline uint32_t tier_wait(void)
{
    tier_sleep();
    return tier_lines();
}

/* Says which lines this tier waits for. */
static inline void tier_set_lines(uint32_t lines)
{
    CSR_WRITE(CSR_MLINEMASK, lines);
}

/* Lines that this tier waits for. */
static inline uint32_t tier_line_mask(void)
{
    return CSR_READ(CSR_MLINEMASK);
}

#else

/* Lines that somebody serves (boot/polled.c): each has to be asked whether it is pending. */
extern uint32_t tier_served_lines;

static inline uint32_t tier_lines(void)
{
    return tier_served_lines;
}

static inline void tier_set_lines(uint32_t lines)
{
    tier_served_lines = lines;
}

static inline uint32_t tier_line_mask(void)
{
    return tier_served_lines;
}

#endif

#ifdef CONFIG_CPU_TYPE_TIERV

/* Lets lines and posts wake this tier. */
static inline void tier_enable_wake(void)
{
    CSR_WRITE(CSR_MIE, 1u << MIP_MEIP_BIT | 1u << MIP_MSIP_BIT);
}

/* Wakes another tier. */
static inline void tier_post(uint32_t tier)
{
    CSR_SET(CSR_MPOST, 1u << tier);
}

/* Takes back what was posted to `tier`, the caller's own. */
static inline void tier_clear_post(uint32_t tier)
{
    CSR_CLEAR(CSR_MPOST, 1u << tier);
}

/* Loads and stores on the bus don't wait for each other's end any more; an error of one is a trap
 * at a later instruction. */
static inline void tier_buffer_bus(void)
{
    CSR_WRITE(CSR_MBUSMODE, 1u << MBUSMODE_BUFFERED_BIT);
}

/* The slot behind each load and store of this tier goes to less urgent ones: for a service that mostly
 * copies over the bus, which slows it down anyway. */
static inline void tier_share_slots(void)
{
    CSR_SET(CSR_MBUSMODE, 1u << MBUSMODE_SHARING_BIT);
}

/* No more. */
static inline void tier_keep_slots(void)
{
    CSR_CLEAR(CSR_MBUSMODE, 1u << MBUSMODE_SHARING_BIT);
}

/* A critical section against the tiers up to `ceiling`: returns what tier_release() wants. */
static inline uint32_t tier_hold(uint32_t ceiling)
{
    return CSR_SWAP(CSR_MCEILING, ceiling);
}

static inline void tier_release(uint32_t before)
{
    CSR_WRITE(CSR_MCEILING, before);
}

/* Starts a stopped tier: it calls `function` with `argument`; `stack` is the end of its stack,
 * 16-byte aligned. The function does not return. */
void tier_start(uint32_t tier, void (*function)(void *), void *argument, void *stack);

#endif

#endif /* __ASSEMBLER__ */

#endif
