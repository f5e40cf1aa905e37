#include "drivers/timer.h"

#include <generated/csr.h>

#include "mmio.h"

void timer_start(uint32_t period_cycles)
{
    mmio_write(CSR_TIMER0_EN_ADDR, 0);
    mmio_write(CSR_TIMER0_LOAD_ADDR, period_cycles);
    mmio_write(CSR_TIMER0_RELOAD_ADDR, period_cycles);
    mmio_write(CSR_TIMER0_EV_PENDING_ADDR, 1);
    mmio_write(CSR_TIMER0_EV_ENABLE_ADDR, 1);
    mmio_write(CSR_TIMER0_EN_ADDR, 1);
}

void timer_acknowledge(void)
{
    mmio_write(CSR_TIMER0_EV_PENDING_ADDR, 1);
}
