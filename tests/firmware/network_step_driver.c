/* The protocol service's part of the network, with the MAC's line rising between two instructions of it: the CPU's
 * single-step trap does that. Exit status 0 if, wherever it was, everything has been seen when the service sleeps
 * again, and the MAC may tell of what comes next; and if the service ran twice only because it had looked at the MAC
 * for the last time. Otherwise a line on stderr; 77 on a host without such a trap.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "apps/network.c"
#include "apps/network_line.h"
#include "network_mac.h"
#include "single_step.h"

#ifdef __x86_64__

#include "alarm.h"
#include "each_step.h"

typedef struct {
    void (*meanwhile)(void); /* while the service looks at the MAC: NULL for nothing */
    void (*event)(void);
} events_t;

static void (*event)(void);
static uint32_t rounds, rounds_wanted;

void alarm_set(alarm_t *alarm, uint32_t cycles)
{
    (void)alarm;
    (void)cycles;
}

void alarm_repeat(alarm_t *alarm, uint32_t cycles)
{
    (void)alarm;
    (void)cycles;
}

static void happen(void)
{
    rounds_wanted += !looks;
    event();
}

static void run_protocol(void)
{
    while (context_posts.protocol) {
        context_posts.protocol = false;
        rounds++;
        network_line_protocol();
    }
}

static bool survives(const void *given)
{
    const events_t *events = given;

    rounds = 0;
    rounds_wanted = 1;
    event = events->event;
    network_mac_reset();
    context_posts.protocol = false;
    network_mac_receive();
    network_mac_meanwhile = events->meanwhile;
    single_step(true);
    run_protocol();
    single_step(false);
    run_protocol();
    return network_mac_is_at_rest() && rounds <= rounds_wanted;
}

int main(void)
{
    static const struct {
        const char *failure;
        events_t events;
    } cases[] = {
        {"nobody sees a frame that comes", {NULL, network_mac_receive}},
        {"nobody sees that a packet has been sent", {NULL, network_mac_has_sent}},
        {"nobody sees a frame that comes after another", {network_mac_receive, network_mac_receive}},
        {"nobody sees that a packet has been sent after a frame came",
         {network_mac_receive, network_mac_has_sent}},
    };

    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!survives_each_step(cases[i].failure, survives, &cases[i].events, happen)) {
            return 1;
        }
    }
    return 0;
}

#else

int main(void)
{
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

#endif
