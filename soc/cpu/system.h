/* What LiteX's software asks of every CPU. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <csr-defs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* fence.i drops fetched instructions and the lines of both caches. Stores go through the data cache,
 * so that there is nothing to write back: what was stored is in memory after a fence. */
__attribute__((unused)) static void flush_cpu_icache(void)
{
    asm volatile("fence.i" ::: "memory");
}

__attribute__((unused)) static void flush_cpu_dcache(void)
{
    asm volatile("fence\n\tfence.i" ::: "memory");
}

void flush_l2_cache(void);
void busy_wait(unsigned int ms);
void busy_wait_us(unsigned int us);

#define csrr(reg)                                       \
    ({                                                  \
        unsigned long value_;                           \
        asm volatile("csrr %0, " #reg : "=r"(value_));  \
        value_;                                         \
    })
#define csrw(reg, value) ({ asm volatile("csrw " #reg ", %0" : : "rK"(value)); })
#define csrs(reg, bits) ({ asm volatile("csrs " #reg ", %0" : : "rK"(bits)); })
#define csrc(reg, bits) ({ asm volatile("csrc " #reg ", %0" : : "rK"(bits)); })

#ifdef __cplusplus
}
#endif

#endif
