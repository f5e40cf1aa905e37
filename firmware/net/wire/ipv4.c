#include "ipv4.h"

COLD net_counter_t ipv4_parse_unusual(const uint8_t *packet, uint32_t bytes, ipv4_header_t *header,
                                      uint32_t *header_bytes)
{
    if (bytes < IPV4_HEADER_BYTES) {
        return COUNT_IPV4_DROP_SHORT;
    }
    *header_bytes = (packet[0] & 0x0fu) * 4;
    header->total_bytes = get_u16(packet + 2);
    if (packet[0] >> 4 != 4) {
        return COUNT_IPV4_DROP_VERSION;
    }
    if (*header_bytes < IPV4_HEADER_BYTES || *header_bytes > bytes) {
        return COUNT_IPV4_DROP_HEADER_LENGTH;
    }
    if (header->total_bytes < *header_bytes || header->total_bytes > bytes) {
        return COUNT_IPV4_DROP_TOTAL_LENGTH;
    }
    if (!checksum_is_good(checksum_sum(packet, *header_bytes))) {
        return COUNT_IPV4_DROP_CHECKSUM;
    }
    if ((get_be16(packet + 6) & IPV4_FRAGMENT_MASK) != 0) {
        return COUNT_IPV4_DROP_FRAGMENT;
    }
    header->protocol = packet[9];
    header->source = get_be32(packet + 12);
    header->destination_half[0] = get_be16(packet + 16);
    header->destination_half[1] = get_be16(packet + 18);
    header->addresses_sum = ipv4_address_sum(header->source) + ipv4_address_sum(get_be32(packet + 16));
    return WIRE_OK;
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

void ipv4_emit_alert(uint8_t *packet, be32_t source, be32_t destination, uint32_t payload_bytes)
{
    ipv4_emit(packet, source, destination, IPV4_PROTOCOL_IGMP, 1,
              IPV4_ALERT_HEADER_BYTES - IPV4_HEADER_BYTES + payload_bytes);
    put_be16(packet, BE16(0x4600));
    put_be32(packet + IPV4_HEADER_BYTES, IPV4_ADDRESS(0x94, 4, 0, 0));
    put_be16(packet + 10, checksum_update(checksum_update(get_be16(packet + 10), BE16(0x4500),
                                                          BE16(0x4600)),
                                          0, BE16(0x9404)));
}
