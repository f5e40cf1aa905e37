#include "apps/share.h"

#include <generated/soc.h>

#include "apps/network.h"
#include "context.h"
#include "irq.h"
#include "report.h"

/* An experiment may choose another share. */
SET_BEFORE_RUN uint32_t application_share_percent = APPLICATION_SHARE_PERCENT;

enum { INTERVAL_CYCLES = CONFIG_CLOCK_FREQUENCY / 1000000 * APPLICATION_SHARE_INTERVAL_US };

/* What is owed beyond that is forgotten: the clock may have come round while nobody counted. */
enum { MOST_OWED_CYCLES = CONFIG_CLOCK_FREQUENCY / 10 };

/* In an interval the services look whether frames may go on. If that took all they have, none ever would. */
#if defined(CONFIG_CPU_TYPE_TIERV)
enum { LEAST_CYCLES = 2000 };
#elif TIER_HAS_CSRS
enum { LEAST_CYCLES = 5000 };
#else
enum { LEAST_CYCLES = 20000 };
#endif
_Static_assert(APPLICATION_SHARE_PERCENT == 0
                  || (100 - APPLICATION_SHARE_PERCENT) * (INTERVAL_CYCLES / 100) >= LEAST_CYCLES,
              "APPLICATION_SHARE_INTERVAL_US must be longer: what APPLICATION_SHARE_PERCENT leaves of it to the "
              "services is less than LEAST_CYCLES");

#if defined(CONTEXT_TIERS) && !TIERV_HAS_COUNTERS
_Static_assert(APPLICATION_SHARE_PERCENT == 0,
              "APPLICATION_SHARE_PERCENT must be 0 in a core with tiers and without counters");
#endif

bool share_is_kept;

/* Cycles of every 2^16 that the services may have. */
static uint32_t rate;

/* What they may have at once, what they may still have, which is less than 0 if they have had too much, and
 * clock and used_cycles() when that was so. */
static int32_t most;
static int32_t left;
static uint32_t counted_clock;
static uint32_t counted_cycles;

static void ring(alarm_t *alarm)
{
    (void)alarm;
    context_post_protocol();
}

static alarm_t over = {.ring = ring};

#ifdef CONTEXT_TIERS

static uint32_t used_cycles(void)
{
    return irq_protocol_cycles();
}

#else

share_timing_t share_timing;

static uint32_t used_cycles(void)
{
    return share_timing.used_cycles;
}

#endif

void share_init(void)
{
    if (application_share_percent == 0) {
        return;
    }
    rate = (100 - application_share_percent) * 65536 / 100;
    most = (int32_t)((uint64_t)INTERVAL_CYCLES * rate >> 16);
    left = most;
    counted_clock = alarm_clock();
    net_allow(&network, APPLICATION_SHARE_FRAMES);
    share_is_kept = true;
}

/* Adds what time has brought, and takes off what was used meanwhile. */
static void count(void)
{
    uint32_t clock = alarm_clock();
    uint32_t cycles = used_cycles();
    uint32_t passed = clock - counted_clock;
    int64_t brought = (int64_t)((uint64_t)passed * rate >> 16);
    int64_t now = left + brought - (cycles - counted_cycles);

    counted_clock = clock;
    counted_cycles = cycles;
    left = now > most ? most : now < -MOST_OWED_CYCLES ? -MOST_OWED_CYCLES : (int32_t)now;
}

void share_look(void)
{
    if (over.is_set || !net_is_held(&network)) {
        return;
    }
    count();
    if (left > 0) {
        net_allow(&network, APPLICATION_SHARE_FRAMES);
        context_post_protocol();
    } else {
        alarm_set(&over, INTERVAL_CYCLES);
    }
}
