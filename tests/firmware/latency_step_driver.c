/* Totals of the latency instrument and of its handler's histogram, read while a sample comes between two
 * instructions of that: the CPU's single-step trap adds it. Exit status 0 if what was read belongs together,
 * otherwise a line on stderr; 77 on a host without such a trap.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "apps/echo/histogram.h"
#include "drivers/echo_instrument.h"
#include "single_step.h"

#ifdef __x86_64__

#include "each_step.h"

enum { REGISTERS = 64, CYCLES = 70000, EARLIER = 3, BINS = 4 };

static uint32_t registers[REGISTERS];
static uint32_t bins[BINS];
static histogram_t histogram;

/* A long register is the word at its place, the high one, and the next. */
static void put_long(uint32_t offset, uint64_t value)
{
    registers[offset / 4] = (uint32_t)(value >> 32);
    registers[offset / 4 + 1] = (uint32_t)value;
}

/* A sample, for both. */
static void answer_once(void)
{
    (void)histogram_add(&histogram, CYCLES);
    registers[ECHO_REGISTER(SAMPLES) / 4] = histogram.samples;
    put_long(ECHO_REGISTER(SUM), histogram.sum);
    put_long(ECHO_REGISTER(SQUARES), histogram.squares);
}

static void begin(void)
{
    histogram_init(&histogram, bins, BINS, 0);
    for (uint32_t count = 0; count < EARLIER; count++) {
        answer_once();
    }
}

static bool belong_together(uint32_t samples, uint64_t sum, uint64_t squares)
{
    return samples >= EARLIER && sum == (uint64_t)CYCLES * samples && squares == CYCLES * sum;
}

static bool reads_totals(const void *given)
{
    echo_totals_t totals;

    begin();
    single_step(true);
    echo_read_totals(given, &totals);
    single_step(false);
    return belong_together(totals.samples, totals.sum, totals.squares);
}

static bool copies_histogram(const void *given)
{
    histogram_t copy;

    begin();
    single_step(true);
    histogram_copy(&copy, given);
    single_step(false);
    return belong_together(copy.samples, copy.sum, copy.squares);
}

int main(void)
{
    const echo_instrument_t device = {(uintptr_t)registers};
    bool hardware = survives_each_step("totals of a sample that came", reads_totals, &device, answer_once);
    bool software = survives_each_step("a copy of a sample that came", copies_histogram, &histogram, answer_once);

    return hardware && software ? 0 : 1;
}

#else

int main(void)
{
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

#endif
