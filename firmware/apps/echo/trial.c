#include "apps/echo/trial.h"

#ifdef ECHO_INTERRUPT

#include <stddef.h>

#include "apps/echo/latency.h"
#include "apps/idle.h"
#include "context.h"
#include "irq.h"
#include "net/compiler.h"
#include "report.h"

/* Exit codes: a setting is impossible; a line can't go to its tier. */
enum { EXIT_SETTING = 1, EXIT_TIER = 2 };

/* Samples; 0: no trial. It begins when the clock is behind trial_start_cycle. */
SET_BEFORE_RUN uint32_t trial_samples;
SET_BEFORE_RUN uint32_t trial_start_cycle;

/* As in latency_settings_t. */
SET_BEFORE_RUN uint32_t trial_interval_cycles = 4000;
SET_BEFORE_RUN uint32_t trial_spread_log2 = 12;
SET_BEFORE_RUN uint32_t trial_seed = 1;
SET_BEFORE_RUN uint32_t trial_bin_log2;
SET_BEFORE_RUN uint32_t trial_tests;
SET_BEFORE_RUN uint32_t trial_is_steady;

/* The tier of the instrument's line, and that of all others; 0: as they were registered. */
SET_BEFORE_RUN uint32_t trial_tier;
SET_BEFORE_RUN uint32_t trial_others_tier;

/* What software has seen; its bins are `seen_bins`. */
typedef struct {
    uint32_t samples;
    uint32_t overflow;
    uint32_t minimum;
    uint32_t maximum;
    int32_t least_difference;
    int32_t most_difference;
    uint64_t sum;
    uint64_t squares;
} trial_seen_t;

/* What came of it: the hardware's side and the software's. */
echo_totals_t trial_totals;
SET_BEFORE_RUN_LARGE uint32_t trial_bins[ECHO_BINS];
trial_seen_t trial_seen;

/* The handler's last act, since nobody else may get to run. */
static COLD void finish(void)
{
    echo_read_totals(&latency.device, &trial_totals);
    for (uint32_t bin = 0; bin < ECHO_BINS; bin++) {
        trial_bins[bin] = echo_read_bin(&latency.device, bin);
    }
    trial_seen = (trial_seen_t){.samples = latency.seen.samples,
                                .overflow = latency.seen.overflow,
                                .minimum = latency.seen.minimum,
                                .maximum = latency.seen.maximum,
                                .least_difference = latency.least_difference,
                                .most_difference = latency.most_difference,
                                .sum = latency.seen.sum,
                                .squares = latency.seen.squares};
    exit_run(0);
}

static void move(uint32_t line, uint32_t tier)
{
    const irq_line_t *entry = irq_line(line);

    if (entry != NULL && tier != 0 && irq_assign(line, tier, entry->priority) != IRQ_OK) {
        exit_run(EXIT_TIER);
    }
}

void latency_trial(void)
{
    latency_settings_t settings = {
        .moments = {.interval_cycles = trial_interval_cycles,
                    .spread_log2 = trial_spread_log2,
                    .seed = trial_seed,
                    .bin_log2 = trial_bin_log2},
        .access = trial_tests != 0 ? LATENCY_TEST : LATENCY_TAKE,
        .steady = trial_is_steady != 0,
        .samples = trial_samples,
    };

    if (trial_samples == 0) {
        return;
    }
    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        move(line, line == ECHO_INTERRUPT ? trial_tier : trial_others_tier);
    }
    latency.at_end = finish;
    if (latency_prepare(&settings) != ECHO_OK) {
        exit_run(EXIT_SETTING);
    }
    while ((int32_t)(idle_clock() - trial_start_cycle) < 0) {
        if (CONTEXT_MUST_YIELD) {
            context_wait();
        }
    }
    latency_start();
}

#endif
