/* How much of the processor is left: the application spends its time in rounds of known length. */
#ifndef TIERV_APPS_IDLE_H
#define TIERV_APPS_IDLE_H

#include <stdint.h>

/* Measures a round while nothing else runs; interrupts off. */
void idle_calibrate(void);

/* A round, some 64 cycles. */
void idle_spend(void);

/* Cycles spent in rounds so far, as the calibration counts them. */
uint32_t idle_cycles(void);

/* Clock cycles, modulo 2^32. */
uint32_t idle_clock(void);

#endif
