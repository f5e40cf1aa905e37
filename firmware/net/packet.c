#include "packet.h"

void packet_fill(packet_t *packet, const uint8_t *from, uint32_t bytes)
{
    packet_fill_inline(packet, from, bytes);
}

bool packet_write(packet_t *packet, const void *from, uint32_t bytes)
{
    if (bytes > PACKET_PAYLOAD_BYTES) {
        return false;
    }
    packet->sum = checksum_copy(packet_payload(packet), from, bytes);
    packet->payload_bytes = (uint16_t)bytes;
    /* A reply to what was sent to many has another source than that. */
    packet->flags = (uint8_t)((packet->flags & PACKET_BROADCAST) | PACKET_PAYLOAD_SUMMED);
    return true;
}
