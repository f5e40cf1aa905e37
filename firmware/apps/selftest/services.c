#include "apps/selftest/services.h"

#include <generated/soc.h>

#include "apps/idle.h"
#include "context.h"
#include "drivers/timer.h"

volatile services_seen_t services_seen;

#ifdef ECHO_INTERRUPT
echo_instrument_t services_echo;
enum { ECHO_LINE = 1u << ECHO_INTERRUPT };
#else
enum { ECHO_LINE = 0 };
#endif

enum { TIMER_LINE = 1u << TIMER0_INTERRUPT };

/* Tier 2. Longest path: an answer to each of two devices. */
void interrupt_service(uint32_t lines)
{
#ifdef ECHO_INTERRUPT
    if ((lines & ECHO_LINE) != 0) {
        (void)echo_take(&services_echo);
    }
#endif
    services_seen.interrupt_cycle = idle_clock();
    if (timer_has_called((lines & TIMER_LINE) != 0)) {
        timer_acknowledge();
        services_seen.ticks++;
    }
}

/* Tier 1. */
void protocol_service(void)
{
    services_seen.protocol_cycle = idle_clock();
}

void services_start(void)
{
#ifdef ECHO_INTERRUPT
    echo_instrument_init(&services_echo);
#endif
    context_start(TIMER_LINE | ECHO_LINE);
}
