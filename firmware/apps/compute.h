/* What an application computes while it is interrupted. */
#ifndef TIERV_APPS_COMPUTE_H
#define TIERV_APPS_COMPUTE_H

#include <stdint.h>

/* A round: loads, stores, arithmetic, multiplications and two divisions, always as many cycles. */
uint32_t compute(uint32_t value);

/* Takes a result, so that it is not optimised away. */
void compute_keep(uint32_t value);

#endif
