/* Registers of the SoC, for the test programs. */
#ifndef MMIO_H
#define MMIO_H

#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>
#include <stdint.h>

static inline uint32_t mmio_read(uint32_t address)
{
    return *(volatile const uint32_t *)(uintptr_t)address;
}

static inline void mmio_write(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)address = value;
}

static inline void result_write(uint32_t index, uint32_t value)
{
    mmio_write(MAILBOX_RESULT0_ADDR + 4 * index, value);
}

static inline uint32_t cycle_read(void)
{
    return mmio_read(MAILBOX_CYCLE_ADDR);
}

#endif
