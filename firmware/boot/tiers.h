/* context.h with a tier for each service. */
#ifndef TIERV_BOOT_TIERS_H
#define TIERV_BOOT_TIERS_H

#if TIERV_TIERS < 3
#error "CONTEXT=tiers needs a core with three tiers or more"
#endif

/* Contexts that the firmware uses. */
#define CONTEXTS TIERS_USED

static inline uint32_t context_lock(void)
{
    return tier_hold(TIER_PROTOCOL);
}

static inline void context_unlock(uint32_t before)
{
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

#endif
