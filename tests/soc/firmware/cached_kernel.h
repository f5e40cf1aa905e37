/* Work that is timed where it runs: a checksum by table, and a sort, of WORDS words. */
#ifndef CACHED_KERNEL_H
#define CACHED_KERNEL_H

#include <stdint.h>

#define WORDS 256u
#define TABLE_ENTRIES 256u

typedef struct {
    uint32_t table[TABLE_ENTRIES];
    uint32_t words[WORDS];
} kernel_data_t;

/* Returns a checksum; always inlined, so that the caller's section decides where it runs. */
static inline __attribute__((always_inline)) uint32_t kernel(kernel_data_t *data)
{
    for (uint32_t entry = 0; entry < TABLE_ENTRIES; entry++) {
        uint32_t rest = entry;
        for (uint32_t bit = 0; bit < 8; bit++)
            rest = rest & 1u ? rest >> 1 ^ 0xEDB88320u : rest >> 1;
        data->table[entry] = rest;
    }
    uint32_t value = 1;
    for (uint32_t index = 0; index < WORDS; index++) {
        value = value * 1664525u + 1013904223u;
        data->words[index] = value;
    }
    for (uint32_t gap = WORDS / 2; gap != 0; gap /= 2)
        for (uint32_t next = gap; next < WORDS; next++) {
            const uint32_t moved = data->words[next];
            uint32_t place = next;
            for (; place >= gap && data->words[place - gap] > moved; place -= gap)
                data->words[place] = data->words[place - gap];
            data->words[place] = moved;
        }
    uint32_t sum = 0xFFFFFFFFu;
    for (uint32_t index = 0; index < WORDS; index++)
        for (uint32_t shift = 0; shift < 32; shift += 8)
            sum = sum >> 8 ^ data->table[(sum ^ data->words[index] >> shift) & 0xFFu];
    return ~sum;
}

#endif
