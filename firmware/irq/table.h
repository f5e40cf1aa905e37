/* The parts of the table of lines that depend on the build (tiers.c, single.c) and on the core
 * (core.c). */
#ifndef TIERV_IRQ_TABLE_H
#define TIERV_IRQ_TABLE_H

#include "irq.h"
#include "net/compiler.h"

/* Indexed by what mlineclaim reads, the number of a line plus one. */
extern irq_line_t irq_table[IRQ_LINES + 1];

/* Lines that belong to a tier. */
uint32_t irq_lines_of(uint32_t tier);

/* The most urgent of the lines of a mask that is not 0; of equals the lower one. */
uint32_t irq_most_urgent(uint32_t lines);

/* Moves a line whose entry says another tier; false if that tier did not let go. */
bool irq_move(uint32_t line, uint32_t tier);

/* The core, or the order of the trap handler, follows the table's priorities. */
void irq_apply_priorities(void);

/* For one context: serves pending lines, the most urgent first, until there is none that was not
 * served. */
void irq_serve_pending(void);

#if IRQ_HAS_CLAIM && defined(CONTEXT_SINGLE)

/* Serves the line of `claim`, which was kicked and is not pending. */
void irq_serve_kicked(uint32_t claim);

#else

static inline void irq_serve_kicked(uint32_t claim)
{
    irq_table[claim].service(irq_table[claim].context, false);
}

#endif

#if IRQ_HAS_CLAIM

/* Cycle in which the line of `claim`, what mlineclaim has read, last became pending. */
uint32_t irq_stamp(uint32_t claim);

/* Serves the line of `claim` and notes how late. A line that has not fallen since it was last served
 * keeps its stamp, so only the first service after a rise is measured. */
INLINE void irq_serve(uint32_t claim)
{
    irq_line_t *line = &irq_table[claim];
    uint32_t stamp = irq_stamp(claim);
    uint32_t now = CSR_READ(CSR_MCYCLE);

    line->service(line->context, true);
    line->count++;
    if (stamp != line->stamp) {
        line->stamp = stamp;
        if (UNLIKELY(now - stamp > line->worst_cycles)) {
            line->worst_cycles = now - stamp;
        }
    }
}

#endif

#endif
