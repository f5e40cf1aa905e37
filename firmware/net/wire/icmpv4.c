#include "icmpv4.h"

#include "../checksum.h"

net_counter_t icmpv4_parse_echo(const uint8_t *message, uint32_t bytes, uint32_t sum)
{
    if (bytes < ICMPV4_HEADER_BYTES) {
        return COUNT_ICMP_DROP_SHORT;
    }
    if (!checksum_is_good(sum)) {
        return COUNT_ICMP_DROP_CHECKSUM;
    }
    if (get_be16(message) != BE16(ICMPV4_ECHO_REQUEST << 8)) {
        return COUNT_ICMP_DROP_TYPE;
    }
    return WIRE_OK;
}

void icmpv4_turn_echo(uint8_t *message)
{
    be16_t before = get_be16(message);
    be16_t after = BE16(ICMPV4_ECHO_REPLY << 8);
    be16_t checksum = checksum_update(get_be16(message + 2), before, after);

    put_be16(message, after);
    /* The update can't tell a sum of 0 from one of 0xffff, and a reply may be all zeros
     * (identifier, sequence number and data 0). The field 0xffff is right for both. */
    put_be16(message + 2, checksum != 0 ? checksum : 0xffffu);
}

uint32_t icmpv4_emit_unreachable(uint8_t *message, uint32_t code, const uint8_t *packet,
                                 uint32_t packet_bytes)
{
    uint32_t quoted = packet_bytes < ICMPV4_QUOTED_BYTES ? packet_bytes : ICMPV4_QUOTED_BYTES;
    be16_t first = host_to_be16(ICMPV4_UNREACHABLE << 8 | code);
    uint32_t sum = checksum_copy(message + ICMPV4_HEADER_BYTES, packet, quoted);

    put_be16(message, first);
    put_be16(message + 2, checksum_field(sum + first));
    put_be32(message + 4, 0);
    return ICMPV4_HEADER_BYTES + quoted;
}
