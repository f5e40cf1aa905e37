/* Lines as the core has them: priorities in mlineprio, stamps in mlinestamp. Elsewhere their order is
 * software's. */
#include <stddef.h>

#include "context.h"
#include "irq/table.h"
#include "net/compiler.h"

#if IRQ_HAS_CLAIM

/* Longest path: this and the service. A line that has not fallen since it was last served keeps its stamp,
 * so only the first service after a rise is measured. */
static __attribute__((noinline)) void serve(irq_line_t *line, uint32_t stamp)
{
    uint32_t late_cycles = CSR_READ(CSR_MCYCLE) - stamp;

    line->count++;
    if (stamp != line->stamp) {
        line->stamp = stamp;
        if (UNLIKELY(late_cycles > line->worst_cycles)) {
            line->worst_cycles = late_cycles;
        }
    }
    line->service(line->context, true);
}

/* The number of a CSR is part of the instruction, so that each line has a piece of code. */
#define ENTRY(n)                                                                                   \
    static void entry##n(irq_line_t *line)                                                         \
    {                                                                                              \
        serve(line, CSR_READ(CSR_MLINESTAMP0 + n));                                                \
    }

#define ALL_LINES(X)                                                                               \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)     \
    X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)

ALL_LINES(ENTRY)

irq_entry_t irq_entry(uint32_t line)
{
#define ADDRESS(n) entry##n,
    static const irq_entry_t entries[] = {ALL_LINES(ADDRESS)};

    return entries[line];
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

void irq_apply_priorities(void)
{
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

/* Each line once, and then again only behind settle(): its store may still be on the way. */
void irq_serve_pending(void)
{
    uint32_t served = 0;

    while ((tier_lines() & ~served) != 0) {
        uint32_t claim = CSR_READ(CSR_MLINECLAIM);
        if (claim == 0) {
            return;
        }
        uint32_t line = 1u << (claim - 1);
        if ((served & line) != 0) {
            settle();
            served = 0;
            continue;
        }
        served |= line;
        irq_table[claim].entry(&irq_table[claim]);
    }
}

#endif

#else

/* Lines that somebody serves, the most urgent first. */
static uint8_t order[IRQ_LINES];
static uint32_t ordered;

static void serve(irq_line_t *line)
{
    line->count++;
    line->service(line->context, true);
}

irq_entry_t irq_entry(uint32_t line)
{
    (void)line;
    return serve;
}

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
            irq_table[line + 1].entry(&irq_table[line + 1]);
        }
    }
}

#endif
