#include "apps/selftest/measure.h"

#include <generated/soc.h>

#include "apps/compute.h"
#include "apps/idle.h"
#include "apps/selftest/record.h"
#include "apps/selftest/services.h"
#include "context.h"
#include "kernels/kernels.h"

enum {
    POSTS = 64,
    /* For a service that has run; with tiers it begins some cycles behind the post. */
    LOOKS = 100,
    ROUNDS = 2048,
    /* Moments of the echo instrument: a round of the application's work takes some 350 cycles. */
    INTERVAL_CYCLES = 1500,
    SPREAD_LOG2 = 9,
    SEED = 1
};

typedef struct {
    uint32_t least;
    uint32_t most;
} range_t;

static void range_add(range_t *range, uint32_t value)
{
    range->least = value < range->least ? value : range->least;
    range->most = value > range->most ? value : range->most;
}

static void range_tell(const char *least_key, const char *most_key, const range_t *range)
{
    record_number(least_key, range->least);
    record_number(most_key, range->most);
}

/* The application makes the interrupt service run, and looks until it has. */
static void measure_posts(void)
{
    range_t in = {UINT32_MAX, 0};
    range_t out = {UINT32_MAX, 0};

    for (uint32_t i = 0; i < POSTS; i++) {
        uint32_t last = services_seen.interrupt_cycle;
        uint32_t looks = LOOKS;
        uint32_t before = idle_clock();
        context_run_interrupt();
        while (services_seen.interrupt_cycle == last && --looks != 0) {
        }
        uint32_t after = idle_clock();
        uint32_t entered = services_seen.interrupt_cycle;
        range_add(&in, entered - before);
        range_add(&out, after - entered);
    }
    record_begin("switch", "post");
    record_number("samples", POSTS);
    range_tell("least_in", "most_in", &in);
    range_tell("least_out", "most_out", &out);
    record_end();
}

#ifdef ECHO_INTERRUPT

/* So many rounds of work; what they took. */
static uint32_t rounds_cycles(void)
{
    uint32_t start = idle_clock();
    uint32_t value = 1;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        value = compute(value);
    }
    compute_keep(value);
    return idle_clock() - start;
}

/* A line at random moments, while the application computes. */
static void measure_line(void)
{
    static const echo_settings_t settings = {
        .interval_cycles = INTERVAL_CYCLES, .spread_log2 = SPREAD_LOG2, .seed = SEED};
    echo_totals_t totals;

    bool ready = echo_erase(&services_echo) && echo_configure(&services_echo, &settings) == ECHO_OK;
    uint32_t undisturbed = rounds_cycles();
    echo_start(&services_echo);
    uint32_t disturbed = rounds_cycles();
    echo_stop(&services_echo);
    echo_read_totals(&services_echo, &totals);
    record_begin("switch", "line");
    record_truth("ready", ready);
    record_number("samples", totals.samples);
    record_number("missed", totals.missed);
    record_number("least_latency", totals.minimum);
    record_number("most_latency", totals.maximum);
    record_number("sum_of_latencies", (uint32_t)totals.sum);
    record_number("undisturbed_cycles", undisturbed);
    record_number("disturbed_cycles", disturbed);
    record_end();
}

#else

static void measure_line(void)
{
}

#endif

void measure_switches(void)
{
    measure_posts();
    measure_line();
}

void measure_kernels(void)
{
    static const struct {
        const char *name;
        uint32_t (*run)(void);
    } kernels[] = {
        {"list", kernel_list}, {"matrix", kernel_matrix},     {"state", kernel_state},
        {"crc", kernel_crc},   {"checksum", kernel_checksum},
    };

    for (uint32_t index = 0; index < sizeof kernels / sizeof kernels[0]; index++) {
        /* The first run fills whatever caches and predictors there are. */
        uint32_t first = kernels[index].run();
        uint32_t start = idle_clock();
        uint32_t second = kernels[index].run();
        uint32_t cycles = idle_clock() - start;
        record_begin("kernel", kernels[index].name);
        record_number("cycles", cycles);
        record_number("first_result", first);
        record_number("result", second);
        record_end();
    }
}
