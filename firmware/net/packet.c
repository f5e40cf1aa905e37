#include "packet.h"

#include "checksum.h"

void packet_fill(packet_t *packet, const uint8_t *from, uint32_t bytes)
{
    uint8_t *to = packet->frame;

    if (bytes > NET_BUFFER_BYTES) {
        bytes = NET_BUFFER_BYTES;
    }
    packet->length_bytes = (uint16_t)bytes;
    packet->flags = 0;
    if (bytes < 16) {
        (void)checksum_copy(to, from, bytes);
        return;
    }
    /* The word at 12 is half Ethernet, half IPv4. */
    uint32_t straddling = get_word(from + 12);
    put_word(to, get_word(from));
    put_word(to + 4, get_word(from + 4));
    put_word(to + 8, get_word(from + 8));
    put_word(to + 12, straddling);
    packet->sum = (straddling >> 16) + checksum_copy_words(to + 16, from + 16, bytes - 16);
    packet->flags = PACKET_FRAME_SUMMED;
}

bool packet_write(packet_t *packet, const void *from, uint32_t bytes)
{
    if (bytes > PACKET_PAYLOAD_BYTES) {
        return false;
    }
    packet->sum = checksum_copy(packet_payload(packet), from, bytes);
    packet->payload_bytes = (uint16_t)bytes;
    packet->flags = PACKET_PAYLOAD_SUMMED;
    return true;
}
