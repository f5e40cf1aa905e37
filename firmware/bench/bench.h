/* What a program of the bench of cores says to the bench. The page's offsets are those of
 * sim/cores/model.py. */
#ifndef TIERV_BENCH_H
#define TIERV_BENCH_H

#include <bench_device.h>
#include <stdint.h>

/* Which of the bench's pages; `offset` is one of DEVICE_... */
static inline void bench_write(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(DEVICE_BASE + offset) = value;
}

static inline uint32_t bench_read(uint32_t offset)
{
    return *(volatile uint32_t *)(DEVICE_BASE + offset);
}

/* Tells the bench that the program is here; it notes cycle and instructions. */
static inline void bench_mark(uint32_t value)
{
    bench_write(DEVICE_MARK, value);
}

/* Ends the run. */
__attribute__((noreturn)) static inline void bench_exit(uint32_t status)
{
    for (;;) {
        bench_write(DEVICE_EXIT, status);
    }
}

#endif
