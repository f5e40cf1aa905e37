/* UDP over IPv4 (RFC 768, RFC 1122 section 4.1): parse and emit.
 *
 * offset  0       2            4       6
 *         source  destination  length  checksum
 *         port    port
 */
#ifndef TIERV_NET_WIRE_UDP_H
#define TIERV_NET_WIRE_UDP_H

#include <stdbool.h>

#include "../bytes.h"
#include "../checksum.h"
#include "../compiler.h"
#include "../counters.h"
#include "ipv4.h"

enum {
    UDP_HEADER_BYTES = 8,
    UDP_CHECKSUM_OFFSET = 6
};

typedef struct {
    be16_t source_port;
    be16_t length;
    be16_t checksum; /* 0: none */
    uint32_t bytes;  /* length in host order: header and payload */
} udp_header_t;

/* Reads the header of a datagram (two-byte aligned) in `bytes` bytes of IPv4 payload. After WIRE_OK
 * header->bytes lies between UDP_HEADER_BYTES and `bytes`; the checksum is not verified. */
INLINE net_counter_t udp_parse(const uint8_t *datagram, uint32_t bytes, udp_header_t *header)
{
    if (UNLIKELY(bytes < UDP_HEADER_BYTES)) {
        return COUNT_UDP_DROP_SHORT;
    }
    header->source_port = get_be16(datagram);
    header->length = get_be16(datagram + 4);
    header->checksum = get_be16(datagram + UDP_CHECKSUM_OFFSET);
    header->bytes = be16_to_host(header->length);
    if (UNLIKELY(header->bytes < UDP_HEADER_BYTES || header->bytes > bytes)) {
        return COUNT_UDP_DROP_LENGTH;
    }
    return WIRE_OK;
}

/* The partial sum of the pseudo-header, given that of its addresses. */
static inline uint32_t udp_pseudo_sum(be16_t length, uint32_t addresses_sum)
{
    return addresses_sum + BE16(IPV4_PROTOCOL_UDP) + length;
}

/* The source and the destination port, once udp_parse() has found a header. */
static inline be16_t udp_source_port(const uint8_t *datagram)
{
    return get_be16(datagram);
}

static inline be16_t udp_destination_port(const uint8_t *datagram)
{
    return get_be16(datagram + 2);
}

static inline void udp_put_destination_port(uint8_t *datagram, be16_t port)
{
    put_be16(datagram + 2, port);
}

/* The length in wire order, likewise. */
static inline be16_t udp_length(const uint8_t *datagram)
{
    return get_be16(datagram + 4);
}

/* Puts the folded sum of what the pseudo-header has beside the addresses where the checksum shall be: whoever
 * completes it adds the addresses, which lie before the datagram, and the datagram. */
static inline void udp_put_unsummed(uint8_t *datagram, be16_t length)
{
    uint32_t sum = udp_pseudo_sum(length, 0);

    put_be16(datagram + UDP_CHECKSUM_OFFSET, sum + (sum >> 16));
}

/* Exchanges the ports; the checksum stays right. */
static inline void udp_swap_ports(uint8_t *datagram)
{
    be16_t source_port = get_be16(datagram);

    put_be16(datagram, get_be16(datagram + 2));
    put_be16(datagram + 2, source_port);
}

/* The partial sum of the ports. */
static inline uint32_t udp_ports_sum(const uint8_t *datagram)
{
    return get_be16(datagram) + get_be16(datagram + 2);
}

/* Puts the checksum of a datagram whose partial sum, with its pseudo-header and without the checksum, is
 * `sum`. One of 0 is sent as 0xffff, as 0 means none. */
static inline void udp_put_sum(uint8_t *datagram, uint32_t sum)
{
    be16_t checksum = checksum_field(sum);

    put_be16(datagram + UDP_CHECKSUM_OFFSET, checksum != 0 ? checksum : 0xffffu);
}

/* Writes a header. `addresses_sum` and `payload_sum` are partial sums of the two addresses and of
 * the payload. */
void udp_emit(uint8_t *datagram, be16_t source_port, be16_t destination_port,
              uint32_t payload_bytes, uint32_t addresses_sum, uint32_t payload_sum);

/* Writes a header with udp_put_unsummed(). */
void udp_emit_unsummed(uint8_t *datagram, be16_t source_port, be16_t destination_port,
                       uint32_t payload_bytes);

#endif
