/* How an interrupt reaches its handler on a core:
 *
 *     CONTEXT_TRAP      an ordinary machine-mode trap, lines masked by a CSR (VexRiscv, and TierV)
 *     CONTEXT_PICORV32  PicoRV32's own: registers q0 and q1, return by retirq
 *     CONTEXT_IBEX      a machine-mode trap through a table of jumps, lines 0 to 14
 *     CONTEXT_TIERS     a tier that waits in wfi
 *
 * BENCH_OWN is defined for TierV with traps, whose bus then completes stores as VexRiscv's does.
 */
#ifndef TIERV_BENCH_CONTEXT_H
#define TIERV_BENCH_CONTEXT_H

#include <stdint.h>

#ifndef CONTEXT_TIERS

/* GCC saves what the function and those that it calls may change, and returns with mret. */
#define INTERRUPT_HANDLER __attribute__((interrupt("machine"), section(".vector")))

void handler(void);

#endif

#if defined(CONTEXT_TRAP)

#ifdef BENCH_OWN
#include "tier.h"
#endif

static inline void context_start(uint32_t lines)
{
#ifdef BENCH_OWN
    tier_buffer_bus();
#endif
    __asm__ volatile("csrw mtvec, %0" : : "r"(&handler));
    /* The mask of the lines has the same number in LiteX's VexRiscv and in TierV. */
    __asm__ volatile("csrw 0xbc0, %0" : : "r"(lines));
    __asm__ volatile("csrw mie, %0" : : "r"(1u << 11));
    __asm__ volatile("csrsi mstatus, 8" : : : "memory");
}

#elif defined(CONTEXT_PICORV32)

/* PicoRV32's return in the handler: its vector is where the section .vector begins, and the
 * address to return to is kept in q0. */
__asm__(".macro mret\n.insn r 0x0b, 0, 2, x0, x0, x0\n.endm");

static inline void context_start(uint32_t lines)
{
    __asm__ volatile(".insn r 0x0b, 0, 3, x0, %0, x0" : : "r"(~lines) : "memory"); /* maskirq */
}

#elif defined(CONTEXT_IBEX)

/* Ibex knows vectored traps alone: the cause's word of the table jumps to the handler. */
__asm__(".section .handler, \"ax\"\n"
        ".balign 256\n"
        ".global vector_table\n"
        "vector_table:\n"
        ".rept 32\n"
        "j handler\n"
        ".endr\n"
        ".text");

extern const uint32_t vector_table[];

static inline void context_start(uint32_t lines)
{
    __asm__ volatile("csrw mtvec, %0" : : "r"(vector_table));
    /* Line n is the fast interrupt n. */
    __asm__ volatile("csrw mie, %0" : : "r"(lines << 16));
    __asm__ volatile("csrsi mstatus, 8" : : : "memory");
}

#elif defined(CONTEXT_TIERS)

#include "tier.h"

/* The loop of a handler's tier, given by the program. */
void tier_main(uint32_t tier) __attribute__((noreturn));

/* Starts a tier with tier_main() (tiers.S). Tiers 1 to 7, as many as the core has. */
void context_start_tier(uint32_t tier);

#else
#error "a CONTEXT_ must be defined"
#endif

#endif
