/* The kernels of the bench of cores: what small firmware does all day. Each makes its own input, works
 * on it and returns a hash of all that it has found; tests/firmware/kernel_reference.py says what it must be,
 * computed another way. They run hosted too. */
#ifndef TIERV_KERNELS_H
#define TIERV_KERNELS_H

#include <stdint.h>

uint32_t kernel_list(void);
uint32_t kernel_matrix(void);
uint32_t kernel_state(void);
uint32_t kernel_crc(void);
uint32_t kernel_copy(void);
uint32_t kernel_checksum(void);
uint32_t kernel_dhrystone(void);

/* Passes through the main loop of kernel_dhrystone(). */
enum { DHRYSTONE_PASSES = 200 };

/* Memory seen as words and halfwords, whatever else it is. */
typedef uint32_t __attribute__((may_alias)) word_t;
typedef uint16_t __attribute__((may_alias)) half_t;

/* The next number from 0 to 65535 of a linear congruential generator. */
static inline uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

#define HASH_START 2166136261u

static inline uint32_t hash_add(uint32_t hash, uint32_t value)
{
    return (hash ^ value) * 16777619u;
}

#endif
