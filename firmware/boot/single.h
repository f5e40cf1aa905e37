/* context.h with one context; the services run from the trap handler (single.c) or from
 * context_wait() (polled.c). */
#ifndef TIERV_BOOT_SINGLE_H
#define TIERV_BOOT_SINGLE_H

#include "net/compiler.h"

/* Contexts that the firmware uses. */
#define CONTEXTS 1

/* Set by whoever has work for the service, cleared before it runs. The trap handler and what it
 * interrupts share them: read them behind a compiler barrier. */
typedef struct {
    bool protocol;
    bool interrupt;
    bool application;
} context_posts_t;

extern context_posts_t context_posts;

#ifdef CONTEXT_SINGLE

/* The protocol service is running, perhaps interrupted; or something is that it must wait for. */
extern bool context_protocol_active;

/* What an interrupt changes that interrupts a service. */
typedef struct {
    uint32_t lines;
    uint32_t pc;
    uint32_t status;
    bool protocol_active;
} context_nesting_t;

/* Called with interrupts disabled: from now on `lines`, among those that are enabled already, interrupt. The
 * protocol service waits for the service that is interrupted. */
INLINE context_nesting_t context_nest(uint32_t lines)
{
    context_nesting_t before = {.protocol_active = context_protocol_active};

    context_protocol_active = true;
    __asm__ volatile("csrr %0, mepc" : "=r"(before.pc));
    __asm__ volatile("csrr %0, mstatus" : "=r"(before.status));
    before.lines = CSR_SWAP(CSR_MLINEMASK, lines);
    __asm__ volatile("csrsi mstatus, %0" : : "i"(1 << MSTATUS_MIE_BIT) : "memory");
    return before;
}

/* No longer; interrupts are disabled again. */
INLINE void context_unnest(context_nesting_t before)
{
    __asm__ volatile("csrci mstatus, %0" : : "i"(1 << MSTATUS_MIE_BIT) : "memory");
    CSR_WRITE(CSR_MLINEMASK, before.lines);
    __asm__ volatile("csrw mepc, %0" : : "r"(before.pc));
    __asm__ volatile("csrw mstatus, %0" : : "r"(before.status));
    context_protocol_active = before.protocol_active;
}

#endif

#ifdef CONTEXT_POLLED

/* Lines that context_run_protocol() leaves to context_wait(): their device has room while its work is done. */
extern uint32_t context_patient_lines;

/* Nobody interrupts. */
static inline uint32_t context_lock(void)
{
    return 0;
}

static inline void context_unlock(uint32_t before)
{
    (void)before;
}

#else

#if !TIER_HAS_CSRS
#error "this CPU takes interrupts in its own way: CONTEXT must be polled"
#endif

static inline uint32_t context_lock(void)
{
    uint32_t before;
    __asm__ volatile("csrrci %0, mstatus, %1"
                     : "=r"(before)
                     : "i"(1 << MSTATUS_MIE_BIT)
                     : "memory");
    return before;
}

static inline void context_unlock(uint32_t before)
{
    __asm__ volatile("csrs mstatus, %0"
                     :
                     : "r"(before & 1u << MSTATUS_MIE_BIT)
                     : "memory");
}

#endif

static inline uint32_t context_lock_all(void)
{
    return context_lock();
}

static inline void context_unlock_all(uint32_t before)
{
    context_unlock(before);
}

static inline void context_post_protocol(void)
{
    context_posts.protocol = true;
    COMPILER_BARRIER();
}

static inline void context_post_interrupt(void)
{
    context_posts.interrupt = true;
    COMPILER_BARRIER();
}

static inline void context_post_application(void)
{
    context_posts.application = true;
    COMPILER_BARRIER();
}

static inline void context_share_slots(void)
{
}

static inline void context_keep_slots(void)
{
}

#endif
