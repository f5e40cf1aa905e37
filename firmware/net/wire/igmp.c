#include "igmp.h"

#include "../checksum.h"
#include "ipv4.h"

net_counter_t igmp_parse(const uint8_t *at, uint32_t bytes, igmp_message_t *message)
{
    if (bytes < IGMP_BYTES) {
        return COUNT_IGMP_DROP_SHORT;
    }
    if (!checksum_is_good(checksum_sum(at, bytes))) {
        return COUNT_IGMP_DROP_CHECKSUM;
    }
    be16_t first = get_be16(at);
    message->type = first & 0xffu;
    message->response_ds = first >> 8;
    message->group = get_be32(at + 4);
    if (message->type != IGMP_QUERY && message->type != IGMP_REPORT
        && message->type != IGMP_REPORT_V1) {
        return COUNT_IGMP_DROP_TYPE;
    }
    return WIRE_OK;
}

void igmp_emit(uint8_t *at, uint32_t type, be32_t group)
{
    put_be16(at, type);
    put_be16(at + 2, checksum_field(type + ipv4_address_sum(group)));
    put_be32(at + 4, group);
}
