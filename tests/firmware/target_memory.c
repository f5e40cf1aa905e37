/* What GCC calls, for programs without a C library; the interpreter counts its instructions too. */
#include <stddef.h>
#include <stdint.h>

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *at = to;

    while (bytes-- != 0) {
        *at++ = (uint8_t)value;
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *at = to;
    const uint8_t *next = from;

    while (bytes-- != 0) {
        *at++ = *next++;
    }
    return to;
}
