/* One context: the trap handler, or context_wait(), serves all lines. */
#include "context.h"
#include "irq/table.h"

#ifndef CONTEXT_TIERS

/* Lines that irq_kick() asked for; also changed in the trap handler. */
static uint32_t kicked;

bool irq_tier_serves(uint32_t tier)
{
    return tier == TIER_INTERRUPT;
}

/* There is but one to be served in. */
bool irq_move(uint32_t line, uint32_t tier)
{
    (void)line;
    (void)tier;
    return true;
}

void irq_start(void)
{
    irq_apply_priorities();
    context_start(irq_lines_of(TIER_INTERRUPT));
}

static void kick(uint32_t line)
{
    uint32_t before = context_lock();

    kicked |= 1u << line;
    context_unlock(before);
}

void irq_kick(uint32_t line)
{
    kick(line);
    context_post_interrupt();
}

void irq_run(uint32_t line)
{
    kick(line);
    context_run_interrupt();
}

/* Apart from irq_dispatch(), which has no registers to save then. */
static __attribute__((noinline)) void serve_kicked(void)
{
    uint32_t ready;

    while ((ready = kicked & tier_line_mask()) != 0) {
        uint32_t line = irq_most_urgent(ready);
        kicked &= ~(1u << line);
        irq_serve_kicked(line + 1);
        irq_serve_pending();
    }
}

/* Called with interrupts disabled, perhaps while a service is interrupted: only those that may interrupt it
 * are in the mask. Longest path: all services. */
void irq_dispatch(uint32_t tier)
{
    (void)tier;
    irq_serve_pending();
    if (UNLIKELY(kicked != 0)) {
        serve_kicked();
    }
}

#endif
