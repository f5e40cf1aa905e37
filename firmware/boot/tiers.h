/* context.h with a tier for each service. */
#ifndef TIERV_BOOT_TIERS_H
#define TIERV_BOOT_TIERS_H

#include "net/compiler.h"

#if TIERV_TIERS < 3
#error "CONTEXT=tiers needs a core with three tiers or more"
#endif

/* Contexts that the firmware uses. */
#define CONTEXTS TIERS_USED

/* context_start() with another loop for TIER_INTERRUPT than that around interrupt_service(). */
void context_start_loop(void (*loop)(void *), void *argument);

/* The protocol service has begun and not ended. */
extern bool context_protocol_active;

/* The ceiling keeps the service from beginning. If it has begun already, the application runs where it waits
 * for the bus. */
static inline uint32_t context_lock(void)
{
    uint32_t before = tier_hold(TIER_PROTOCOL);

    while (context_protocol_active) {
        tier_release(before);
        before = tier_hold(TIER_PROTOCOL);
    }
    return before;
}

static inline void context_unlock(uint32_t before)
{
    tier_release(before);
}

/* Somebody is behind context_lock_all(), which holds back the tiers up to context_ceiling: all that share
 * something (irq_set_apart()). */
extern bool context_is_locked;
extern uint32_t context_ceiling;

/* A ceiling keeps out the tiers above. Those below may have the slots that the caller can't use, so they
 * have to see that it is there; the wait is as long as what it does. */
static inline uint32_t context_lock_all(void)
{
    uint32_t before = tier_hold(context_ceiling);

    while (context_is_locked) {
        tier_release(before);
        before = tier_hold(context_ceiling);
    }
    context_is_locked = true;
    COMPILER_BARRIER();
    return before;
}

static inline void context_unlock_all(uint32_t before)
{
    COMPILER_BARRIER();
    context_is_locked = false;
    tier_release(before);
}

static inline void context_post_protocol(void)
{
    tier_post(TIER_PROTOCOL);
}

static inline void context_post_interrupt(void)
{
    tier_post(TIER_INTERRUPT);
}

static inline void context_post_application(void)
{
    tier_post(TIER_APPLICATION);
}

static inline void context_share_slots(void)
{
    tier_share_slots();
}

static inline void context_keep_slots(void)
{
    tier_keep_slots();
}

#endif
