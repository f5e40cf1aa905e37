#include "checksum.h"

/* RV32 has no carry flag: a word costs load, add, compare, add, the same four instructions as two
 * halfwords would, but one load instead of two. */
#define ADD_WORD(word)                                                                             \
    do {                                                                                           \
        uint32_t word_ = (word);                                                                   \
        sum += word_;                                                                              \
        carries += sum < word_;                                                                    \
    } while (0)

#define COPY_WORD(i)                                                                               \
    do {                                                                                           \
        uint32_t copied_ = get_word(from + 4 * (i));                                               \
        put_word(to + 4 * (i), copied_);                                                           \
        ADD_WORD(copied_);                                                                         \
    } while (0)

/* Loads word i, two words before it is used: what comes from a bus is there by then. */
#define LOAD_WORD(variable, i) variable = get_word(from + 4 * (i))

/* The same of what is only summed: a load's word is there two instructions later. */
#define SUM_WORD(next, i, variable)                                                                \
    do {                                                                                           \
        next = get_word(data + 4 * (i));                                                           \
        ADD_WORD(variable);                                                                        \
    } while (0)

#define PUT_WORD(variable, i)                                                                      \
    do {                                                                                           \
        put_word(to + 4 * (i), variable);                                                          \
        ADD_WORD(variable);                                                                        \
    } while (0)

#define COPY_HALF(i)                                                                               \
    do {                                                                                           \
        be16_t copied_ = get_be16(from + 2 * (i));                                                 \
        put_be16(to + 2 * (i), copied_);                                                           \
        sum += copied_;                                                                            \
    } while (0)

static uint32_t partial(uint32_t sum, uint32_t carries)
{
    return (sum & 0xffffu) + (sum >> 16) + carries;
}

uint32_t checksum_sum(const uint8_t *data, uint32_t bytes)
{
    uint32_t sum = 0;
    uint32_t carries = 0;

    if (((uintptr_t)data & 2) != 0 && bytes >= 2) {
        sum = get_be16(data);
        data += 2;
        bytes -= 2;
    }
    for (; bytes >= 32; bytes -= 32) {
        uint32_t a = get_word(data);
        uint32_t b = get_word(data + 4);
        uint32_t c;
        uint32_t d;
        SUM_WORD(c, 2, a);
        SUM_WORD(d, 3, b);
        SUM_WORD(a, 4, c);
        SUM_WORD(b, 5, d);
        SUM_WORD(c, 6, a);
        SUM_WORD(d, 7, b);
        ADD_WORD(c);
        ADD_WORD(d);
        data += 32;
    }
    if ((bytes & 16) != 0) {
        uint32_t a = get_word(data);
        uint32_t b = get_word(data + 4);
        uint32_t c;
        uint32_t d;
        SUM_WORD(c, 2, a);
        SUM_WORD(d, 3, b);
        ADD_WORD(c);
        ADD_WORD(d);
        data += 16;
    }
    if ((bytes & 8) != 0) {
        uint32_t a = get_word(data);
        uint32_t b = get_word(data + 4);
        ADD_WORD(a);
        ADD_WORD(b);
        data += 8;
    }
    if ((bytes & 4) != 0) {
        ADD_WORD(get_word(data));
        data += 4;
    }
    if ((bytes & 2) != 0) {
        carries += get_be16(data);
        data += 2;
    }
    if ((bytes & 1) != 0) {
        carries += *data;
    }
    return partial(sum, carries);
}

uint32_t checksum_copy_words(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes)
{
    uint32_t sum = 0;
    uint32_t carries = 0;

    if (bytes >= 40) {
        uint32_t a;
        uint32_t b;
        uint32_t c;
        uint32_t d;
        LOAD_WORD(a, 0);
        LOAD_WORD(b, 1);
        do {
            LOAD_WORD(c, 2);
            PUT_WORD(a, 0);
            LOAD_WORD(d, 3);
            PUT_WORD(b, 1);
            LOAD_WORD(a, 4);
            PUT_WORD(c, 2);
            LOAD_WORD(b, 5);
            PUT_WORD(d, 3);
            LOAD_WORD(c, 6);
            PUT_WORD(a, 4);
            LOAD_WORD(d, 7);
            PUT_WORD(b, 5);
            LOAD_WORD(a, 8);
            PUT_WORD(c, 6);
            LOAD_WORD(b, 9);
            PUT_WORD(d, 7);
            from += 32;
            to += 32;
            bytes -= 32;
        } while (bytes >= 40);
        PUT_WORD(a, 0);
        PUT_WORD(b, 1);
        from += 8;
        to += 8;
        bytes -= 8;
    }
    for (; bytes >= 16; bytes -= 16) {
        COPY_WORD(0);
        COPY_WORD(1);
        COPY_WORD(2);
        COPY_WORD(3);
        from += 16;
        to += 16;
    }
    if ((bytes & 8) != 0) {
        COPY_WORD(0);
        COPY_WORD(1);
        from += 8;
        to += 8;
    }
    if ((bytes & 4) != 0) {
        COPY_WORD(0);
        from += 4;
        to += 4;
    }
    if ((bytes & 2) != 0) {
        be16_t copied = get_be16(from);
        put_be16(to, copied);
        carries += copied;
        from += 2;
        to += 2;
    }
    if ((bytes & 1) != 0) {
        *to = *from;
        carries += *from;
    }
    return partial(sum, carries);
}

/* `to` and `from` are two-byte aligned. Halves need no carry, so this costs six instructions for
 * four bytes where words cost five. */
static uint32_t copy_halves(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes)
{
    uint32_t sum = 0;

    for (; bytes >= 16; bytes -= 16) {
        COPY_HALF(0);
        COPY_HALF(1);
        COPY_HALF(2);
        COPY_HALF(3);
        COPY_HALF(4);
        COPY_HALF(5);
        COPY_HALF(6);
        COPY_HALF(7);
        from += 16;
        to += 16;
    }
    for (; bytes >= 2; bytes -= 2) {
        COPY_HALF(0);
        from += 2;
        to += 2;
    }
    if (bytes != 0) {
        *to = *from;
        sum += *from;
    }
    return partial(sum, 0);
}

/* `to` is two-byte aligned, `from` lies at an odd address. */
static uint32_t copy_bytes(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes)
{
    uint32_t sum = 0;

    for (; bytes >= 2; bytes -= 2) {
        be16_t half = from[0] | ((be16_t)from[1] << 8);
        put_be16(to, half);
        sum += half;
        from += 2;
        to += 2;
    }
    if (bytes != 0) {
        *to = *from;
        sum += *from;
    }
    return partial(sum, 0);
}

uint32_t checksum_copy(uint8_t *restrict to, const uint8_t *restrict from, uint32_t bytes)
{
    uint32_t head = 0;

    if (((uintptr_t)from & 1) != 0) {
        return copy_bytes(to, from, bytes);
    }
    if ((((uintptr_t)to ^ (uintptr_t)from) & 2) != 0) {
        return copy_halves(to, from, bytes);
    }
    if (((uintptr_t)to & 2) != 0 && bytes >= 2) {
        head = get_be16(from);
        put_be16(to, head);
        from += 2;
        to += 2;
        bytes -= 2;
    }
    return head + checksum_copy_words(to, from, bytes);
}
