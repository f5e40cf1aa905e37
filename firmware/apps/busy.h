/* Something to compute for an application that is to be busy. */
#ifndef TIERV_APPS_BUSY_H
#define TIERV_APPS_BUSY_H

#include <stdint.h>

/* Other than 0: the services' application computes while it has nothing else to do. */
extern uint32_t services_compute;

/* Rounds so far. */
extern uint32_t busy_rounds;

/* A few hundred cycles of loads, stores, multiplications and divisions, local and on the bus. */
void busy_round(void);

#endif
