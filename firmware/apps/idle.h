/* How much of the processor is left: the application spends its time in rounds of known length. */
#ifndef TIERV_APPS_IDLE_H
#define TIERV_APPS_IDLE_H

#include <stdbool.h>
#include <stdint.h>

/* About. */
enum { IDLE_ROUND_CYCLES = 64 };

/* Measures a round. Before context_start(): nothing else may run. */
void idle_calibrate(void);

/* Spends rounds until *stop is true, at the most so many. Lets the services run
 * if nothing else makes them; what that takes does not count as idle. */
void idle_until(const volatile bool *stop, uint32_t most);

/* Cycles spent in rounds since the calibration. */
uint32_t idle_cycles(void);

/* Clock cycles, modulo 2^32. */
uint32_t idle_clock(void);

#endif
