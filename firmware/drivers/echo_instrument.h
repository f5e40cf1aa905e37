/* The echo instrument (soc/echo_instrument.py): it raises its line at chosen moments and measures when
 * the handler answers. */
#ifndef TIERV_DRIVERS_ECHO_INSTRUMENT_H
#define TIERV_DRIVERS_ECHO_INSTRUMENT_H

#include <generated/soc.h>

#ifdef ECHO_INTERRUPT

#include <stdbool.h>
#include <stdint.h>

#include <generated/csr.h>

#include "mmio.h"

typedef struct {
    uintptr_t base;
} echo_instrument_t;

typedef struct {
    uint32_t interval_cycles; /* between moments, ECHO_MIN_INTERVAL_CYCLES at the least */
    uint32_t spread_log2;     /* random bits added to it, ECHO_MAX_SPREAD_LOG2 at the most */
    uint32_t seed;            /* of the random bits, not 0 */
    uint32_t bin_log2;        /* cycles in a bin of the histogram, log2 */
} echo_settings_t;

typedef enum { ECHO_OK, ECHO_BAD_INTERVAL, ECHO_BAD_SPREAD, ECHO_BAD_SEED, ECHO_BAD_BIN } echo_result_t;

/* What was counted since it was last erased; latencies in cycles. */
typedef struct {
    uint32_t samples;
    uint32_t missed;   /* moments that came before the last one was answered */
    uint32_t overflow; /* latencies beyond the histogram */
    uint32_t minimum;
    uint32_t maximum;
    uint32_t saturated; /* what stays at its highest value: bits of CSR_ECHO_SATURATED */
    uint64_t sum;
    uint64_t squares;
} echo_totals_t;

/* The instrument; the line is ECHO_INTERRUPT. */
void echo_instrument_init(echo_instrument_t *echo);

/* Before a run. Unless ECHO_OK nothing has changed. */
echo_result_t echo_configure(const echo_instrument_t *echo, const echo_settings_t *settings);

/* Stops, lowers the line and sets all that was counted to 0; what else this takes is bounded by the
 * number of bins. False if the instrument does not come to an end. */
bool echo_erase(const echo_instrument_t *echo);

/* Moments from now on, until echo_stop(), which lowers the line; or a single one, unless they come anyway. */
void echo_start(const echo_instrument_t *echo);
void echo_fire(const echo_instrument_t *echo);
void echo_stop(const echo_instrument_t *echo);

/* Totals, which belong together unless an answer comes each time that they are read. */
void echo_read_totals(const echo_instrument_t *echo, echo_totals_t *totals);
/* The count of bin `index`. */
uint32_t echo_read_bin(const echo_instrument_t *echo, uint32_t index);

/* A register's offset behind the base. */
#define ECHO_REGISTER(name) (CSR_ECHO_##name##_ADDR - CSR_ECHO_BASE)

/* Answers in one access: a read that lowers the line. 1 if it was high. */
static inline uint32_t echo_take(const echo_instrument_t *echo)
{
    return mmio_read(echo->base + ECHO_REGISTER(TAKE));
}

/* Answers in two: a read that tests the line, 1 if it is high, and a write that then lowers it. */
static inline uint32_t echo_test(const echo_instrument_t *echo)
{
    return mmio_read(echo->base + ECHO_REGISTER(LINE));
}

static inline void echo_clear(const echo_instrument_t *echo, uint32_t tested)
{
    mmio_write(echo->base + ECHO_REGISTER(LINE), tested);
}

/* Cycles from the rise to the access that answered it last. */
static inline uint32_t echo_latency(const echo_instrument_t *echo)
{
    return mmio_read(echo->base + ECHO_REGISTER(LATENCY));
}

/* Cycles since the last rise, answered or not: a clock for processors that have none. */
static inline uint32_t echo_elapsed(const echo_instrument_t *echo)
{
    return mmio_read(echo->base + ECHO_REGISTER(ELAPSED));
}

#endif

#endif
