/* Ethernet II (IEEE 802.3 clause 3): parse and emit.
 *
 * The header is 6 bytes destination, 6 bytes source, 2 bytes type. Frames are word-aligned, so the
 * destination is read as word and half, the source as half and word.
 */
#ifndef TIERV_NET_WIRE_ETHERNET_H
#define TIERV_NET_WIRE_ETHERNET_H

#include <stdbool.h>

#include "../bytes.h"
#include "../compiler.h"
#include "../counters.h"

enum {
    ETHERNET_HEADER_BYTES = 14,
    /* Without FCS. */
    ETHERNET_MIN_BYTES = 60,
    ETHERNET_MAX_BYTES = 1514,
    ETHERNET_ADDRESS_BYTES = 6
};

/* Types, in wire order. */
#define ETHERNET_TYPE_IPV4 BE16(0x0800)
#define ETHERNET_TYPE_ARP BE16(0x0806)

/* An address as the three halves of which it consists on the wire. */
typedef struct {
    uint16_t half[3];
} ethernet_address_t;

static const ethernet_address_t ethernet_broadcast = {{0xffff, 0xffff, 0xffff}};

/* Address of an IPv4 multicast group (RFC 1112 section 6.4). */
static inline ethernet_address_t ethernet_of_group(be32_t group)
{
    ethernet_address_t address = {
        {BE16(0x0100), (uint16_t)(0x5eu | (group & 0x7f00u)), (uint16_t)(group >> 16)}};

    return address;
}

typedef struct {
    uint32_t destination_word; /* bytes 0 to 3 */
    uint32_t destination_half; /* bytes 4 and 5 */
    uint32_t source_half;      /* bytes 6 and 7 */
    be16_t type;
} ethernet_header_t;

/* Reads the header of a word-aligned frame. After WIRE_OK the frame has at least a header and at
 * the most ETHERNET_MAX_BYTES. */
INLINE net_counter_t ethernet_parse(const uint8_t *frame, uint32_t bytes, ethernet_header_t *header)
{
    if (UNLIKELY(bytes - ETHERNET_HEADER_BYTES > ETHERNET_MAX_BYTES - ETHERNET_HEADER_BYTES)) {
        return bytes < ETHERNET_HEADER_BYTES ? COUNT_ETHERNET_DROP_SHORT : COUNT_ETHERNET_DROP_LONG;
    }
    header->destination_word = get_word(frame);
    header->destination_half = get_be16(frame + 4);
    header->source_half = get_be16(frame + 6);
    header->type = get_be16(frame + 12);
    return WIRE_OK;
}

/* True for an address that is no single station's: the lowest bit of its first byte. */
static inline bool ethernet_is_group(uint32_t first_half)
{
    return (first_half & 1) != 0;
}

static inline ethernet_address_t ethernet_get_address(const uint8_t *at)
{
    ethernet_address_t address = {
        {(uint16_t)get_be16(at), (uint16_t)get_be16(at + 2), (uint16_t)get_be16(at + 4)}};
    return address;
}

static inline void ethernet_put_address(uint8_t *at, const ethernet_address_t *address)
{
    put_be16(at, address->half[0]);
    put_be16(at + 2, address->half[1]);
    put_be16(at + 4, address->half[2]);
}

static inline bool ethernet_address_equal(const ethernet_address_t *a, const ethernet_address_t *b)
{
    return a->half[0] == b->half[0] && a->half[1] == b->half[1] && a->half[2] == b->half[2];
}

/* Writes the header but for the destination. */
static inline void ethernet_emit(uint8_t *frame, const ethernet_address_t *source, be16_t type)
{
    ethernet_put_address(frame + 6, source);
    put_be16(frame + 12, type);
}

/* Sends a frame back: the source becomes the destination; the new source is given as its first two
 * bytes and the four after them. */
static inline void ethernet_turn(uint8_t *frame, uint32_t us_half, uint32_t us_word)
{
    uint32_t half = get_be16(frame + 6);
    uint32_t word = get_word(frame + 8);

    put_word(frame, half | (word << 16));
    put_be16(frame + 4, word >> 16);
    put_be16(frame + 6, us_half);
    put_word(frame + 8, us_word);
}

/* The length of a frame with `bytes` bytes of content: trailing padding that it carries, being
 * `carried` bytes long in all, is kept only as far as the minimum needs it. */
static inline uint32_t ethernet_trimmed_bytes(uint32_t bytes, uint32_t carried)
{
    if (bytes >= ETHERNET_MIN_BYTES) {
        return bytes;
    }
    return carried < ETHERNET_MIN_BYTES ? carried : ETHERNET_MIN_BYTES;
}

/* Fills a frame of `bytes` bytes with zeros up to the minimum and returns its length. */
static inline uint32_t ethernet_pad(uint8_t *frame, uint32_t bytes)
{
    if (LIKELY(bytes >= ETHERNET_MIN_BYTES)) {
        return bytes;
    }
    if ((bytes & 1) != 0) {
        frame[bytes++] = 0;
    }
    for (; bytes < ETHERNET_MIN_BYTES; bytes += 2) {
        put_be16(frame + bytes, 0);
    }
    return ETHERNET_MIN_BYTES;
}

#endif
