#include "apps/idle.h"

#include <generated/csr.h>

#include "context.h"
#include "mmio.h"

enum { CALIBRATION_ROUNDS = 256 };

static uint32_t rounds;
static bool calibrated;
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

/* Arithmetic that takes every issue slot. */
static inline void spend(void)
{
    uint32_t a = 1;
    uint32_t b = 2;

    __asm__ volatile(".rept 28\n"
                     "add %0, %0, %1\n"
                     "xor %1, %1, %0\n"
                     ".endr\n"
                     : "+r"(a), "+r"(b));
}

void idle_calibrate(void)
{
    static const volatile bool never = false;

    /* The first rounds fill whatever caches and predictors there are. */
    idle_until(&never, 4);
    uint32_t start = idle_clock();
    idle_until(&never, CALIBRATION_ROUNDS);
    calibration_cycles = idle_clock() - start;
    calibrated = true;
    rounds = 0;
}

__attribute__((noinline)) void idle_until(const volatile bool *stop, uint32_t most)
{
    uint32_t spent = 0;

    while (spent != most && !*stop) {
        if (CONTEXT_MUST_YIELD && calibrated) {
            context_wait();
        }
        spend();
        spent++;
    }
    rounds += spent;
}

uint32_t idle_cycles(void)
{
    return (uint32_t)((uint64_t)rounds * calibration_cycles / CALIBRATION_ROUNDS);
}
