#include "apps/lin/host.h"

#include <string.h>

enum { AT_WHAT = 0, AT_PORT = 1, AT_IDENTIFIER = 2, AT_BYTES = 3, AT_NUMBER = 4, AT_DATA = 8 };

/* Counters from here on are outcomes. */
enum { FIRST_OUTCOME = 16 };

/* The mask of the board's ports. */
#define BOARD_PORTS ((1u << UARTS) - 1)

uint32_t lin_host_errors;
uint32_t lin_host_lost;

typedef struct {
    lin_host_peer_t peer;
    uint32_t ports;   /* a mask; 0: free */
    uint32_t renewed; /* number of the last request to watch */
} watcher_t;

static watcher_t watchers[LIN_WATCHERS];
static uint32_t watch_requests;

static uint32_t get_number(const uint8_t *record)
{
    const uint8_t *at = record + AT_NUMBER;

    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_number(uint8_t *record, uint32_t number)
{
    for (uint32_t index = 0; index < 4; index++) {
        record[AT_NUMBER + index] = (uint8_t)(number >> (24 - 8 * index));
    }
}

static bool is_same(lin_host_peer_t one, lin_host_peer_t other)
{
    return one.address == other.address && one.port == other.port;
}

/* Ports that a record means; 0 if the board lacks them. */
static uint32_t ports_of(uint32_t port)
{
    return (port == LIN_HOST_ALL_PORTS ? UINT32_MAX : port < 32 ? 1u << port : 0) & BOARD_PORTS;
}

/* Requests to watch since the watcher's last; the most for a place that is free. */
static uint32_t age_of(const watcher_t *watcher)
{
    return watcher->ports == 0 ? UINT32_MAX : watch_requests - watcher->renewed;
}

/* The peer's own place, or the one that is given to it. */
static watcher_t *place_for(lin_host_peer_t peer)
{
    watcher_t *oldest = &watchers[0];

    for (uint32_t index = 0; index < LIN_WATCHERS; index++) {
        if (is_same(watchers[index].peer, peer)) {
            return &watchers[index];
        }
        if (age_of(&watchers[index]) > age_of(oldest)) {
            oldest = &watchers[index];
        }
    }
    *oldest = (watcher_t){.peer = peer};
    return oldest;
}

static uint32_t watch(uint32_t port, lin_host_peer_t peer)
{
    if (ports_of(port) == 0 || peer.port == 0) {
        return LIN_HOST_NO_NODE;
    }
    watcher_t *place = place_for(peer);
    place->ports |= ports_of(port);
    place->renewed = ++watch_requests;
    return LIN_OK;
}

static void unwatch(uint32_t port, lin_host_peer_t peer)
{
    for (uint32_t index = 0; index < LIN_WATCHERS; index++) {
        if (is_same(watchers[index].peer, peer)) {
            watchers[index].ports &= ~ports_of(port);
        }
    }
}

uint32_t lin_host_watchers(uint32_t port)
{
    uint32_t mask = 0;

    for (uint32_t index = 0; index < LIN_WATCHERS; index++) {
        if ((watchers[index].ports & ports_of(port)) != 0) {
            mask |= 1u << index;
        }
    }
    return mask;
}

lin_host_peer_t lin_host_watcher(uint32_t index)
{
    return watchers[index].peer;
}

static uint32_t count(const lin_port_t *lin, uint8_t *record)
{
    const lin_counters_t *counters = &lin->node.counters;
    const uint32_t others[] = {counters->headers, counters->unanswered, counters->late,
                               counters->overruns, lin->reports_lost};
    uint32_t number = record[AT_IDENTIFIER];

    if (number < sizeof(others) / sizeof(others[0])) {
        put_number(record, others[number]);
    } else if (number >= FIRST_OUTCOME && number < FIRST_OUTCOME + LIN_OUTCOMES) {
        put_number(record, counters->outcomes[number - FIRST_OUTCOME]);
    } else {
        return LIN_HOST_NO_COUNTER;
    }
    return LIN_OK;
}

static uint32_t read(const lin_node_t *node, uint8_t *record)
{
    uint32_t bytes;
    uint32_t written;
    lin_result_t result
        = lin_read(node, record[AT_IDENTIFIER], record + AT_DATA, &bytes, &written);

    if (result == LIN_OK) {
        record[AT_BYTES] = (uint8_t)bytes;
        put_number(record, written);
    }
    return result;
}

/* The slots that a datagram has given since its last schedule, and why the first that was refused was. */
typedef struct {
    uint32_t count;
    uint32_t reason;
    lin_slot_t slots[LIN_SLOTS];
} slots_t;

static uint32_t add_slot(slots_t *slots, const uint8_t *record)
{
    uint32_t ms = get_number(record);

    if (slots->count == LIN_SLOTS) {
        return LIN_HOST_MANY_SLOTS;
    }
    if (ms == 0 || ms > UINT16_MAX) {
        return LIN_BAD_SLOT;
    }
    slots->slots[slots->count++]
        = (lin_slot_t){.identifier = record[AT_IDENTIFIER], .slot_ms = (uint16_t)ms};
    return LIN_OK;
}

/* What needs a node; 0 or why not. */
static uint32_t ask_node(lin_port_t *lin, uint8_t *record, slots_t *slots)
{
    lin_node_t *node = &lin->node;

    switch (record[AT_WHAT]) {
    case LIN_HOST_SET:
        return lin_write(node, record[AT_IDENTIFIER], record + AT_DATA, record[AT_BYTES]);
    case LIN_HOST_READ:
        return read(node, record);
    case LIN_HOST_HEADER:
        return lin_request_header(node, record[AT_IDENTIFIER]);
    case LIN_HOST_WAKE:
        lin_wake(node);
        return LIN_OK;
    case LIN_HOST_SLEEP:
        return lin_go_to_sleep(node);
    case LIN_HOST_SLOT:
        return add_slot(slots, record);
    case LIN_HOST_SCHEDULE:
        return slots->reason != LIN_OK ? slots->reason
                                       : (uint32_t)lin_schedule(node, slots->slots, slots->count);
    default:
        return count(lin, record);
    }
}

/* In its only caller it would be larger. */
static __attribute__((noinline)) uint32_t ask(uint8_t *record, slots_t *slots, lin_host_peer_t peer)
{
    lin_port_t *lin = lin_of_port(record[AT_PORT]);

    if (record[AT_WHAT] == LIN_HOST_WATCH) {
        return watch(record[AT_PORT], peer);
    }
    if (record[AT_WHAT] == LIN_HOST_UNWATCH) {
        unwatch(record[AT_PORT], peer);
        return LIN_OK;
    }
    return lin != NULL ? ask_node(lin, record, slots) : (uint32_t)LIN_HOST_NO_NODE;
}

/* What follows from the outcome of a request for the next schedule. */
static void keep_reason(slots_t *slots, uint32_t what, uint32_t reason)
{
    if (what == LIN_HOST_SCHEDULE) {
        slots->count = 0;
        slots->reason = LIN_OK;
    } else if (what == LIN_HOST_SLOT && slots->reason == LIN_OK) {
        slots->reason = reason;
    }
}

static bool is_well_formed(const uint8_t *payload, uint32_t bytes)
{
    if (bytes == 0 || bytes % LIN_HOST_RECORD_BYTES != 0
        || bytes > LIN_HOST_MOST_RECORDS * LIN_HOST_RECORD_BYTES) {
        return false;
    }
    for (uint32_t at = 0; at < bytes; at += LIN_HOST_RECORD_BYTES) {
        if (payload[at + AT_WHAT] == 0 || payload[at + AT_WHAT] >= LIN_HOST_REQUESTS) {
            return false;
        }
    }
    return true;
}

static void fail(uint8_t *record, uint32_t reason)
{
    record[AT_WHAT] |= LIN_HOST_FAILED;
    put_number(record, reason);
    lin_host_errors++;
}

uint32_t lin_host_answer(uint8_t *payload, uint32_t bytes, lin_host_peer_t peer)
{
    slots_t slots = {.count = 0, .reason = LIN_OK};

    if (!is_well_formed(payload, bytes)) {
        memset(payload, 0, LIN_HOST_RECORD_BYTES);
        fail(payload, LIN_HOST_MALFORMED);
        return LIN_HOST_RECORD_BYTES;
    }
    for (uint32_t at = 0; at < bytes; at += LIN_HOST_RECORD_BYTES) {
        uint8_t *record = payload + at;
        uint32_t reason = ask(record, &slots, peer);
        keep_reason(&slots, record[AT_WHAT], reason);
        if (reason == LIN_OK) {
            record[AT_WHAT] |= LIN_HOST_ANSWER;
        } else {
            fail(record, reason);
        }
    }
    return bytes;
}

void lin_host_put_report(uint8_t *record, uint32_t port, const lin_report_t *report)
{
    record[AT_WHAT] = (uint8_t)(LIN_HOST_REPORT + report->outcome);
    record[AT_PORT] = (uint8_t)port;
    record[AT_IDENTIFIER] = report->identifier;
    record[AT_BYTES] = report->bytes;
    put_number(record, report->cycle);
    memcpy(record + AT_DATA, report->data, LIN_DATA_BYTES);
}
