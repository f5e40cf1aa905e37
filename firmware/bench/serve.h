/* Calls service() whenever LINE rises, from a tier's loop or from a trap handler. A program includes this
 * behind its service(). */
#ifndef TIERV_BENCH_SERVE_H
#define TIERV_BENCH_SERVE_H

#include "context.h"

#ifdef CONTEXT_TIERS

void tier_main(uint32_t tier)
{
    (void)tier;
    tier_set_lines(1u << LINE);
    tier_enable_wake();
    tier_buffer_bus();
#ifdef SHARING
    tier_share_slots();
#endif
    for (;;) {
        tier_sleep();
        service();
    }
}

static void start(void)
{
    context_start_tier(TIERV_TIERS - 1);
}

#else

INTERRUPT_HANDLER void handler(void)
{
    service();
}

static void start(void)
{
    context_start(1u << LINE);
}

#endif

#endif
