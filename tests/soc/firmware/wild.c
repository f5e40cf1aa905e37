/* Reads and writes `address`, where nothing is, and reports the bus errors and the time taken. */
#include "mmio.h"

uint32_t address = 0xE0000000;

int main(void)
{
    result_write(0, mmio_read(CSR_CTRL_BUS_ERRORS_ADDR));
    uint32_t start = cycle_read();
    result_write(1, mmio_read(address));
    result_write(2, cycle_read() - start);
    mmio_write(address, 1);
    result_write(3, mmio_read(CSR_CTRL_BUS_ERRORS_ADDR));
    return 0;
}
