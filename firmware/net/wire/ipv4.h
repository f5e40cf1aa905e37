/* IPv4 (RFC 791, RFC 1122 section 3.2): parse and emit.
 *
 * offset  0       1       2           4       6            8     9         10        12      16
 *         version type of total       identi- flags,       time  protocol  header    source  desti-
 *         and IHL service length      fication fragment    to              checksum          nation
 *                                              offset      live
 */
#ifndef TIERV_NET_WIRE_IPV4_H
#define TIERV_NET_WIRE_IPV4_H

#include <stdbool.h>

#include "../bytes.h"
#include "../checksum.h"
#include "../compiler.h"
#include "../counters.h"

enum {
    IPV4_HEADER_BYTES = 20,
    IPV4_SOURCE_OFFSET = 12,
    /* With the router alert option (RFC 2113). */
    IPV4_ALERT_HEADER_BYTES = 24,
    IPV4_PROTOCOL_ICMP = 1,
    IPV4_PROTOCOL_IGMP = 2,
    IPV4_PROTOCOL_UDP = 17
};

#define IPV4_BROADCAST IPV4_ADDRESS(255, 255, 255, 255)

/* Of the field with flags and fragment offset: more fragments, or an offset. */
#define IPV4_FRAGMENT_MASK BE16(0x3fff)

typedef struct {
    uint32_t total_bytes;
    uint32_t protocol;
    be32_t source;
    be16_t destination_half[2];
    uint32_t addresses_sum; /* partial sum of both addresses, for the pseudo-header */
} ipv4_header_t;

static inline be32_t ipv4_source(const uint8_t *packet)
{
    return get_be32(packet + IPV4_SOURCE_OFFSET);
}

/* The partial sum of an address. */
static inline uint32_t ipv4_address_sum(be32_t address)
{
    return (address & 0xffffu) + (address >> 16);
}

/* The same as ipv4_parse() for a header with or without options, which has `*header_bytes` bytes after
 * WIRE_OK; what the options say is not looked at. */
net_counter_t ipv4_parse_unusual(const uint8_t *packet, uint32_t bytes, ipv4_header_t *header,
                                 uint32_t *header_bytes);

/* Reads the header of a packet (two-byte aligned) in a frame that has room for `bytes` bytes of it.
 *
 * After WIRE_OK the header has twenty bytes and a good checksum, total_bytes lies between
 * that and `bytes`, and the packet is no fragment. COUNT_IPV4_DROP_OPTIONS stands for every header
 * that does not say "version 4, twenty bytes"; ipv4_parse_unusual() looks closer.
 */
INLINE net_counter_t ipv4_parse(const uint8_t *packet, uint32_t bytes, ipv4_header_t *header)
{
    if (UNLIKELY(bytes < IPV4_HEADER_BYTES)) {
        return COUNT_IPV4_DROP_SHORT;
    }
    be16_t version = get_be16(packet);
    if (UNLIKELY((version & 0xffu) != 0x45u)) {
        return COUNT_IPV4_DROP_OPTIONS;
    }
    be16_t total = get_be16(packet + 2);
    be16_t fragment = get_be16(packet + 6);
    be16_t protocol = get_be16(packet + 8);
    be16_t source_half[2] = {get_be16(packet + 12), get_be16(packet + 14)};
    header->destination_half[0] = get_be16(packet + 16);
    header->destination_half[1] = get_be16(packet + 18);
    header->addresses_sum = source_half[0] + source_half[1] + header->destination_half[0]
                            + header->destination_half[1];
    header->source = source_half[0] | (source_half[1] << 16);
    header->protocol = protocol >> 8;
    header->total_bytes = be16_to_host(total);

    uint32_t sum = version + total + get_be16(packet + 4) + fragment + protocol
                   + get_be16(packet + 10) + header->addresses_sum;
    if (UNLIKELY(header->total_bytes < IPV4_HEADER_BYTES || header->total_bytes > bytes)) {
        return COUNT_IPV4_DROP_TOTAL_LENGTH;
    }
    if (UNLIKELY(!checksum_is_good(sum))) {
        return COUNT_IPV4_DROP_CHECKSUM;
    }
    if (UNLIKELY((fragment & IPV4_FRAGMENT_MASK) != 0)) {
        return COUNT_IPV4_DROP_FRAGMENT;
    }
    return WIRE_OK;
}

/* True if the address can be one host's: not "this network" (0/8), loopback (127/8), multicast or
 * reserved (224/3), by its first byte. */
static inline bool ipv4_is_host(be32_t address)
{
    uint32_t first = address & 0xffu;

    return first - 1 < 223 && first != 127;
}

static inline bool ipv4_is_multicast(be32_t address)
{
    return (address & 0xf0u) == 0xe0u;
}

/* Exchanges the addresses; the checksum stays right. Returns their partial sum. */
static inline uint32_t ipv4_swap_addresses(uint8_t *packet)
{
    be16_t source[2] = {get_be16(packet + 12), get_be16(packet + 14)};
    be16_t destination[2] = {get_be16(packet + 16), get_be16(packet + 18)};

    put_be16(packet + 12, destination[0]);
    put_be16(packet + 14, destination[1]);
    put_be16(packet + 16, source[0]);
    put_be16(packet + 18, source[1]);
    return source[0] + source[1] + destination[0] + destination[1];
}

/* Sets the time to live and keeps the checksum right. */
static inline void ipv4_set_ttl(uint8_t *packet, uint32_t ttl)
{
    be16_t before = get_be16(packet + 8);
    be16_t after = (before & 0xff00u) | ttl;

    if (UNLIKELY(before != after)) {
        put_be16(packet + 8, after);
        put_be16(packet + 10, checksum_update(get_be16(packet + 10), before, after));
    }
}

/* Writes a header of twenty bytes for `payload_bytes` bytes that must not be fragmented; as such
 * packets need none, the identification is 0 (RFC 6864 section 4.1). */
void ipv4_emit(uint8_t *packet, be32_t source, be32_t destination, uint32_t protocol, uint32_t ttl,
               uint32_t payload_bytes);

/* Writes the IPV4_ALERT_HEADER_BYTES of a header with the router alert option, for `payload_bytes` of
 * IGMP that stay in the subnet. */
void ipv4_emit_alert(uint8_t *packet, be32_t source, be32_t destination, uint32_t payload_bytes);

#endif
