/* The Internet checksum (RFC 1071) and its update (RFC 1624).
 *
 * A "partial sum" is a 32-bit number that is congruent modulo 0xffff to the sum of the 16-bit words
 * of some bytes in memory order. RFC 1071 section 2(B): the byte order does not matter as long as
 * the result is stored in the order in which it was summed, so nothing is swapped here. Each
 * partial sum that these functions return is below 2^19; adding up to 2^12 of them can't overflow.
 * Bytes at odd offsets of what is summed must lie at odd addresses.
 */
#ifndef TIERV_NET_CHECKSUM_H
#define TIERV_NET_CHECKSUM_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

/* The partial sum of `bytes` bytes at `data`, which is two-byte aligned; below 2^16 bytes. */
uint32_t checksum_sum(const uint8_t *data, uint32_t bytes);

/* Copies `bytes` bytes from `from` (any alignment) to `to` (two-byte aligned), which don't overlap,
 * and returns their partial sum; below 2^16 bytes. */
uint32_t checksum_copy(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes);

/* The same where both are word-aligned: five instructions a word. */
uint32_t checksum_copy_words(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes);

/* A partial sum folded to 16 bits. Adding the number to itself with its halves
 * exchanged leaves the folded sum, end-around carry included, in the upper half. */
static inline uint32_t checksum_fold(uint32_t sum)
{
    return (sum + ((sum << 16) | (sum >> 16))) >> 16;
}

/* The checksum field for data with this partial sum. */
static inline be16_t checksum_field(uint32_t sum)
{
    return checksum_fold(sum) ^ 0xffffu;
}

/* True if the partial sum of data with its checksum, not 0 and below 2^32 - 2^16, folds to 0xffff.
 * Upper plus lower half is then 0xffff, with no carry left to fold. */
static inline bool checksum_is_good(uint32_t sum)
{
    return sum + (sum << 16) >= 0xffff0000u;
}

/* The checksum field after one 16-bit word under it changed from `before` to `after`
 * (RFC 1624 equation 3). For data that are not all zero afterwards. */
static inline be16_t checksum_update(be16_t field, be16_t before, be16_t after)
{
    return checksum_field((field ^ 0xffffu) + (before ^ 0xffffu) + after);
}

#endif
