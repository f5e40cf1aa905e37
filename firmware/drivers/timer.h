/* LiteX's timer0 as a periodic tick, or for one. */
#ifndef TIERV_DRIVERS_TIMER_H
#define TIERV_DRIVERS_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "tier.h"

/* Ticks every `period_cycles` clock cycles, 2 or more, from now on; the line is TIMER0_INTERRUPT. */
void timer_start(uint32_t period_cycles);

/* Ticks once, in `cycles`, 1 or more. */
void timer_start_once(uint32_t cycles);

/* True if it has ticked since its event was cleared. */
bool timer_has_ticked(void);

/* True if it has, asked where its line is served. Where lines are not seen, `pending` says nothing. */
static inline bool timer_has_called(bool pending)
{
    return pending && (TIER_HAS_CSRS || timer_has_ticked());
}

/* Clears the tick's event. */
void timer_acknowledge(void);

#endif
