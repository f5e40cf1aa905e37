#include "apps/busy.h"

#include "report.h"

SET_BEFORE_RUN uint32_t services_compute = 0;

uint32_t busy_rounds;

enum { WORDS = 16 };

static uint32_t near[WORDS];
static SET_BEFORE_RUN_LARGE uint32_t far[WORDS];

/* So that it is not optimised away. */
static uint32_t computed;

void busy_round(void)
{
    uint32_t value = computed;

    for (uint32_t index = 0; index < WORDS; index++) {
        value = value * 1664525u + 1013904223u;
        near[index] ^= value >> 7;
        far[index] += near[(value >> 16) % WORDS];
        if (index % 8 == 0) {
            value /= (near[index] & 0xff) + 3;
        }
    }
    busy_rounds++;
    computed = value ^ far[value % WORDS];
}
