/* A LIN commander that is told to send the bus to sleep, or to send a header, with its interrupt service running
 * between two instructions of that, and the other way round, as where the service waits for the bus: the CPU's
 * single-step trap calls it. Exit status 0 if the bus then sleeps, and nothing is left that would be sent when it is
 * awake, and if the header is sent, otherwise a line on stderr; 77 on a host without such a trap.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "apps/lin/commander.c"
#include "single_step.h"

/* Longer than any of it takes, and the last tick ahead of the one at which an idle bus falls asleep. */
enum { SETTLED_MS = 20, AWAKE_MS = 150, LAST_IDLE_MS = 4000, IDENTIFIER = 0x21 };

#ifdef __x86_64__

#include "each_step.h"

typedef struct {
    const lin_slot_t *slots;
    uint32_t count;
    uint32_t idle_ms;
} bus_t;

static lin_node_t node;
static uint32_t wake_ups;

static uint32_t receive(uint32_t byte, uint32_t flags)
{
    return lin_receive(&node, byte, flags, 0);
}

/* The bus carries whatever the node sends. */
static void carry(uint32_t actions)
{
    if ((actions & LIN_DO_HEADER) != 0) {
        (void)receive(0, LIN_CHARACTER_BREAK);
        (void)receive(LIN_SYNC, 0);
        actions = receive(actions & LIN_DO_BYTE, 0);
    } else if ((actions & LIN_DO_SEND) != 0) {
        wake_ups++;
    }
    while ((actions & LIN_DO_SEND) != 0) {
        actions = receive(actions & LIN_DO_BYTE, 0);
    }
}

static void pass_millisecond(void)
{
    carry(lin_tick(&node, 0));
}

/* False if the bus does not sleep for good. */
static bool survives(const void *given)
{
    const bus_t *bus = given;
    const lin_frame_t *frame = &node.frames[LIN_FRAME_REQUEST];

    lin_node_init(&node, LIN_COMMANDER, 5208, 100);
    (void)lin_schedule(&node, bus->slots, bus->count);
    node.idle_ms = bus->idle_ms;
    wake_ups = 0;
    single_step(true);
    lin_result_t result = lin_go_to_sleep(&node);
    single_step(false);
    for (uint32_t ms = 0; ms < SETTLED_MS; ms++) {
        pass_millisecond();
    }
    return result == LIN_OK && node.state == LIN_STATE_ASLEEP && wake_ups == 0
           && node.header_wanted == LIN_NO_IDENTIFIER && frame->sent == frame->written;
}

/* False if the header is not sent, on a bus that may have fallen asleep meanwhile. */
static bool is_sent(const void *unused)
{
    (void)unused;
    lin_node_init(&node, LIN_COMMANDER, 5208, 100);
    node.idle_ms = LAST_IDLE_MS;
    single_step(true);
    lin_result_t result = lin_request_header(&node, IDENTIFIER);
    single_step(false);
    for (uint32_t ms = 0; ms < AWAKE_MS; ms++) {
        pass_millisecond();
    }
    return result == LIN_OK && node.counters.headers == 1 && node.header_wanted == LIN_NO_IDENTIFIER;
}

static lin_result_t result_of_request;

static void request(void)
{
    result_of_request = lin_request_header(&node, IDENTIFIER);
}

static void schedule(void)
{
    static const lin_slot_t slot = {.identifier = IDENTIFIER, .slot_ms = 2 * AWAKE_MS};

    result_of_request = lin_schedule(&node, &slot, 1);
}

/* The same, asked for while the bus falls asleep. */
static bool is_sent_after(const void *unused)
{
    (void)unused;
    lin_node_init(&node, LIN_COMMANDER, 5208, 100);
    node.idle_ms = LAST_IDLE_MS;
    single_step(true);
    uint32_t actions = lin_tick(&node, 0);
    single_step(false);
    carry(actions);
    for (uint32_t ms = 0; ms < AWAKE_MS; ms++) {
        pass_millisecond();
    }
    return result_of_request == LIN_OK && node.counters.headers == 1;
}

int main(void)
{
    static const lin_slot_t slot = {.identifier = LIN_COMMANDER_REQUEST, .slot_ms = 1};
    static const bus_t without_schedule, with_slot = {&slot, 1, 0}, idle = {NULL, 0, LAST_IDLE_MS};
    bool unscheduled = survives_each_step("without a schedule: no sleep if a millisecond had passed", survives,
                                          &without_schedule, pass_millisecond);
    bool scheduled = survives_each_step("with a slot of its own: no sleep if a millisecond had passed", survives,
                                        &with_slot, pass_millisecond);
    bool slept = survives_each_step("on an idle bus: no sleep if a millisecond had passed", survives, &idle,
                                    pass_millisecond);
    bool sent = survives_each_step("on an idle bus: no header if a millisecond had passed", is_sent, NULL,
                                   pass_millisecond);
    bool requested = survives_each_step("falling asleep: no header if it had been asked for", is_sent_after, NULL,
                                        request);
    bool chosen = survives_each_step("falling asleep: no schedule if it had been chosen", is_sent_after, NULL,
                                     schedule);

    return unscheduled && scheduled && slept && sent && requested && chosen ? 0 : 1;
}

#else

int main(void)
{
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

#endif
