#include "apps/echo/trial.h"

#ifdef ECHO_INTERRUPT

#include <stddef.h>

#include "apps/echo/latency.h"
#include "irq.h"
#include "net/compiler.h"
#include "report.h"

/* Exit codes: a setting is impossible; a line can't go to its tier. */
enum { EXIT_SETTING = 1, EXIT_TIER = 2 };

/* Samples; 0: no trial. The others are those of latency_settings_t. */
SET_BEFORE_RUN uint32_t trial_samples;
SET_BEFORE_RUN uint32_t trial_interval_cycles = 4000;
SET_BEFORE_RUN uint32_t trial_spread_log2 = 12;
SET_BEFORE_RUN uint32_t trial_seed = 1;
SET_BEFORE_RUN uint32_t trial_bin_log2;
SET_BEFORE_RUN uint32_t trial_tests;
SET_BEFORE_RUN uint32_t trial_is_steady;

/* The tier of the instrument's line, and that of all others; 0: as they were registered. */
SET_BEFORE_RUN uint32_t trial_tier;
SET_BEFORE_RUN uint32_t trial_others_tier;

/* What came of it; the experiment reads these and the software's side in `latency`. */
echo_totals_t trial_totals;
SET_BEFORE_RUN_LARGE uint32_t trial_bins[ECHO_BINS];

static void move(uint32_t line, uint32_t tier)
{
    const irq_line_t *entry = irq_line(line);

    if (entry != NULL && tier != 0 && irq_assign(line, tier, entry->priority) != IRQ_OK) {
        exit_run(EXIT_TIER);
    }
}

void latency_trial_init(void)
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
    if (latency_start(&settings) != ECHO_OK) {
        exit_run(EXIT_SETTING);
    }
}

void latency_trial_service(void)
{
    COMPILER_BARRIER();
    if (trial_samples == 0 || !latency.done) {
        return;
    }
    echo_read_totals(&latency.device, &trial_totals);
    for (uint32_t bin = 0; bin < ECHO_BINS; bin++) {
        trial_bins[bin] = echo_read_bin(&latency.device, bin);
    }
    exit_run(0);
}

#endif
