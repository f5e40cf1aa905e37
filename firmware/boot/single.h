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
