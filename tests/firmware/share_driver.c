/* The application's share, driven by lines of text; the clock, the network and the alarm are variables.
 *
 *   wait QUIET USED     QUIET cycles in which the services use USED, then frames that are kept from them: how
 *                       long, in cycles
 *   interrupts          an interrupt of 100 cycles, of which another has 30, then a protocol service of 1000, of which
 *                       an interrupt has 100: what is counted for the one and for the other
 *   kept                whether there was a share to be kept, and how many frames were allowed, with 0 per cent and
 *                       since
 *   look                quite often while the alarm is set, and while no frames are kept from the services: how many
 *                       frames were allowed, and whether that has set an alarm
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
/* It has run for long before. */
static uint64_t cycle = UINT64_C(1) << 40 | 1u << 30;
static uint32_t allowed;
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
    allowed = frames;
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
    context_posts.protocol = false;
    for (;;) {
        cycle += LOOK_CYCLES;
        share_timing.used_cycles += LOOK_CYCLES;
        share_look();
        if (is_held) {
            cycle += over.due - alarm_clock();
            over.is_set = false;
            over.ring(&over);
        }
        if (!context_posts.protocol) {
            text_fail("nobody tells the protocol service");
        }
        if (!is_held) {
            return cycle - start;
        }
        context_posts.protocol = false;
    }
}

static uint32_t interrupts(void)
{
    uint32_t before = share_timing.used_cycles;

    share_begin_interrupt();
    cycle += 40;
    share_begin_interrupt();
    cycle += 30;
    share_end_interrupt();
    cycle += 30;
    share_end_interrupt();
    return share_timing.used_cycles - before;
}

static uint32_t protocol(void)
{
    uint32_t before = share_timing.used_cycles;

    share_begin();
    cycle += 900;
    share_begin_interrupt();
    cycle += 100;
    share_end_interrupt();
    share_end_timing();
    return share_timing.used_cycles - before;
}

/* The clock passes, so that there would be something to decide. */
static void look(void)
{
    allowed = 0;
    is_held = true;
    over.is_set = true;
    cycle += 1000000;
    share_look();
    over.is_set = false;
    is_held = false;
    share_timing.used_cycles += 10000000;
    share_look();
    printf("%u %d\n", allowed, over.is_set);
}

int main(void)
{
    application_share_percent = 0;
    share_init();
    bool kept_before = share_is_kept;
    uint32_t allowed_before = allowed;
    application_share_percent = 20;
    share_init();
    while (text_read()) {
        if (strcmp(text_word(0), "wait") == 0) {
            uint64_t quiet;
            (void)sscanf(text_word(1), "%" SCNu64, &quiet);
            printf("%" PRIu64 "\n", wait(quiet, text_number(2)));
        } else if (strcmp(text_word(0), "kept") == 0) {
            printf("%d %u %d %u\n", kept_before, allowed_before, share_is_kept, allowed);
        } else if (strcmp(text_word(0), "look") == 0) {
            look();
        } else {
            uint32_t interrupted = interrupts();
            printf("%u %u\n", interrupted, protocol());
        }
        (void)fflush(stdout);
    }
    return 0;
}
