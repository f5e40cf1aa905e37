#include "apps/terminal/control.h"

#include <stddef.h>

/* A command that changes something needs no more than SETTING_BYTES for the value of its answer, so that
 * what has been done can be told. */
enum { ITEM_BYTES = 2, ERROR_BYTES = ITEM_BYTES + 2, SETTING_BYTES = 8 };

/* An answer that is being written. There is always room for one error more. */
typedef struct {
    uint8_t *start;
    uint32_t bytes;
    uint32_t room;
    uint32_t errors;
} writer_t;

static void write_error(writer_t *writer, uint32_t code, terminal_reason_t reason)
{
    uint8_t *at = writer->start + writer->bytes;

    at[0] = TERMINAL_ERROR;
    at[1] = 2;
    at[2] = (uint8_t)code;
    at[3] = (uint8_t)reason;
    writer->bytes += ERROR_BYTES;
    writer->errors++;
}

/* One command; false if no further one has room for its answer. */
static bool perform(writer_t *writer, control_port_t *port, const uint8_t *item,
                    control_peer_t sender)
{
    uint8_t *at = writer->start + writer->bytes;
    uint32_t room = writer->room - writer->bytes;
    uint32_t bytes = 0;
    terminal_reason_t reason = TERMINAL_REASON_NO_ROOM;

    if (room >= ITEM_BYTES + SETTING_BYTES + ERROR_BYTES) {
        room -= ITEM_BYTES + ERROR_BYTES;
        reason = control_perform(port, item[0], item + ITEM_BYTES, item[1], sender, at + ITEM_BYTES,
                                 room < UINT8_MAX ? room : UINT8_MAX, &bytes);
    }
    if (reason != TERMINAL_OK) {
        write_error(writer, item[0], reason);
        return reason != TERMINAL_REASON_NO_ROOM;
    }
    at[0] = (uint8_t)(item[0] + TERMINAL_ANSWER);
    at[1] = (uint8_t)bytes;
    writer->bytes += ITEM_BYTES + bytes;
    return true;
}

static terminal_reason_t check_header(control_port_t *const *ports, uint32_t count,
                                      const uint8_t *request, uint32_t bytes)
{
    if (request[0] != TERMINAL_VERSION) {
        return TERMINAL_REASON_BAD_VERSION;
    }
    if (request[1] >= count || ports[request[1]] == NULL) {
        return TERMINAL_REASON_BAD_PORT;
    }
    return bytes > TERMINAL_REQUEST_BYTES ? TERMINAL_REASON_BAD_LENGTH : TERMINAL_OK;
}

control_outcome_t control_answer(control_port_t *const *ports, uint32_t count,
                                 const uint8_t *request, uint32_t bytes, control_peer_t sender,
                                 uint8_t *answer, uint32_t room)
{
    control_outcome_t outcome = {.port = -1};
    writer_t writer = {.start = answer, .bytes = TERMINAL_HEADER_BYTES, .room = room};
    uint32_t at = TERMINAL_HEADER_BYTES;
    uint32_t commands = 0;

    if (bytes < TERMINAL_HEADER_BYTES) {
        return outcome;
    }
    answer[0] = TERMINAL_VERSION;
    answer[1] = request[1];
    answer[2] = request[2];
    terminal_reason_t reason = check_header(ports, count, request, bytes);
    if (reason != TERMINAL_OK) {
        write_error(&writer, TERMINAL_ERROR, reason);
    } else {
        outcome.port = request[1];
        bool goes_on = true;
        while (goes_on && at != bytes) {
            commands++;
            if (bytes - at < ITEM_BYTES || bytes - at - ITEM_BYTES < request[at + 1]) {
                write_error(&writer, request[at], TERMINAL_REASON_BAD_LENGTH);
                break;
            }
            goes_on = perform(&writer, ports[request[1]], request + at, sender);
            at += ITEM_BYTES + (uint32_t)request[at + 1];
        }
    }
    outcome.answer_bytes = writer.bytes;
    outcome.errors = writer.errors;
    outcome.is_from_client = commands > writer.errors;
    return outcome;
}
