/* What libliteeth wants of LiteX's csr.h, which has functions for registers only where it is asked for them. */
#ifndef TIERV_APPS_LITEETH_CSR_H
#define TIERV_APPS_LITEETH_CSR_H

#include <generated/csr.h>

#include "mmio.h"

#define READER(name, REGISTER)                                                                     \
    static inline uint32_t ethmac_##name##_read(void)                                              \
    {                                                                                              \
        return mmio_read(CSR_ETHMAC_##REGISTER##_ADDR);                                            \
    }

#define WRITER(name, REGISTER)                                                                     \
    static inline void ethmac_##name##_write(uint32_t value)                                       \
    {                                                                                              \
        mmio_write(CSR_ETHMAC_##REGISTER##_ADDR, value);                                           \
    }

READER(sram_reader_ready, SRAM_READER_READY)
WRITER(sram_reader_slot, SRAM_READER_SLOT)
WRITER(sram_reader_length, SRAM_READER_LENGTH)
WRITER(sram_reader_start, SRAM_READER_START)
WRITER(sram_reader_ev_pending, SRAM_READER_EV_PENDING)
READER(sram_writer_slot, SRAM_WRITER_SLOT)
READER(sram_writer_length, SRAM_WRITER_LENGTH)
READER(sram_writer_ev_pending, SRAM_WRITER_EV_PENDING)
WRITER(sram_writer_ev_pending, SRAM_WRITER_EV_PENDING)

#undef READER
#undef WRITER

#endif
