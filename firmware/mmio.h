/* Registers of devices: the only place that says volatile. */
#ifndef TIERV_MMIO_H
#define TIERV_MMIO_H

#include <stdint.h>

static inline uint32_t mmio_read(uintptr_t address)
{
    return *(const volatile uint32_t *)address;
}

static inline void mmio_write(uintptr_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

/* Waits until all accesses before have ended. */
static inline void mmio_wait(void)
{
    __asm__ volatile("fence" : : : "memory");
}

#endif
