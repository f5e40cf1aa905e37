/* Copies: bytes to anywhere, halfwords and words between aligned places, and a move within itself. */
#include "kernels.h"

enum { WORDS = 256, MOVED_BYTES = 300 };

static void copy_bytes(uint8_t *to, const uint8_t *from, uint32_t count)
{
    while (count-- != 0) {
        *to++ = *from++;
    }
}

static void copy_halves(half_t *to, const half_t *from, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        to[index] = from[index];
    }
}

static void copy_words(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (; count >= 4; count -= 4, to += 4, from += 4) {
        uint32_t first = from[0];
        uint32_t second = from[1];
        uint32_t third = from[2];
        uint32_t fourth = from[3];
        to[0] = first;
        to[1] = second;
        to[2] = third;
        to[3] = fourth;
    }
    while (count-- != 0) {
        *to++ = *from++;
    }
}

/* Upwards: from the last byte to the first. */
static void move_up(uint8_t *bytes, uint32_t distance, uint32_t count)
{
    while (count-- != 0) {
        bytes[count + distance] = bytes[count];
    }
}

uint32_t kernel_copy(void)
{
    static uint32_t source[WORDS], target[WORDS];
    uint32_t state = 5;
    uint32_t hash = HASH_START;

    for (int index = 0; index < WORDS; index++) {
        uint32_t high = random_next(&state);
        source[index] = high << 16 | random_next(&state);
    }
    copy_words(target, source, WORDS);
    copy_halves((half_t *)&target[8], (const half_t *)&source[64], 220);
    copy_bytes((uint8_t *)target + 3, (const uint8_t *)source + 601, 210);
    move_up((uint8_t *)target + 501, 10, MOVED_BYTES);
    copy_words(source, &target[1], WORDS - 1);
    for (int index = 0; index < WORDS; index++) {
        hash = hash_add(hash_add(hash, source[index]), target[index]);
    }
    return hash;
}
