/* ICMP for IPv4 (RFC 792, RFC 1122 section 3.2.2): echo request to echo reply, and destination
 * unreachable.
 *
 * offset  0     1     2         4           6
 *         type  code  checksum  identifier  sequence number
 */
#ifndef TIERV_NET_WIRE_ICMPV4_H
#define TIERV_NET_WIRE_ICMPV4_H

#include "../bytes.h"
#include "../counters.h"

enum {
    ICMPV4_HEADER_BYTES = 8,
    ICMPV4_ECHO_REPLY = 0,
    ICMPV4_UNREACHABLE = 3,
    ICMPV4_ECHO_REQUEST = 8,
    /* Codes of ICMPV4_UNREACHABLE. */
    ICMPV4_NO_PROTOCOL = 2,
    ICMPV4_NO_PORT = 3,
    /* Of the packet that is unreachable an error returns header and data, as much as 576 bytes in all
     * hold (RFC 1812 section 4.3.2.3), without IPv4 header and its own. */
    ICMPV4_QUOTED_BYTES = 576 - 20 - ICMPV4_HEADER_BYTES
};

/* WIRE_OK for an echo request in `bytes` bytes (two-byte aligned) whose partial sum is `sum`;
 * otherwise what is wrong with it. */
net_counter_t icmpv4_parse_echo(const uint8_t *message, uint32_t bytes, uint32_t sum);

/* Turns an echo request into its reply; the checksum is updated, not summed again. */
void icmpv4_turn_echo(uint8_t *message);

/* Writes "destination unreachable" around the beginning of `packet`, which is `packet_bytes` long;
 * both are two-byte aligned. Returns the bytes of the message. */
uint32_t icmpv4_emit_unreachable(uint8_t *message, uint32_t code, const uint8_t *packet,
                                 uint32_t packet_bytes);

#endif
