#include "drivers/timer.h"

#include <generated/csr.h>

#include "mmio.h"

static void start(uint32_t cycles, uint32_t reload)
{
    mmio_write(CSR_TIMER0_EN_ADDR, 0);
    mmio_write(CSR_TIMER0_LOAD_ADDR, cycles);
    mmio_write(CSR_TIMER0_RELOAD_ADDR, reload);
    mmio_write(CSR_TIMER0_EV_PENDING_ADDR, 1);
    mmio_write(CSR_TIMER0_EV_ENABLE_ADDR, 1);
    mmio_write(CSR_TIMER0_EN_ADDR, 1);
}

void timer_start(uint32_t period_cycles)
{
    /* It loads in the cycle behind the one in which it reaches 0. */
    start(period_cycles, period_cycles - 1);
}

void timer_start_once(uint32_t cycles)
{
    start(cycles, 0);
}

bool timer_has_ticked(void)
{
    return (mmio_read(CSR_TIMER0_EV_PENDING_ADDR) & 1) != 0;
}

void timer_acknowledge(void)
{
    mmio_write(CSR_TIMER0_EV_PENDING_ADDR, 1);
}
