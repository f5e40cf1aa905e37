/* The application's share of the processor, whatever the network brings (APPLICATION_SHARE_PERCENT).
 *
 * The protocol service, all interrupt services and what it takes to begin and end them are timed: with tiers
 * by the core's counters, with one context by the clock. When they have had all but the application's share,
 * received frames wait; what the application, serial ports and LIN nodes send goes on. Frames for which there
 * is no packet then are dropped by the MAC.
 */
#ifndef TIERV_APPS_SHARE_H
#define TIERV_APPS_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "alarm.h"
#include "config.h"
#include "context.h"

/* There is a share to be kept. */
extern bool share_is_kept;

/* Before the services start. */
void share_init(void);

/* Decides whether received frames go on, if net_is_held(). */
void share_look(void);

#ifdef CONTEXT_TIERS

static inline void share_begin_interrupt(void)
{
}

static inline void share_end_interrupt(void)
{
}

static inline void share_begin(void)
{
}

static inline void share_end_timing(void)
{
}

#else

/* What times the services: interrupts of the protocol service are timed with that, and those of another
 * interrupt with it. */
typedef struct {
    uint32_t used_cycles;
    uint32_t begun;
    uint32_t interrupt_begun;
    uint32_t interrupts; /* that have not ended */
    bool in_protocol;
} share_timing_t;

extern share_timing_t share_timing;

/* Interrupt service, where it runs in a trap handler and share_is_kept: before, and after, all that it does. */
static inline void share_begin_interrupt(void)
{
    if (!share_timing.in_protocol && share_timing.interrupts++ == 0) {
        share_timing.interrupt_begun = alarm_clock();
    }
}

static inline void share_end_interrupt(void)
{
    if (!share_timing.in_protocol && --share_timing.interrupts == 0) {
        share_timing.used_cycles +=
            alarm_clock() - share_timing.interrupt_begun + APPLICATION_SHARE_TRAP_CYCLES;
    }
}

/* Protocol service: before all that it does. */
static inline void share_begin(void)
{
    if (UNLIKELY(share_is_kept)) {
        share_timing.in_protocol = true;
        share_timing.begun = alarm_clock();
    }
}

static inline void share_end_timing(void)
{
    share_timing.in_protocol = false;
    share_timing.used_cycles +=
        alarm_clock() - share_timing.begun + APPLICATION_SHARE_PROTOCOL_CYCLES;
}

#endif

/* Protocol service: after all that it does. With one context looking is timed too, so that what the service has
 * just used counts the next time. */
static inline void share_end(void)
{
    if (UNLIKELY(share_is_kept)) {
        share_look();
        share_end_timing();
    }
}

#endif
