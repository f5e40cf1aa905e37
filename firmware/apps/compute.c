#include "apps/compute.h"

static uint32_t table[16];
static volatile uint32_t kept;

__attribute__((noinline)) uint32_t compute(uint32_t value)
{
    for (uint32_t i = 0; i < 16; i++) {
        value = value * 1664525u + 1013904223u;
        table[i] ^= value >> 7;
        value += table[(value >> 16) & 15];
        if ((i & 7) == 0) {
            value /= (table[i] & 0xff) + 3;
        }
    }
    return value;
}

void compute_keep(uint32_t value)
{
    kept = value;
}
