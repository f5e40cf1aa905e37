#include "apps/share.h"

#include <stdbool.h>
#include <stdint.h>

#include <generated/soc.h>

#include "alarm.h"
#include "apps/network.h"
#include "context.h"
#include "report.h"

/* An experiment may choose another share. */
SET_BEFORE_RUN uint32_t application_share_percent = APPLICATION_SHARE_PERCENT;

enum { INTERVAL_CYCLES = CONFIG_CLOCK_FREQUENCY / 1000000 * APPLICATION_SHARE_INTERVAL_US };

static uint32_t limit_cycles; /* that the protocol service may have of an interval; 0: all */
static uint32_t interval_start;
static uint32_t used_cycles; /* since then */
static uint32_t begun;
static bool held;
static bool in_protocol;
static uint32_t interrupt_begun;
/* Interrupts that have not ended: with one context they interrupt each other. */
static uint32_t interrupts;

/* Set by the alarm, in the interrupt service, and taken back by the protocol service. */
static volatile bool interval_is_over;

static void ring(alarm_t *alarm)
{
    (void)alarm;
    interval_is_over = true;
    context_post_protocol();
}

static alarm_t over = {.ring = ring};

/* Begins an interval in which so much has been used already. */
static void begin_interval(uint32_t now, uint32_t used)
{
    held = false;
    interval_start = now;
    used_cycles = used;
    net_allow(&network, APPLICATION_SHARE_FRAMES);
}

/* What the last interval had too much, and with tiers the frames that came while they had to wait. */
static uint32_t arrears(void)
{
    uint32_t excess = used_cycles > limit_cycles ? used_cycles - limit_cycles : 0;

#ifdef CONTEXT_TIERS
    excess += RING_COUNT(&network.received) * APPLICATION_SHARE_FRAME_CYCLES;
#endif
    return excess;
}

void share_init(void)
{
    limit_cycles = application_share_percent == 0
                       ? 0
                       : INTERVAL_CYCLES / 100 * (100 - application_share_percent);
    if (limit_cycles != 0) {
        begin_interval(alarm_clock(), 0);
    }
}

void share_begin_interrupt(void)
{
    if (limit_cycles != 0 && !in_protocol && interrupts++ == 0) {
        interrupt_begun = alarm_clock();
    }
}

void share_end_interrupt(void)
{
    if (limit_cycles != 0 && !in_protocol && --interrupts == 0) {
        used_cycles += alarm_clock() - interrupt_begun;
    }
}

void share_begin(void)
{
    if (limit_cycles == 0) {
        return;
    }
    in_protocol = true;
    begun = alarm_clock();
    if (interval_is_over) {
        interval_is_over = false;
        begin_interval(begun, arrears());
    }
}

void share_end(void)
{
    if (limit_cycles == 0) {
        return;
    }
    in_protocol = false;
    uint32_t now = alarm_clock();
    uint32_t passed = now - interval_start;
    used_cycles += now - begun;
    if (held || !net_is_held(&network)) {
        return;
    }
    if (passed >= INTERVAL_CYCLES) {
        begin_interval(now, 0);
    } else if (used_cycles < limit_cycles) {
        net_allow(&network, APPLICATION_SHARE_FRAMES);
    } else {
        held = true;
        alarm_set(&over, INTERVAL_CYCLES - passed);
        return;
    }
    context_post_protocol();
}
