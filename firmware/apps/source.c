#include "apps/source.h"

#include "apps/network.h"

uint32_t source_bad_requests;

/* What is still to be sent. */
static struct {
    uint32_t count;
    uint32_t bytes;
    udp_asker_t asker;
} job;

/* Reads a decimal number and the blanks behind it; false if there is none or it is too large. */
static bool read_number(const uint8_t **text, const uint8_t *end, uint32_t *value)
{
    const uint8_t *start = *text;

    *value = 0;
    while (*text != end && **text >= '0' && **text <= '9') {
        if (*value > 100000000) {
            return false;
        }
        *value = *value * 10 + (uint32_t)(*(*text)++ - '0');
    }
    if (*text == start) {
        return false;
    }
    while (*text != end && (**text == ' ' || **text == '\n' || **text == '\r')) {
        (*text)++;
    }
    return true;
}

static void take_request(packet_t *packet)
{
    const uint8_t *text = packet_payload(packet);
    const uint8_t *end = text + packet->payload_bytes;
    uint32_t count;
    uint32_t bytes;

    if (!read_number(&text, end, &count) || !read_number(&text, end, &bytes) || text != end
        || bytes > PACKET_PAYLOAD_BYTES || packet->peer_port == 0) {
        source_bad_requests++;
        return;
    }
    job.count = count;
    job.bytes = bytes;
    job.asker = udp_asker(packet);
}

static __attribute__((noinline)) bool serve(udp_socket_t *socket)
{
    packet_t *packet;
    bool any = false;

    /* As many as may wait, at the most, so that others have their turn however many come. */
    for (uint32_t left = UDP_SOCKET_SLOTS; left != 0 && (packet = udp_receive(socket)) != NULL; left--) {
        take_request(packet);
        udp_release(&network, packet);
        any = true;
    }
    while (job.count != 0 && (packet = udp_reserve(&network)) != NULL) {
        /* The payload is whatever the buffer held, but for a number that counts down. */
        packet->payload_bytes = (uint16_t)job.bytes;
        if (job.bytes >= 4) {
            uint8_t *payload = packet_payload(packet);
            put_be16(payload, host_to_be16(job.count >> 16));
            put_be16(payload + 2, host_to_be16(job.count & 0xffff));
        }
        if (udp_answer(&network, packet, &job.asker) != UDP_OK) {
            udp_release(&network, packet);
            break;
        }
        job.count--;
        any = true;
    }
    return any;
}

bool source_service(udp_socket_t *socket)
{
    return UNLIKELY(job.count != 0 || !udp_is_empty(socket)) && serve(socket);
}
