/* The parts of the table of lines that depend on the build (tiers.c, single.c) and on the core
 * (core.c). */
#ifndef TIERV_IRQ_TABLE_H
#define TIERV_IRQ_TABLE_H

#include "irq.h"

/* Indexed by what mlineclaim reads, the number of a line plus one. */
extern irq_line_t irq_table[IRQ_LINES + 1];

/* Lines that belong to a tier. */
uint32_t irq_lines_of(uint32_t tier);

/* Moves a line whose entry says another tier; false if that tier did not let go. */
bool irq_move(uint32_t line, uint32_t tier);

/* The core, or the order of the trap handler, follows the table's priorities. */
void irq_apply_priorities(void);

/* What notes how late the line is served, counts, and serves it. */
typedef void (*irq_entry_t)(irq_line_t *line);
irq_entry_t irq_entry(uint32_t line);

/* Serves pending lines of the table, the most urgent first, until there is none that was not served; for
 * one context. */
void irq_serve_pending(void);

#endif
