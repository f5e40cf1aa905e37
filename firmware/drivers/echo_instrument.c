#include "drivers/echo_instrument.h"

#ifdef ECHO_INTERRUPT

enum {
    START = 1 << CSR_ECHO_CONTROL_START_OFFSET,
    STOP = 1 << CSR_ECHO_CONTROL_STOP_OFFSET,
    FIRE = 1 << CSR_ECHO_CONTROL_FIRE_OFFSET,
    ERASE = 1 << CSR_ECHO_CONTROL_ERASE_OFFSET,
    ERASING = 1 << CSR_ECHO_STATUS_ERASING_OFFSET
};

/* Of the totals. */
enum { READ_TRIES = 4 };

static uint32_t read(const echo_instrument_t *echo, uintptr_t offset)
{
    return mmio_read(echo->base + offset);
}

static void write(const echo_instrument_t *echo, uintptr_t offset, uint32_t value)
{
    mmio_write(echo->base + offset, value);
}

/* LiteX has the high word first. */
static uint64_t read_long(const echo_instrument_t *echo, uintptr_t offset)
{
    return (uint64_t)read(echo, offset) << 32 | read(echo, offset + 4);
}

void echo_instrument_init(echo_instrument_t *echo)
{
    echo->base = CSR_ECHO_BASE;
    (void)echo_erase(echo);
}

echo_result_t echo_configure(const echo_instrument_t *echo, const echo_settings_t *settings)
{
    if (settings->interval_cycles < ECHO_MIN_INTERVAL_CYCLES
        || settings->interval_cycles > ECHO_MAX_INTERVAL_CYCLES) {
        return ECHO_BAD_INTERVAL;
    }
    if (settings->spread_log2 > ECHO_MAX_SPREAD_LOG2) {
        return ECHO_BAD_SPREAD;
    }
    if (settings->seed == 0) {
        return ECHO_BAD_SEED;
    }
    if (settings->bin_log2 > ECHO_MAX_BIN_LOG2) {
        return ECHO_BAD_BIN;
    }
    write(echo, ECHO_REGISTER(INTERVAL), settings->interval_cycles);
    write(echo, ECHO_REGISTER(SPREAD_LOG2), settings->spread_log2);
    write(echo, ECHO_REGISTER(SEED), settings->seed);
    write(echo, ECHO_REGISTER(BIN_LOG2), settings->bin_log2);
    return ECHO_OK;
}

bool echo_erase(const echo_instrument_t *echo)
{
    /* A bin takes a cycle, a look at the status more than one. */
    uint32_t looks = ECHO_BINS + 1;

    write(echo, ECHO_REGISTER(CONTROL), ERASE);
    /* The command is seen a cycle after it was written. */
    (void)read(echo, ECHO_REGISTER(STATUS));
    while ((read(echo, ECHO_REGISTER(STATUS)) & ERASING) != 0) {
        if (looks-- == 0) {
            return false;
        }
    }
    return true;
}

void echo_start(const echo_instrument_t *echo)
{
    write(echo, ECHO_REGISTER(CONTROL), START);
}

void echo_fire(const echo_instrument_t *echo)
{
    write(echo, ECHO_REGISTER(CONTROL), FIRE);
}

void echo_stop(const echo_instrument_t *echo)
{
    write(echo, ECHO_REGISTER(CONTROL), STOP);
}

void echo_read_totals(const echo_instrument_t *echo, echo_totals_t *totals)
{
    uint32_t tries = READ_TRIES;

    do {
        totals->samples = read(echo, ECHO_REGISTER(SAMPLES));
        totals->missed = read(echo, ECHO_REGISTER(MISSED));
        totals->overflow = read(echo, ECHO_REGISTER(OVERFLOW));
        totals->minimum = read(echo, ECHO_REGISTER(MINIMUM));
        totals->maximum = read(echo, ECHO_REGISTER(MAXIMUM));
        totals->saturated = read(echo, ECHO_REGISTER(SATURATED));
        totals->sum = read_long(echo, ECHO_REGISTER(SUM));
        totals->squares = read_long(echo, ECHO_REGISTER(SQUARES));
    } while (totals->samples != read(echo, ECHO_REGISTER(SAMPLES)) && --tries != 0);
}

uint32_t echo_read_bin(const echo_instrument_t *echo, uint32_t index)
{
    write(echo, ECHO_REGISTER(BIN_INDEX), index);
    /* The memory shows the bin two cycles later. */
    (void)read(echo, ECHO_REGISTER(BIN_INDEX));
    return read(echo, ECHO_REGISTER(BIN_COUNT));
}

#endif
