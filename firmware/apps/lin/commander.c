/* The commander's schedule, and waking the bus. */
#include <string.h>

#include "apps/lin/node.h"
#include "net/compiler.h"

enum {
    /* Five dominant bits: 250 us to 5 ms at every speed of LIN (LIN 2.2A, section 2.6.2). */
    WAKE_UP_BYTE = 0xf0,
    /* Three signals with a pause each in which a header should come, then a long pause; after two such
     * blocks nobody is there. */
    WAKE_PAUSE_MS = 200,
    WAKE_LONG_PAUSE_MS = 1500,
    WAKE_BLOCK = 3,
    WAKE_MOST = 2 * WAKE_BLOCK
};

/* Headers are for nodes that are awake. */
static void wake_first(lin_node_t *node)
{
    if (node->state == LIN_STATE_ASLEEP) {
        node->waking = true;
    }
}

/* The interrupt service may be reading the one that runs, and may run the one that is chosen at any time. */
static uint8_t spare_schedule(const lin_node_t *node)
{
    uint8_t number = 0;

    while (number == node->running || number == node->chosen) {
        number++;
    }
    return number;
}

lin_result_t lin_schedule(lin_node_t *node, const lin_slot_t *slots, uint32_t count)
{
    if (node->role != LIN_COMMANDER) {
        return LIN_NOT_COMMANDER;
    }
    if (count > LIN_SLOTS) {
        return LIN_FULL;
    }
    for (uint32_t index = 0; index < count; index++) {
        if (slots[index].identifier > LIN_RESPONDER_RESPONSE) {
            return LIN_BAD_IDENTIFIER;
        }
        if (slots[index].slot_ms == 0) {
            return LIN_BAD_SLOT;
        }
    }
    uint8_t number = spare_schedule(node);
    lin_schedule_t *schedule = &node->schedules[number];

    memcpy(schedule->slots, slots, count * sizeof(slots[0]));
    schedule->count = count;
    COMPILER_BARRIER();
    node->chosen = number;
    COMPILER_BARRIER();
    if (count != 0) {
        wake_first(node);
    }
    return LIN_OK;
}

lin_result_t lin_request_header(lin_node_t *node, uint32_t identifier)
{
    if (node->role != LIN_COMMANDER) {
        return LIN_NOT_COMMANDER;
    }
    if (identifier > LIN_RESPONDER_RESPONSE) {
        return LIN_BAD_IDENTIFIER;
    }
    if (node->header_wanted != LIN_NO_IDENTIFIER) {
        return LIN_FULL;
    }
    node->header_wanted = (uint8_t)identifier;
    COMPILER_BARRIER();
    /* From here on the bus does not fall asleep by idleness: if it sleeps, that is seen. */
    wake_first(node);
    return LIN_OK;
}

lin_result_t lin_go_to_sleep(lin_node_t *node)
{
    static const uint8_t command[LIN_DATA_BYTES] = {LIN_GO_TO_SLEEP, 0xff, 0xff, 0xff,
                                                    0xff,            0xff, 0xff, 0xff};

    if (node->role != LIN_COMMANDER) {
        return LIN_NOT_COMMANDER;
    }
    if (node->header_wanted != LIN_NO_IDENTIFIER) {
        return LIN_FULL;
    }
    if (node->state == LIN_STATE_ASLEEP) {
        node->waking = false;
        return LIN_OK;
    }
    (void)lin_write(node, LIN_COMMANDER_REQUEST, command, LIN_DATA_BYTES);
    node->header_wanted = LIN_COMMANDER_REQUEST;
    COMPILER_BARRIER();
    /* By idleness, or because a slot of the schedule has sent it: nothing is left for when it is awake. */
    if (node->state == LIN_STATE_ASLEEP) {
        node->header_wanted = LIN_NO_IDENTIFIER;
        node->waking = false;
        lin_cancel(node, LIN_COMMANDER_REQUEST);
    }
    return LIN_OK;
}

void lin_wake(lin_node_t *node)
{
    node->waking = true;
}

/* Nothing is under way on the bus that a header would spoil. */
static bool is_quiet(const lin_node_t *node)
{
    return node->state == LIN_STATE_IDLE || (node->state == LIN_STATE_RECEIVE && node->overdue);
}

uint32_t lin_schedule_tick(lin_node_t *node)
{
    uint32_t identifier;

    while (node->running != node->chosen) {
        node->running = node->chosen;
        node->slot = 0;
        node->slot_left_ms = 0;
        /* From here on this one is left alone; others may have been chosen before. */
        COMPILER_BARRIER();
    }
    const lin_schedule_t *schedule = &node->schedules[node->running];
    bool scheduling = schedule->count != 0;

    if (scheduling && node->slot_left_ms != 0 && --node->slot_left_ms != 0) {
        return 0;
    }
    if (node->header_wanted != LIN_NO_IDENTIFIER) {
        if (!scheduling && !is_quiet(node)) {
            return 0;
        }
        identifier = node->header_wanted;
        node->header_wanted = LIN_NO_IDENTIFIER;
        /* It takes the place of a slot; the schedule goes on behind it. */
        node->slot_left_ms = scheduling ? schedule->slots[node->slot].slot_ms : 0;
    } else if (scheduling) {
        const lin_slot_t *slot = &schedule->slots[node->slot];
        identifier = slot->identifier;
        node->slot_left_ms = slot->slot_ms;
        node->slot = (uint8_t)(node->slot + 1u < schedule->count ? node->slot + 1u : 0);
    } else {
        return 0;
    }
    return LIN_DO_HEADER | lin_protect(identifier);
}

uint32_t lin_wake_tick(lin_node_t *node)
{
    /* The signal waits for the end of a frame, of which a header that is still to be read back is part. */
    if (node->state != LIN_STATE_ASLEEP
        && (!is_quiet(node) || node->header_sent != LIN_NO_IDENTIFIER)) {
        return 0;
    }
    if (node->waking) {
        node->waking = false;
        node->wake_pulses = 0;
    } else if (node->wake_pulses == 0 || node->wake_pulses >= WAKE_MOST) {
        return 0;
    } else if (--node->wake_ms != 0) {
        return 0;
    }
    node->wake_pulses++;
    node->wake_ms = node->wake_pulses % WAKE_BLOCK == 0 ? WAKE_LONG_PAUSE_MS : WAKE_PAUSE_MS;
    return LIN_DO_SEND | WAKE_UP_BYTE;
}
