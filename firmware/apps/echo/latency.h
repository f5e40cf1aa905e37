/* The latency instrument: the handler of the echo instrument's line, and the histogram that it keeps of
 * what it sees itself, beside the hardware's.
 *
 * Hardware counts from the rise of the line to the access on the bus that answers. Software reads the clock
 * behind that access and subtracts the time stamp of the rise; so it sees the same plus what its own
 * instructions take: as many cycles each time if the answer is a load of a tier, one more or less if it is
 * a store, whose wait for the bus the processor may hide, or a load with one context.
 *
 * A tier that serves no other line stays in the handler: nothing is dispatched, and the access that
 * answers is the first instruction behind the `wfi`. It gives up when it is woken for something else. For
 * irqtune its samples are the line's units, but only what is dispatched counts as a service.
 */
#ifndef TIERV_APPS_ECHO_LATENCY_H
#define TIERV_APPS_ECHO_LATENCY_H

#include "drivers/echo_instrument.h"

#ifdef ECHO_INTERRUPT

#include "apps/echo/histogram.h"

/* How the handler answers. */
typedef enum {
    LATENCY_TAKE, /* a read that tests the line and lowers it */
    LATENCY_TEST  /* a read that tests, then a write that lowers */
} latency_access_t;

typedef struct {
    echo_settings_t moments;
    latency_access_t access;
    /* The handler of a tier of its own takes every slot until the accesses that less urgent tiers have
     * begun must have ended, and answers then: later, but always in the same cycle. */
    bool steady;
    uint32_t samples; /* stop behind so many; 0: only when told to */
} latency_settings_t;

typedef struct {
    echo_instrument_t device;
    latency_settings_t settings;
    histogram_t seen;          /* by software */
    int32_t least_difference;  /* of what software sees, over the hardware's, sample by sample */
    int32_t most_difference;
    /* Called by the handler when there are as many samples as were asked for; may be NULL. */
    void (*at_end)(void);
} latency_t;

extern latency_t latency;

/* Registers the line and the command `latency`. Before irq_start(). */
void latency_init(void);

/* Application: stops, forgets what was counted, and takes settings. Unless ECHO_OK nothing has changed. */
echo_result_t latency_prepare(const latency_settings_t *settings);

/* Application: moments from now on; no further ones. */
void latency_start(void);
void latency_stop(void);

/* Settings as they are without any wish. */
extern const latency_settings_t latency_usual;

#endif

#endif
