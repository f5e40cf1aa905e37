#include "apps/idle.h"

#include <generated/csr.h>

#include "mmio.h"
#include "report.h"
#include "tier.h"

enum { CALIBRATION_ROUNDS = 256 };

static uint32_t rounds;
static uint32_t calibration_cycles;

uint32_t idle_clock(void)
{
#ifdef CONFIG_CPU_TYPE_TIERV
    return CSR_READ(CSR_MCYCLE);
#elif defined(MAILBOX_CYCLE_ADDR)
    return mmio_read(MAILBOX_CYCLE_ADDR);
#else
#error "this CPU has no clock that idle_clock() knows"
#endif
}

/* Arithmetic that takes every issue slot. Not inlined, so that every round is the same code. */
static __attribute__((noinline)) void spend(void)
{
    uint32_t a = 1;
    uint32_t b = 2;

    __asm__ volatile(".rept 28\n"
                     "add %0, %0, %1\n"
                     "xor %1, %1, %0\n"
                     ".endr\n"
                     : "+r"(a), "+r"(b));
}

void idle_spend(void)
{
    spend();
    rounds++;
}

void idle_calibrate(void)
{
    /* The first rounds fill whatever caches and predictors there are. */
    for (uint32_t i = 0; i < 4; i++) {
        idle_spend();
    }
    uint32_t start = idle_clock();
    for (uint32_t i = 0; i < CALIBRATION_ROUNDS; i++) {
        idle_spend();
    }
    calibration_cycles = idle_clock() - start;
    rounds = 0;
}

uint32_t idle_cycles(void)
{
    return (uint32_t)((uint64_t)rounds * calibration_cycles / CALIBRATION_ROUNDS);
}
