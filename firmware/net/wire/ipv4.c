#include "ipv4.h"

COLD net_counter_t ipv4_check_unusual(const uint8_t *packet, uint32_t bytes)
{
    uint32_t header_bytes = (packet[0] & 0x0fu) * 4;
    uint32_t total_bytes = get_u16(packet + 2);

    if (packet[0] >> 4 != 4) {
        return COUNT_IPV4_DROP_VERSION;
    }
    if (header_bytes < IPV4_HEADER_BYTES || header_bytes > bytes) {
        return COUNT_IPV4_DROP_HEADER_LENGTH;
    }
    if (total_bytes < header_bytes || total_bytes > bytes) {
        return COUNT_IPV4_DROP_TOTAL_LENGTH;
    }
    if (!checksum_is_good(checksum_sum(packet, header_bytes))) {
        return COUNT_IPV4_DROP_CHECKSUM;
    }
    return COUNT_IPV4_DROP_OPTIONS;
}

void ipv4_emit(uint8_t *packet, be32_t source, be32_t destination, uint32_t protocol, uint32_t ttl,
               uint32_t payload_bytes)
{
    be16_t total = host_to_be16(IPV4_HEADER_BYTES + payload_bytes);
    be16_t ttl_protocol = ttl | (protocol << 8);
    uint32_t sum = BE16(0x4500) + total + BE16(0x4000) + ttl_protocol + ipv4_address_sum(source)
                   + ipv4_address_sum(destination);

    put_be16(packet, BE16(0x4500));
    put_be16(packet + 2, total);
    put_be16(packet + 4, 0);
    put_be16(packet + 6, BE16(0x4000)); /* don't fragment */
    put_be16(packet + 8, ttl_protocol);
    put_be16(packet + 10, checksum_field(sum));
    put_be32(packet + 12, source);
    put_be32(packet + 16, destination);
}
