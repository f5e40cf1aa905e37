/* What hardware that looks at datagrams finds in a frame, for the stack on the host. */
#ifndef TIERV_TESTS_DATAGRAM_H
#define TIERV_TESTS_DATAGRAM_H

#include <stdbool.h>

#include "../../firmware/net/checksum.h"

/* True for a frame that is a datagram of UDP and nothing else: of IPv4 without options and no fragment, with
 * lengths to the frame's end, and with checksums that are there and right. */
static inline bool datagram_is_good(const uint8_t *frame, uint32_t bytes)
{
    const uint8_t *ip = frame + 14;
    const uint8_t *udp = ip + 20;
    uint32_t header_sum = 0;
    /* UDP's number in the pseudo-header. */
    uint32_t sum = 17;

    if (bytes < 42 || bytes > 1514 || frame[12] != 8 || frame[13] != 0) {
        return false;
    }
    for (uint32_t at = 14; at < bytes; at++) {
        uint32_t value = at % 2 == 0 ? (uint32_t)frame[at] << 8 : frame[at];
        header_sum += at < 34 ? value : 0;
        sum += at < 26 ? 0 : value;
    }
    sum += (uint32_t)udp[4] << 8 | udp[5];
    return ip[0] == 0x45 && ip[9] == 17 && (ip[6] & 0x3f) == 0 && ip[7] == 0
           && ((uint32_t)ip[2] << 8 | ip[3]) == bytes - 14
           && ((uint32_t)udp[4] << 8 | udp[5]) == bytes - 34 && (udp[6] != 0 || udp[7] != 0)
           && header_sum % 0xffff == 0 && sum % 0xffff == 0;
}

#endif
