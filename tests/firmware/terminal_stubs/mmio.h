/* Registers of devices, in the place of firmware/mmio.h: terminal_board.c has them. */
#ifndef TIERV_MMIO_H
#define TIERV_MMIO_H

#include <stdint.h>

uint32_t mmio_read(uintptr_t address);
void mmio_write(uintptr_t address, uint32_t value);

#endif
