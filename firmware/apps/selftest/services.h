/* The services of the self-test: they note the clock, and answer timer and echo instrument. */
#ifndef TIERV_APPS_SELFTEST_SERVICES_H
#define TIERV_APPS_SELFTEST_SERVICES_H

#include <stdint.h>

#include "drivers/echo_instrument.h"

typedef struct {
    uint32_t interrupt_cycle; /* the clock when the interrupt service was last entered */
    uint32_t protocol_cycle;
    uint32_t ticks;
} services_seen_t;

/* Written by the services. */
extern volatile services_seen_t services_seen;

#ifdef ECHO_INTERRUPT
extern echo_instrument_t services_echo;
#endif

/* Starts the services with their lines. */
void services_start(void);

#endif
