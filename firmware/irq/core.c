/* Lines as the core has them: priorities in mlineprio, stamps in mlinestamp. Elsewhere their order is
 * software's. */
#include <stddef.h>

#include "context.h"
#include "irq/table.h"

#if IRQ_HAS_CLAIM

/* The number of a CSR is part of the instruction, so that each line has two instructions of its own. */
__attribute__((naked, noinline)) uint32_t irq_stamp(uint32_t claim)
{
    (void)claim;
    __asm__("slli   a0, a0, 3\n"
            "1: auipc  t0, %%pcrel_hi(.L_stamps - 8)\n"
            "add    t0, t0, a0\n"
            "jr     %%pcrel_lo(1b)(t0)\n"
            ".L_stamps:\n"
            ".set   line, 0\n"
            ".rept  %0\n"
            "csrr   a0, %1 + line\n"
            "ret\n"
            ".set   line, line + 1\n"
            ".endr\n"
            :
            : "i"(IRQ_LINES), "i"(CSR_MLINESTAMP0));
}

#define LINES_PER_CSR 8
#define PRIORITY_BITS 4

static uint32_t priorities_from(uint32_t first)
{
    uint32_t word = 0;

    for (uint32_t place = 0; place < LINES_PER_CSR && first + place < IRQ_LINES; place++) {
        word |= (uint32_t)irq_table[first + place + 1].priority << place * PRIORITY_BITS;
    }
    return word;
}

#ifdef CONTEXT_SINGLE

/* Lines that interrupt the service of each, being more urgent, indexed as the table. `nests` says that a
 * line has any. */
static uint32_t above[IRQ_LINES + 1];
static bool nests;

static uint32_t lines_above(uint32_t priority)
{
    uint32_t lines = 0;

    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        if (irq_line(line) != NULL && irq_table[line + 1].priority > priority) {
            lines |= 1u << line;
        }
    }
    return lines;
}

static void apply_nesting(void)
{
    bool any = false;

    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        if (irq_line(line) != NULL) {
            above[line + 1] = irq_table[line + 1].brief ? 0 : lines_above(irq_table[line + 1].priority);
            any |= above[line + 1] != 0;
        }
    }
    nests = any;
}

INLINE bool is_interruptible(uint32_t claim)
{
    return UNLIKELY(nests) && above[claim] != 0;
}

/* With interrupts enabled for the lines above. */
static __attribute__((noinline)) void serve_interruptible(uint32_t claim)
{
    context_nesting_t before = context_nest(above[claim]);

    irq_serve(claim);
    context_unnest(before);
}

void irq_serve_kicked(uint32_t claim)
{
    const irq_line_t *line = &irq_table[claim];

    if (is_interruptible(claim)) {
        context_nesting_t before = context_nest(above[claim]);
        line->service(line->context, false);
        context_unnest(before);
    } else {
        line->service(line->context, false);
    }
}

#else

static void apply_nesting(void)
{
}

INLINE bool is_interruptible(uint32_t claim)
{
    (void)claim;
    return false;
}

INLINE void serve_interruptible(uint32_t claim)
{
    irq_serve(claim);
}

#endif

void irq_apply_priorities(void)
{
    uint32_t before = context_lock();

    apply_nesting();
    context_unlock(before);
    CSR_WRITE(CSR_MLINEPRIO0, priorities_from(0));
#if TIERV_LINES > 8
    CSR_WRITE(CSR_MLINEPRIO1, priorities_from(8));
#endif
#if TIERV_LINES > 16
    CSR_WRITE(CSR_MLINEPRIO2, priorities_from(16));
#endif
#if TIERV_LINES > 24
    CSR_WRITE(CSR_MLINEPRIO3, priorities_from(24));
#endif
}

#ifndef CONTEXT_TIERS

/* A device lowers its line some cycles after the store that tells it to. */
static inline void settle(void)
{
    __asm__ volatile("fence\n nop\n nop\n nop\n nop" : : : "memory");
}

static __attribute__((noinline)) void serve_alone(uint32_t claim)
{
    irq_serve(claim);
}

INLINE void serve(uint32_t claim)
{
    if (is_interruptible(claim)) {
        serve_interruptible(claim);
    } else {
        serve_alone(claim);
    }
}

/* Each line once, and then again only behind settle(): its store may still be on the way. */
static __attribute__((noinline)) void serve_more(uint32_t served, uint32_t claim)
{
    do {
        uint32_t line = 1u << (claim - 1);
        if (UNLIKELY((served & line) != 0)) {
            if ((tier_lines() & ~served) == 0) {
                return;
            }
            settle();
            served = 0;
            continue;
        }
        served |= line;
        serve(claim);
    } while ((claim = CSR_READ(CSR_MLINECLAIM)) != 0);
}

/* Mostly there is but one, and few registers to be saved. */
void irq_serve_pending(void)
{
    uint32_t claim = CSR_READ(CSR_MLINECLAIM);

    if (UNLIKELY(claim == 0)) {
        return;
    }
    serve(claim);
    uint32_t next = CSR_READ(CSR_MLINECLAIM);
    if (UNLIKELY(next != 0)) {
        serve_more(1u << (claim - 1), next);
    }
}

#endif

#else

/* Lines that somebody serves, the most urgent first. */
static uint8_t order[IRQ_LINES];
static uint32_t ordered;

void irq_apply_priorities(void)
{
    uint32_t before = context_lock();

    ordered = 0;
    for (uint32_t priority = IRQ_PRIORITIES; priority-- != 0;) {
        for (uint32_t line = 0; line < IRQ_LINES; line++) {
            if (irq_line(line) != NULL && irq_table[line + 1].priority == priority) {
                order[ordered++] = (uint8_t)line;
            }
        }
    }
    context_unlock(before);
}

/* Those that are pending now; what comes meanwhile interrupts again. */
void irq_serve_pending(void)
{
    uint32_t pending = tier_lines();

    for (uint32_t place = 0; pending != 0 && place < ordered; place++) {
        uint32_t line = order[place];
        if ((pending & 1u << line) != 0) {
            pending &= ~(1u << line);
            irq_table[line + 1].service(irq_table[line + 1].context, true);
            irq_table[line + 1].count++;
        }
    }
}

#endif
