/* The Internet checksum (RFC 1071) of datagrams that begin at even and odd halfwords. */
#include "kernels.h"

enum { BYTES = 1472, DATAGRAMS = 4 };

/* Sums 32 bits at a time with the carries put off. `data` is at a halfword, `length` is even. */
static uint32_t checksum(const uint8_t *data, uint32_t length)
{
    uint64_t sum = 0;

    if ((uintptr_t)data & 2) {
        sum = *(const half_t *)(const void *)data;
        data += 2;
        length -= 2;
    }
    const word_t *words = (const word_t *)(const void *)data;
    for (; length >= 16; length -= 16, words += 4) {
        sum += words[0];
        sum += words[1];
        sum += words[2];
        sum += words[3];
    }
    for (; length >= 4; length -= 4) {
        sum += *words++;
    }
    if (length >= 2) {
        sum += *(const half_t *)(const void *)words;
    }
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint32_t)sum ^ 0xffff;
}

uint32_t kernel_checksum(void)
{
    static uint32_t packet[BYTES / 4 + 2];
    uint32_t state = 6;
    uint32_t hash = HASH_START;

    for (uint32_t index = 0; index < sizeof packet / sizeof packet[0]; index++) {
        packet[index] = random_next(&state) * 0x10001u;
    }
    for (uint32_t datagram = 0; datagram < DATAGRAMS; datagram++) {
        const uint8_t *data = (const uint8_t *)packet + 2 * (datagram & 1);
        hash = hash_add(hash, checksum(data, BYTES - 2 * datagram));
    }
    return hash;
}
