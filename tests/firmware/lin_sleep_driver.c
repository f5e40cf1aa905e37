/* A LIN commander that is told to send the bus to sleep, with its interrupt service running between two
 * instructions of that: the CPU's single-step trap calls it. Exit status 0 if the bus then sleeps, and nothing is
 * left that would be sent when it is awake, otherwise a line on stderr; 77 on a host without such a trap.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>

#include "apps/lin/commander.c"
#include "single_step.h"

/* Steps of what is on trial, and longer than any of it takes. */
enum { LEAST_STEPS = 20, SETTLED_MS = 20, LAST_IDLE_MS = 3999 };

#ifdef __x86_64__

static lin_node_t node;
static uint32_t wake_ups;
static volatile unsigned step, last_step;

static uint32_t receive(uint32_t byte, uint32_t flags)
{
    return lin_receive(&node, byte, flags, 0);
}

/* A millisecond in which the bus carries whatever the node sends. */
static void pass_millisecond(void)
{
    uint32_t actions = lin_tick(&node, 0);

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

static void pass_on_trap(int signal_number)
{
    (void)signal_number;
    step = step + 1;
    if (step == last_step) {
        pass_millisecond();
    }
}

/* False if the bus does not sleep for good. */
static bool survives(const lin_slot_t *slots, uint32_t count, uint32_t idle_ms)
{
    const lin_frame_t *frame = &node.frames[LIN_FRAME_REQUEST];

    lin_node_init(&node, LIN_COMMANDER, 5208, 100);
    (void)lin_schedule(&node, slots, count);
    node.idle_ms = idle_ms;
    wake_ups = 0;
    step = 0;
    single_step(true);
    lin_result_t result = lin_go_to_sleep(&node);
    single_step(false);
    for (uint32_t ms = 0; ms < SETTLED_MS; ms++) {
        pass_millisecond();
    }
    return result == LIN_OK && node.state == LIN_STATE_ASLEEP && wake_ups == 0
           && node.header_wanted == LIN_NO_IDENTIFIER && frame->sent == frame->written;
}

static bool survives_everywhere(const char *what, const lin_slot_t *slots, uint32_t count, uint32_t idle_ms)
{
    for (last_step = 1;; last_step = last_step + 1) {
        bool survived = survives(slots, count, idle_ms);
        if (step < last_step) {
            break;
        }
        if (!survived) {
            fprintf(stderr, "%s: no sleep if a millisecond had passed before step %u\n", what, last_step);
            return false;
        }
    }
    if (last_step < LEAST_STEPS) {
        fprintf(stderr, "the trap came %u times only\n", step);
        return false;
    }
    return true;
}

int main(void)
{
    static const lin_slot_t slot = {.identifier = LIN_COMMANDER_REQUEST, .slot_ms = 1};

    signal(SIGTRAP, pass_on_trap);
    bool unscheduled = survives_everywhere("without a schedule", NULL, 0, 0);
    bool scheduled = survives_everywhere("with a slot of its own", &slot, 1, 0);
    bool idle = survives_everywhere("on an idle bus", NULL, 0, LAST_IDLE_MS);

    return unscheduled && scheduled && idle ? 0 : 1;
}

#else

int main(void)
{
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

#endif
