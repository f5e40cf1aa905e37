/* Access to the fields of a frame.
 *
 * Frames lie in word-aligned buffers, so every field of the protocols here lies on a two-byte
 * boundary and is read as one halfword (`lhu`); the IPv4 header begins at 14, so its words are
 * not word-aligned and a core without misaligned loads must not use `lw` on them.
 *
 * "be16_t" and "be32_t" hold bytes in the order of the wire, whatever the CPU makes of them as
 * numbers: they can be compared, copied and summed, and need no swap for that. Host order is
 * made only where a number is meant (lengths).
 */
#ifndef TIERV_NET_BYTES_H
#define TIERV_NET_BYTES_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "net/ is written for little-endian CPUs"
#endif

/* Wire order; a 16-bit field travels in a 32-bit register with the upper half zero. */
typedef uint32_t be16_t;
typedef uint32_t be32_t;

/* Frames are bytes for C; these types may alias them. */
typedef uint16_t __attribute__((may_alias)) half_t;
typedef uint32_t __attribute__((may_alias)) word_t;

/* Constant or variable, host order to wire order and back. */
#define BE16(value) ((((uint32_t)(value) & 0xffu) << 8) | (((uint32_t)(value) >> 8) & 0xffu))

/* An IPv4 address as it is written, in wire order. */
#define IPV4_ADDRESS(a, b, c, d)                                                                   \
    ((be32_t)(a) | ((be32_t)(b) << 8) | ((be32_t)(c) << 16) | ((be32_t)(d) << 24))

static inline uint32_t be16_to_host(be16_t value)
{
    return __builtin_bswap16((uint16_t)value);
}

static inline be16_t host_to_be16(uint32_t value)
{
    return __builtin_bswap16((uint16_t)value);
}

static inline uint32_t be32_to_host(be32_t value)
{
    return (value << 24) | ((value & 0xff00u) << 8) | ((value >> 8) & 0xff00u) | (value >> 24);
}

/* `at` is two-byte aligned in all of these but the word pair. */

static inline be16_t get_be16(const uint8_t *at)
{
    return *(const half_t *)at;
}

static inline uint32_t get_u16(const uint8_t *at)
{
    return be16_to_host(get_be16(at));
}

static inline be32_t get_be32(const uint8_t *at)
{
    return get_be16(at) | (get_be16(at + 2) << 16);
}

static inline void put_be16(uint8_t *at, be16_t value)
{
    *(half_t *)at = (uint16_t)value;
}

static inline void put_u16(uint8_t *at, uint32_t value)
{
    put_be16(at, host_to_be16(value));
}

static inline void put_be32(uint8_t *at, be32_t value)
{
    put_be16(at, value);
    put_be16(at + 2, value >> 16);
}

/* `at` is four-byte aligned. */

static inline uint32_t get_word(const uint8_t *at)
{
    return *(const word_t *)at;
}

static inline void put_word(uint8_t *at, uint32_t value)
{
    *(word_t *)at = value;
}

#endif
