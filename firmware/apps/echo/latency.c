#include "apps/echo/latency.h"

#ifdef ECHO_INTERRUPT

#include <stddef.h>

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

/* Samples of runs before this one, and those that a full histogram left out. */
static uint32_t earlier_samples;

#ifdef CONFIG_CPU_TYPE_TIERV
/* The clock when `word`, which comes from the bus, is there: the first instruction waits for it. */
static inline uint32_t clock_behind(uint32_t word)
{
    uint32_t now;

    __asm__ volatile("mv %0, %1\n"
                     "csrr %0, mcycle"
                     : "=&r"(now)
                     : "r"(word));
    return now;
}

/* What the clock was when the line rose. */
static inline uint32_t rise_stamp(void)
{
    return CSR_READ(CSR_MLINESTAMP0 + ECHO_INTERRUPT);
}
#else
/* The instrument's own clock begins when the line rises. */
static inline uint32_t clock_behind(uint32_t word)
{
    (void)word;
    return echo_elapsed(&latency.device);
}

static inline uint32_t rise_stamp(void)
{
    return 0;
}
#endif

/* What the clock is behind the access that answers; `high`: the line was. No branch is in between, whose
 * prediction could make a difference. */
static inline __attribute__((always_inline)) uint32_t answer(echo_instrument_t device,
                                                             latency_access_t access, bool *high)
{
    uint32_t found;

    if (access == LATENCY_TAKE) {
        found = echo_take(&device);
    } else {
        found = echo_test(&device);
        echo_clear(&device, found);
    }
    uint32_t now = clock_behind(found);
    *high = (found & 1) != 0;
    return now;
}

static __attribute__((noinline)) void record(uint32_t seen)
{
    int32_t difference = (int32_t)(seen - echo_latency(&latency.device));

    if (!histogram_add(&latency.seen, seen)) {
        earlier_samples++;
        return;
    }
    if (difference < latency.least_difference) {
        latency.least_difference = difference;
    }
    if (difference > latency.most_difference) {
        latency.most_difference = difference;
    }
    /* Never 0, which stands for no limit. */
    if (latency.seen.samples == latency.settings.samples) {
        echo_stop(&latency.device);
        if (latency.at_end != NULL) {
            latency.at_end();
        }
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
        bool high;
        uint32_t now = answer(device, access, &high);
        if (!high) {
            return;
        }
        record(now - rise_stamp());
    }
}

static __attribute__((noinline)) void stay_in_handler(void)
{
    if (latency.settings.access == LATENCY_TAKE) {
        latency.settings.steady ? stay(LATENCY_TAKE, true) : stay(LATENCY_TAKE, false);
    } else {
        latency.settings.steady ? stay(LATENCY_TEST, true) : stay(LATENCY_TEST, false);
    }
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
    (void)context;
    (void)pending;
#ifdef CONTEXT_TIERS
    /* A load ends before the next instruction, so that what others do on the bus and with the slots in
     * between makes no difference between the hardware's clock and ours. */
    uint32_t mode = CSR_SWAP(CSR_MBUSMODE, 0);
#endif
    uint32_t stamp = rise_stamp();
    bool high;
    uint32_t now = latency.settings.access == LATENCY_TAKE
                       ? answer(latency.device, LATENCY_TAKE, &high)
                       : answer(latency.device, LATENCY_TEST, &high);
    if (high) {
        record(now - stamp);
    }
#ifdef CONTEXT_TIERS
    if (tier_has_no_other_line()) {
        stay_in_handler();
    }
    CSR_WRITE(CSR_MBUSMODE, mode);
#endif
}

static uint32_t samples(const void *context)
{
    (void)context;
    return earlier_samples + latency.seen.samples;
}

void latency_init(void)
{
    echo_instrument_init(&latency.device);
    latency.settings = latency_usual;
    histogram_init(&latency.seen, seen_bins, ECHO_BINS, 0);
    (void)irq_register(ECHO_INTERRUPT, "echo", serve, NULL, PRIORITY);
    irq_describe(ECHO_INTERRUPT, 1, samples);
    irq_set_apart(ECHO_INTERRUPT);
}

echo_result_t latency_prepare(const latency_settings_t *settings)
{
    echo_result_t result = echo_configure(&latency.device, &settings->moments);

    if (result != ECHO_OK) {
        return result;
    }
    (void)echo_erase(&latency.device);
    latency.settings = *settings;
    latency.least_difference = INT32_MAX;
    latency.most_difference = INT32_MIN;
    earlier_samples += latency.seen.samples;
    histogram_init(&latency.seen, seen_bins, ECHO_BINS, settings->moments.bin_log2);
    /* A handler that stays in its tier shall see the settings. */
    irq_run(ECHO_INTERRUPT);
    return ECHO_OK;
}

void latency_start(void)
{
    echo_start(&latency.device);
}

void latency_stop(void)
{
    echo_stop(&latency.device);
}

#endif
