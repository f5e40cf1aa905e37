/* The application's share, driven by lines of text; the clock, the network and the alarm are variables.
 *
 *   wait QUIET USED     QUIET cycles in which the services use USED, then frames that are kept from them: how
 *                       long, in cycles
 */
#include <inttypes.h>
#include <stdio.h>

#include "../../firmware/net/stack.h"
/* Neither the MAC nor lines. */
#define TIERV_APPS_NETWORK_H
#define TIERV_IRQ_H
extern net_t network;
#include "../../firmware/apps/share.c"
#include "text.h"

enum { LOOK_CYCLES = 1000 };

net_t network;
context_posts_t context_posts;
static uint64_t cycle;
static bool is_held;

uint32_t alarm_clock(void)
{
    return (uint32_t)cycle;
}

void alarm_set(alarm_t *alarm, uint32_t cycles)
{
    alarm->due = alarm_clock() + cycles;
    alarm->is_set = true;
}

void net_allow(net_t *net, uint32_t frames)
{
    (void)net;
    (void)frames;
    is_held = false;
}

bool net_is_held(const net_t *net)
{
    (void)net;
    return is_held;
}

static uint64_t wait(uint64_t quiet, uint32_t used)
{
    cycle += quiet;
    share_timing.used_cycles += used;
    uint64_t start = cycle;
    is_held = true;
    for (;;) {
        cycle += LOOK_CYCLES;
        share_timing.used_cycles += LOOK_CYCLES;
        share_look();
        if (!is_held) {
            return cycle - start;
        }
        cycle += over.due - alarm_clock();
        over.is_set = false;
        over.ring(&over);
    }
}

int main(void)
{
    application_share_percent = 20;
    share_init();
    while (text_read()) {
        uint64_t quiet;
        (void)sscanf(text_word(1), "%" SCNu64, &quiet);
        printf("%" PRIu64 "\n", wait(quiet, text_number(2)));
        (void)fflush(stdout);
    }
    return 0;
}
