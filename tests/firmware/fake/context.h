/* In the place of firmware/context.h: the driver has what is here. */
#ifndef TIERV_CONTEXT_H
#define TIERV_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "net/compiler.h"
#include "tier.h"

#ifdef CONTEXT_TIERS
#define CONTEXTS TIERS_USED
#else
#define CONTEXTS 1
#endif

#undef CSR_READ
#define CSR_READ(csr) fake_csr(csr)
uint32_t fake_csr(uint32_t csr);

uint32_t context_lock(void);
void context_unlock(uint32_t before);
uint32_t context_lock_all(void);
void context_unlock_all(uint32_t before);
void context_post_protocol(void);

#endif
