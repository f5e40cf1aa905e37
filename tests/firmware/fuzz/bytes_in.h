/* What a fuzzer gives, taken apart from its beginning; behind its end everything is 0. */
#ifndef TIERV_FUZZ_BYTES_IN_H
#define TIERV_FUZZ_BYTES_IN_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *at;
    size_t left;
} bytes_in_t;

static inline uint32_t take_byte(bytes_in_t *in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return *in->at++;
}

static inline uint32_t take_half(bytes_in_t *in)
{
    uint32_t low = take_byte(in);

    return low | take_byte(in) << 8;
}

/* At the most `bytes` of the bytes that are left, copied into memory of just their number, which the
 * caller frees; that number is written to `*taken`. */
static inline uint8_t *take_copy(bytes_in_t *in, size_t bytes, uint32_t *taken)
{
    size_t count = bytes < in->left ? bytes : in->left;
    uint8_t *copy = malloc(count);

    if (count != 0) {
        memcpy(copy, in->at, count);
    }
    in->at += count;
    in->left -= count;
    *taken = (uint32_t)count;
    return copy;
}

/* What must hold. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
