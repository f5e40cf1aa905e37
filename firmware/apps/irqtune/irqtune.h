/* irqtune (C. Estey, 1996) for this core's lines: who is served first, and in which tier, while everything
 * runs. The command line is in request.h.
 *
 * MASTER and SLAVE are those of the original, for a PC's sixteen IRQs: line n takes the place of IRQ n, and
 * the most urgent gets priority 15, the last 0. Lines from 16 on get 0; tiers stay.
 */
#ifndef TIERV_APPS_IRQTUNE_IRQTUNE_H
#define TIERV_APPS_IRQTUNE_IRQTUNE_H

/* Adds the command. After all lines were registered: rates count from here. */
void irqtune_init(void);

#endif
