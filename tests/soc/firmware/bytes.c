/* Bytes and halves of words in external memory, stored and loaded again, past the caches. */
#include "mmio.h"
#include <generated/mem.h>
#include <generated/tierv.h>

#define BYTES (4u * TIERV_DCACHE_BYTES)
#define HALF 0x4000u

static uint8_t expected(uint32_t index)
{
    return (uint8_t)(index * 7u ^ index >> 8);
}

int main(void)
{
    volatile uint8_t *const bytes = (volatile uint8_t *)MAIN_RAM_BASE;

    /* The model of the memory needs no initialization but the controller's. */
    mmio_write(CSR_SDRAM_DFII_CONTROL_ADDR, 1);
    for (uint32_t index = 0; index < BYTES; index++)
        bytes[index] = expected(index);
    for (uint32_t index = 2; index < BYTES; index += 8)
        *(volatile uint16_t *)(MAIN_RAM_BASE + index) = HALF;
    for (uint32_t index = 0; index < BYTES; index++) {
        const uint8_t wanted = index % 8 == 2 ? (uint8_t)HALF : (uint8_t)(HALF >> 8);
        if (bytes[index] != (index % 8 == 2 || index % 8 == 3 ? wanted : expected(index)))
            return 1;
    }
    return 0;
}
