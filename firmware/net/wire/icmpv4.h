/* ICMP for IPv4 (RFC 792, RFC 1122 section 3.2.2): echo request to echo reply.
 *
 * offset  0     1     2         4           6
 *         type  code  checksum  identifier  sequence number
 */
#ifndef TIERV_NET_WIRE_ICMPV4_H
#define TIERV_NET_WIRE_ICMPV4_H

#include "../bytes.h"
#include "../counters.h"

enum { ICMPV4_HEADER_BYTES = 8, ICMPV4_ECHO_REPLY = 0, ICMPV4_ECHO_REQUEST = 8 };

/* WIRE_OK for an echo request in `bytes` bytes (two-byte aligned) whose partial sum is `sum`;
 * otherwise what is wrong with it. */
net_counter_t icmpv4_parse_echo(const uint8_t *message, uint32_t bytes, uint32_t sum);

/* Turns an echo request into its reply; the checksum is updated, not summed again. */
void icmpv4_turn_echo(uint8_t *message);

#endif
