/* Waits `wait_cycles`, counting the frames that the MAC delivers, and reports its counters. */
#include "mmio.h"

uint32_t wait_cycles = 100000;

int main(void)
{
    uint32_t delivered = 0;
    while (cycle_read() < wait_cycles) {
        if (mmio_read(CSR_ETHMAC_SRAM_WRITER_EV_PENDING_ADDR)) {
            result_write(3 + delivered, mmio_read(CSR_ETHMAC_SRAM_WRITER_LENGTH_ADDR));
            mmio_write(CSR_ETHMAC_SRAM_WRITER_EV_PENDING_ADDR, 1);
            delivered++;
        }
    }
    result_write(0, delivered);
    result_write(1, mmio_read(CSR_ETHMAC_RX_DATAPATH_CRC_ERRORS_ADDR));
    result_write(2, mmio_read(CSR_ETHMAC_RX_DATAPATH_PREAMBLE_ERRORS_ADDR));
    return 0;
}
