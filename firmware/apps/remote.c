#include "apps/remote.h"

#include <stdio.h>
#include <string.h>

#include "apps/command.h"
#include "apps/network.h"

/* Room for the answer's first line: number, part, status. */
enum { HEADER_BYTES = REMOTE_NUMBER_DIGITS + 1 + 4 + 1 + 5 + 1, MOST_PARTS = 9999 };

static udp_socket_t socket_;
static command_call_t call;

/* The answer that is being written; NULL while there is no packet for it. */
static packet_t *answer;
static uint32_t used;
static uint32_t part;
static char number[REMOTE_NUMBER_DIGITS + 1];
static udp_asker_t asker;

static void append(void *context, const char *text, uint32_t bytes)
{
    (void)context;
    memcpy(packet_payload(answer) + used, text, bytes);
    used += bytes;
}

static void begin_part(packet_t *packet)
{
    answer = packet;
    used = HEADER_BYTES;
}

/* Blanks fill what the first line leaves of its room. */
static void send_part(const char *status)
{
    char header[HEADER_BYTES + 1];
    int length = snprintf(header, sizeof(header), "%s %lu %s", number, (unsigned long)part, status);

    memset(header + length, ' ', (size_t)(HEADER_BYTES - length));
    header[HEADER_BYTES - 1] = '\n';
    memcpy(packet_payload(answer), header, HEADER_BYTES);
    answer->payload_bytes = (uint16_t)used;
    if (udp_answer(&network, answer, &asker) != UDP_OK) {
        udp_release(&network, answer);
    }
    answer = NULL;
    part = part < MOST_PARTS ? part + 1 : MOST_PARTS;
}

/* Reads the number of a request, and returns how many bytes it and its blank have, or 0. */
static uint32_t read_number(const char *text, uint32_t bytes)
{
    uint32_t digits = 0;

    while (digits < bytes && digits < REMOTE_NUMBER_DIGITS && text[digits] >= '0'
           && text[digits] <= '9') {
        number[digits] = text[digits];
        digits++;
    }
    number[digits] = '\0';
    return digits != 0 && digits < bytes && text[digits] == ' ' ? digits + 1 : 0;
}

/* True if there is a command to be run. */
static bool take_request(packet_t *packet)
{
    const char *text = (const char *)packet_payload(packet);
    uint32_t bytes = packet->payload_bytes;
    char line[COMMAND_INPUT_BYTES];

    asker = udp_asker(packet);
    while (bytes != 0 && (text[bytes - 1] == '\n' || text[bytes - 1] == '\r')) {
        bytes--;
    }
    uint32_t skip = read_number(text, bytes);
    uint32_t line_bytes = bytes - skip;
    /* The answer is written over the request. A line that is too long only has to be known as one. */
    memcpy(line, text + skip, line_bytes < sizeof(line) ? line_bytes : sizeof(line));
    call.sink = append;
    part = 0;
    begin_part(packet);
    if (skip == 0) {
        memcpy(number, "-", 2);
        call.failed = false;
        return command_error(&call, "a request is a number, a blank and a command");
    }
    return command_begin(&call, line, line_bytes);
}

static const char *last_status(void)
{
    return call.failed ? "error" : "ok";
}

/* False if there is no packet to write into. */
static bool has_answer(void)
{
    if (answer == NULL) {
        packet_t *packet = udp_reserve(&network);
        if (packet == NULL) {
            return false;
        }
        begin_part(packet);
    }
    return true;
}

/* Goes on with the command; false if there is no packet for its answer. */
static bool run(void)
{
    while (call.command != NULL) {
        if (!has_answer()) {
            return false;
        }
        if (!command_step(&call)) {
            send_part(last_status());
        } else if (used + COMMAND_LINE_BYTES > PACKET_PAYLOAD_BYTES) {
            send_part("more");
        }
    }
    return true;
}

static __attribute__((noinline)) bool serve(void)
{
    packet_t *packet;
    bool any = call.command != NULL && has_answer();

    /* As many as may wait, at the most, so that others have their turn however many come. */
    for (uint32_t left = UDP_SOCKET_SLOTS; run() && left != 0 && (packet = udp_receive(&socket_)) != NULL; left--) {
        any = true;
        if (!take_request(packet)) {
            send_part(last_status());
        }
    }
    return any;
}

bool remote_service(void)
{
    return UNLIKELY(call.command != NULL || !udp_is_empty(&socket_)) && serve();
}

void remote_init(void)
{
    udp_init(&socket_, NULL, NULL);
    (void)udp_bind_service(&network, &socket_, REMOTE_PORT);
}
