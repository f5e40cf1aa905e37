/* Copies words between local memory and a device's memory on the bus. */
#ifndef TIERV_DRIVERS_BUS_COPY_H
#define TIERV_DRIVERS_BUS_COPY_H

#include <stdint.h>

/* Copies `bytes` bytes, rounded up to words. A word takes three slots and, without wait states, the
 * bus three cycles; with tiers, the third slot is another tier's. */
void bus_copy(uint32_t *restrict to, const uint32_t *restrict from, uint32_t bytes);

#endif
