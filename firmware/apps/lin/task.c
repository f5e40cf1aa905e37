/* The responder's task: headers in, responses in and out. Tier 2. */
#include <string.h>

#include "apps/lin/node.h"
#include "net/compiler.h"

enum {
    /* Nothing on the bus for so long: everybody sleeps (LIN 2.2A, section 2.6.3). */
    IDLE_SLEEP_MS = 4000,
    /* Behind a wake-up signal, which lasts up to 5 ms, nodes need so long to get ready (section 2.6.2). */
    READY_MS = 100,
    SIGNAL_MOST_MS = 5,
    /* A response may take 1.4 times its nominal time, ten bits a byte (section 2.3.2); so may a
     * header. */
    MOST_BITS_PER_BYTE = 14,
    MOST_HEADER_BITS = LIN_HEADER_BITS * 14 / 10
};

/* Fills the report. */
static uint32_t report(lin_node_t *node, lin_outcome_t outcome, uint32_t bytes, uint32_t now)
{
    lin_report_t *made = &node->report;

    node->counters.outcomes[outcome]++;
    made->cycle = now;
    made->outcome = (uint8_t)outcome;
    made->identifier = node->identifier;
    made->bytes = (uint8_t)bytes;
    memcpy(made->data, node->buffer, LIN_DATA_BYTES);
    return LIN_DO_REPORT;
}

/* Ends a response that went wrong; one that was overdue has been reported. */
static uint32_t fail(lin_node_t *node, lin_outcome_t outcome, uint32_t now)
{
    uint32_t received = node->position < node->bytes ? node->position : node->bytes - 1u;

    node->response_error = true;
    node->state = LIN_STATE_IDLE;
    return node->overdue ? 0 : report(node, outcome, received, now);
}

/* Our response can't go on. */
static uint32_t fail_sending(lin_node_t *node, uint32_t now)
{
    return fail(node, LIN_BIT_ERROR, now) | LIN_DO_STOP;
}

static uint32_t fall_asleep(lin_node_t *node, uint32_t bytes, uint32_t now)
{
    node->state = LIN_STATE_ASLEEP;
    node->header_sent = LIN_NO_IDENTIFIER;
    return report(node, LIN_ASLEEP, bytes, now);
}

/* Told to sleep by a frame of `bytes`: what is still to be sent is not for when it is awake. */
static uint32_t obey_sleep(lin_node_t *node, uint32_t bytes, uint32_t now)
{
    uint32_t done = fall_asleep(node, bytes, now);

    node->header_wanted = LIN_NO_IDENTIFIER;
    return done;
}

/* Nothing has been on the bus for long enough. Who asks for something meanwhile may have seen it awake. */
static uint32_t sleep_by_idleness(lin_node_t *node, uint32_t now)
{
    uint32_t done = fall_asleep(node, 0, now);

    COMPILER_BARRIER();
    if (node->header_wanted != LIN_NO_IDENTIFIER || node->schedules[node->chosen].count != 0) {
        node->waking = true;
    }
    return done;
}

/* A header is complete: answers it, listens, or waits for the next break. */
static inline uint32_t begin_response(lin_node_t *node, uint32_t identifier, uint32_t now)
{
    uint32_t number = node->by_identifier[identifier];

    node->counters.headers++;
    node->header_sent = LIN_NO_IDENTIFIER;
    node->wake_pulses = 0;
    node->state = LIN_STATE_IDLE;
    if (number == 0) {
        return 0;
    }
    const lin_frame_t *frame = &node->frames[number - 1];
    uint32_t direction = frame->direction;
    node->identifier = (uint8_t)identifier;
    node->position = 0;
    node->bytes = (uint8_t)(frame->bytes + 1);
    node->overdue = false;
    node->start = now;
    if (direction != LIN_PUBLISH) {
        /* It may have been removed by now. */
        node->state = direction == LIN_SUBSCRIBE ? LIN_STATE_RECEIVE : LIN_STATE_IDLE;
        return 0;
    }
    uint32_t written = frame->written;
    if (written == 0 || ((frame->flags & LIN_ONCE) != 0 && written == frame->sent)) {
        node->counters.unanswered++;
        return 0;
    }
    const lin_image_t *image = &frame->images[written & 1];
    memcpy(node->buffer, image->data, LIN_DATA_BYTES);
    node->buffer[frame->bytes] = image->checksum;
    if (node->response_error && frame->error_bit != LIN_NO_BIT) {
        node->buffer[frame->error_bit / 8] |= (uint8_t)(1u << frame->error_bit % 8);
        node->buffer[frame->bytes] = image->error_checksum;
    }
    node->latched = written;
    node->state = LIN_STATE_SEND;
    return LIN_DO_SEND | node->buffer[0];
}

/* The frame whose response ends. NULL if it has been removed meanwhile, and if another has its identifier. */
static inline lin_frame_t *ending_frame(lin_node_t *node, lin_direction_t direction)
{
    uint32_t number = node->by_identifier[node->identifier];

    if (number == 0) {
        return NULL;
    }
    lin_frame_t *frame = &node->frames[number - 1];
    return frame->direction == direction && frame->bytes + 1u == node->bytes ? frame : NULL;
}

static uint32_t finish_sending(lin_node_t *node, uint32_t now)
{
    lin_frame_t *frame = ending_frame(node, LIN_PUBLISH);

    node->state = LIN_STATE_IDLE;
    if (frame != NULL) {
        frame->sent = node->latched;
        if (frame->error_bit != LIN_NO_BIT) {
            node->response_error = false;
        }
    }
    uint32_t done = report(node, LIN_SENT, node->bytes - 1u, now);
    if (node->identifier == LIN_COMMANDER_REQUEST && node->buffer[0] == LIN_GO_TO_SLEEP) {
        return obey_sleep(node, node->bytes - 1u, now);
    }
    return done;
}

/* Takes a byte of our own response back from the wire. */
static inline uint32_t read_back(lin_node_t *node, uint32_t byte, uint32_t flags, uint32_t now)
{
    if (flags != 0 || byte != node->buffer[node->position]) {
        return fail_sending(node, now);
    }
    if (++node->position < node->bytes) {
        return LIN_DO_SEND | node->buffer[node->position];
    }
    return finish_sending(node, now);
}

static uint32_t finish_receiving(lin_node_t *node, uint32_t now)
{
    lin_frame_t *frame = ending_frame(node, LIN_SUBSCRIBE);
    uint32_t bytes = node->bytes - 1u;

    node->state = LIN_STATE_IDLE;
    if (frame == NULL) {
        return 0;
    }
    if (lin_checksum((frame->flags & LIN_CLASSIC) != 0, lin_protect(node->identifier),
                     node->buffer, bytes)
        != node->buffer[bytes]) {
        return fail(node, LIN_BAD_CHECKSUM, now);
    }
    if (now - node->start > node->bit_cycles * MOST_BITS_PER_BYTE * node->bytes) {
        node->counters.late++;
    }
    memcpy(frame->images[(frame->written + 1) & 1].data, node->buffer, LIN_DATA_BYTES);
    COMPILER_BARRIER();
    frame->written++;
    uint32_t done = report(node, LIN_RECEIVED, bytes, now);
    if (node->identifier == LIN_COMMANDER_REQUEST && node->buffer[0] == LIN_GO_TO_SLEEP) {
        return obey_sleep(node, bytes, now);
    }
    return done;
}

static inline uint32_t take_data(lin_node_t *node, uint32_t byte, uint32_t flags, uint32_t now)
{
    if (flags != 0) {
        return fail(node, LIN_BAD_CHARACTER, now);
    }
    node->buffer[node->position++] = (uint8_t)byte;
    return node->position == node->bytes ? finish_receiving(node, now) : 0;
}

/* `ready_ms` behind this, nodes are ready for headers. */
static uint32_t wake_up(lin_node_t *node, uint32_t ready_ms, uint32_t now)
{
    node->state = LIN_STATE_IDLE;
    node->ready_ms = (uint8_t)ready_ms;
    return report(node, LIN_AWAKE, 0, now);
}

/* A header ends early. Nothing need follow a break that woke us: it may have been a wake-up signal. */
static uint32_t end_header(lin_node_t *node, uint32_t now)
{
    bool may_be_signal = node->woken && node->state == LIN_STATE_SYNC;

    node->state = LIN_STATE_IDLE;
    return may_be_signal ? 0 : report(node, LIN_BAD_HEADER, 0, now);
}

/* A break begins a header, whatever was under way. */
static uint32_t take_break(lin_node_t *node, uint32_t now)
{
    uint32_t done = 0;
    bool wakes = node->state == LIN_STATE_ASLEEP;

    switch (node->state) {
    case LIN_STATE_ASLEEP:
        done = wake_up(node, READY_MS + SIGNAL_MOST_MS, now);
        break;
    case LIN_STATE_SYNC:
    case LIN_STATE_IDENTIFIER:
        done = end_header(node, now);
        break;
    case LIN_STATE_SEND:
        done = fail_sending(node, now);
        break;
    case LIN_STATE_RECEIVE:
        if (node->position == 0) {
            done = report(node, LIN_NO_RESPONSE, 0, now);
        } else {
            done = fail(node, LIN_INCOMPLETE, now);
        }
        break;
    default:
        break;
    }
    node->state = LIN_STATE_SYNC;
    node->woken = wakes;
    node->start = now;
    return done;
}

static uint32_t fail_header(lin_node_t *node, lin_outcome_t outcome, uint32_t byte, uint32_t now)
{
    node->state = LIN_STATE_IDLE;
    node->identifier = (uint8_t)(byte & (LIN_IDENTIFIERS - 1));
    node->buffer[0] = (uint8_t)byte;
    return report(node, outcome, 1, now);
}

/* A byte while asleep: the start bit and the zeros behind it are dominant. */
static uint32_t look_for_wake_up(lin_node_t *node, uint32_t byte, uint32_t now)
{
    uint32_t bits = 1u + (uint32_t)__builtin_ctz(byte | 1u << 8);

    return bits < node->wake_bits ? 0 : wake_up(node, READY_MS, now);
}

uint32_t lin_receive(lin_node_t *node, uint32_t byte, uint32_t flags, uint32_t now)
{
    node->idle_ms = 0;
    if (UNLIKELY((flags & LIN_CHARACTER_BREAK) != 0)) {
        return take_break(node, now);
    }
    switch (node->state) {
    case LIN_STATE_IDENTIFIER:
        if (flags != 0 || byte != lin_protect(byte & (LIN_IDENTIFIERS - 1))) {
            return fail_header(node, LIN_BAD_PARITY, byte, now);
        }
        return begin_response(node, byte & (LIN_IDENTIFIERS - 1), now);
    case LIN_STATE_SEND:
        return read_back(node, byte, flags, now);
    case LIN_STATE_RECEIVE:
        return take_data(node, byte, flags, now);
    case LIN_STATE_SYNC:
        if (flags != 0 || byte != LIN_SYNC) {
            return fail_header(node, LIN_BAD_SYNC, byte, now);
        }
        node->state = LIN_STATE_IDENTIFIER;
        return 0;
    case LIN_STATE_ASLEEP:
        return look_for_wake_up(node, byte, now);
    default:
        return 0;
    }
}

/* A response that is longer under way than one may be. */
static uint32_t look_for_late_response(lin_node_t *node, uint32_t now)
{
    if (now - node->start <= node->bit_cycles * MOST_BITS_PER_BYTE * node->bytes) {
        return 0;
    }
    if (node->state == LIN_STATE_SEND) {
        return fail_sending(node, now);
    }
    if (node->position == 0) {
        node->state = LIN_STATE_IDLE;
        return report(node, LIN_NO_RESPONSE, 0, now);
    }
    if (node->overdue) {
        return 0;
    }
    /* It is reported now, but may still be taken until the next break (section 2.3.2). */
    uint32_t done = fail(node, LIN_INCOMPLETE, now);
    node->state = LIN_STATE_RECEIVE;
    node->overdue = true;
    return done;
}

static uint32_t look_for_late_header(lin_node_t *node, uint32_t now)
{
    if (now - node->start <= node->bit_cycles * MOST_HEADER_BITS) {
        return 0;
    }
    return end_header(node, now);
}

uint32_t lin_tick(lin_node_t *node, uint32_t now)
{
    uint32_t done = 0;

    switch (node->state) {
    case LIN_STATE_ASLEEP:
        return lin_wake_tick(node);
    case LIN_STATE_SYNC:
    case LIN_STATE_IDENTIFIER:
        done = look_for_late_header(node, now);
        break;
    case LIN_STATE_SEND:
    case LIN_STATE_RECEIVE:
        done = look_for_late_response(node, now);
        break;
    default:
        break;
    }
    /* Between headers of a schedule the bus does not idle, however long its slots are. */
    node->idle_ms = node->schedules[node->chosen].count != 0 ? 0 : node->idle_ms + 1;
    /* The first tick may have come right behind what was on the bus. */
    if (node->idle_ms > IDLE_SLEEP_MS && node->header_wanted == LIN_NO_IDENTIFIER) {
        return done | sleep_by_idleness(node, now);
    }
    if (node->ready_ms != 0) {
        node->ready_ms--;
        return done | lin_wake_tick(node);
    }
    uint32_t header = lin_schedule_tick(node);
    if ((header & LIN_DO_HEADER) == 0) {
        return done | lin_wake_tick(node);
    }
    if (node->header_sent != LIN_NO_IDENTIFIER) {
        if (done == 0) {
            done = report(node, LIN_BAD_HEADER, 0, now);
        }
        /* It may not have left: the port waits as long as the bus is low. */
        done |= LIN_DO_STOP;
    }
    node->header_sent = (uint8_t)(header & LIN_DO_BYTE);
    return done | header;
}
