#include "apps/echo/latency.h"

#ifdef ECHO_INTERRUPT

#include <stddef.h>

#include "apps/echo/command.h"
#include "context.h"
#include "irq.h"
#include "report.h"

/* The line of the instrument is the most urgent one. */
enum { PRIORITY = IRQ_PRIORITIES - 1 };

latency_t latency;

const latency_settings_t latency_usual = {
    .moments = {.interval_cycles = 4000, .spread_log2 = 12, .seed = 1, .bin_log2 = 0},
    .access = LATENCY_TAKE,
};

static SET_BEFORE_RUN_LARGE uint32_t seen_bins[ECHO_BINS];

#ifdef CONFIG_CPU_TYPE_TIERV
/* Low word of mcycle when the line rose. */
static inline uint32_t rise_stamp(void)
{
    return CSR_READ(CSR_MLINESTAMP0 + ECHO_INTERRUPT);
}

/* Since the rise whose stamp that is. */
static inline uint32_t seen_since(uint32_t stamp)
{
    return CSR_READ(CSR_MCYCLE) - stamp;
}
#else
/* The instrument's own clock. */
static inline uint32_t rise_stamp(void)
{
    return 0;
}

static inline uint32_t seen_since(uint32_t stamp)
{
    return echo_elapsed(&latency.device) - stamp;
}
#endif

/* False if the line was not high. Behind a store that lowers the line the handler waits until it has
 * arrived. */
static inline __attribute__((always_inline)) bool answer(echo_instrument_t device,
                                                         latency_access_t access)
{
    if (access == LATENCY_TAKE) {
        return echo_take(&device);
    }
    if (!echo_test(&device)) {
        return false;
    }
    echo_clear(&device);
    __asm__ volatile("fence" ::: "memory");
    return true;
}

static __attribute__((noinline)) void record(uint32_t seen)
{
    int32_t difference = (int32_t)(seen - echo_latency(&latency.device));

    histogram_add(&latency.seen, seen);
    if (difference < latency.least_difference) {
        latency.least_difference = difference;
    }
    if (difference > latency.most_difference) {
        latency.most_difference = difference;
    }
    if (latency.seen.samples == latency.settings.samples) {
        echo_stop(&latency.device);
        latency.done = true;
        context_post_application();
    }
}

#ifdef CONTEXT_TIERS
/* Slots until the bus has ended what other tiers had begun when this one woke: each has one access at the
 * most, one more of two cycles than the slots that its last instruction needs to get there. */
#define STEADY_SLOTS (2 * (TIERV_TIERS - 1) - 2)
#define TEXT_OF(x) #x
#define REPEAT_NOP(count) __asm__ volatile(".rept " TEXT_OF(count) "\nnop\n.endr")

/* Until the tier is woken for something else than the line. Longest path: answer() and record(). */
static inline __attribute__((always_inline)) void stay(latency_access_t access, bool steady)
{
    echo_instrument_t device = latency.device;

    for (;;) {
        tier_sleep();
        if (steady) {
            REPEAT_NOP(STEADY_SLOTS);
        }
        if (!answer(device, access)) {
            return;
        }
        record(seen_since(rise_stamp()));
    }
}

static __attribute__((noinline)) void stay_in_handler(void)
{
    uint32_t mode = CSR_READ(CSR_MBUSMODE);

    /* Every slot is this tier's. */
    tier_buffer_bus();
    if (latency.settings.access == LATENCY_TAKE) {
        latency.settings.steady ? stay(LATENCY_TAKE, true) : stay(LATENCY_TAKE, false);
    } else {
        latency.settings.steady ? stay(LATENCY_TEST, true) : stay(LATENCY_TEST, false);
    }
    CSR_WRITE(CSR_MBUSMODE, mode);
}

static bool tier_has_no_other_line(void)
{
    return CSR_READ(CSR_MLINEMASK) == 1u << ECHO_INTERRUPT;
}
#endif

/* Any tier that serves lines. Longest path: answer() and record(), or for ever until another line or
 * a post wakes the tier. */
static void serve(void *context, bool pending)
{
    uint32_t stamp = rise_stamp();

    (void)context;
    (void)pending;
    if (answer(latency.device, latency.settings.access)) {
        record(seen_since(stamp));
    }
#ifdef CONTEXT_TIERS
    if (tier_has_no_other_line()) {
        stay_in_handler();
    }
#endif
}

void latency_init(void)
{
    echo_instrument_init(&latency.device);
    latency.settings = latency_usual;
    histogram_init(&latency.seen, seen_bins, ECHO_BINS, 0);
    (void)irq_register(ECHO_INTERRUPT, "echo", serve, NULL, PRIORITY);
    latency_add_command();
}

echo_result_t latency_start(const latency_settings_t *settings)
{
    echo_result_t result = echo_configure(&latency.device, &settings->moments);

    if (result != ECHO_OK) {
        return result;
    }
    latency_stop();
    (void)echo_erase(&latency.device);
    latency.settings = *settings;
    latency.least_difference = INT32_MAX;
    latency.most_difference = INT32_MIN;
    latency.done = false;
    histogram_init(&latency.seen, seen_bins, ECHO_BINS, settings->moments.bin_log2);
    /* A handler that stays in its tier shall see the settings. */
    irq_run(ECHO_INTERRUPT);
    echo_start(&latency.device);
    return ECHO_OK;
}

void latency_stop(void)
{
    echo_stop(&latency.device);
}

#endif
