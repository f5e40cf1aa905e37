/* Interrupt control for LiteX's generic isr(): lines of tier 0. */
#ifndef IRQ_H
#define IRQ_H

#include <system.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline unsigned int irq_getie(void)
{
    return (csrr(mstatus) & CSR_MSTATUS_MIE) != 0;
}

static inline void irq_setie(unsigned int enable)
{
    if (enable)
        csrs(mstatus, CSR_MSTATUS_MIE);
    else
        csrc(mstatus, CSR_MSTATUS_MIE);
}

static inline unsigned int irq_getmask(void)
{
    unsigned int mask;
    asm volatile("csrr %0, %1" : "=r"(mask) : "i"(CSR_MLINEMASK));
    return mask;
}

static inline void irq_setmask(unsigned int mask)
{
    asm volatile("csrw %0, %1" : : "i"(CSR_MLINEMASK), "r"(mask));
}

static inline unsigned int irq_pending(void)
{
    unsigned int pending;
    asm volatile("csrr %0, %1" : "=r"(pending) : "i"(CSR_MLINEPEND));
    return pending;
}

#ifdef __cplusplus
}
#endif

#endif
