/* Priorities of the PC's two 8259 interrupt controllers, as irqtune sets them (C. Estey, IRQTUNE FAQ,
 * version 0.6, 1997).
 *
 * A controller's eight inputs have priorities in a circle, of which any input can be made the first. The
 * slave is on input 2 of the master, so its eight stand in a row behind 2. A PC starts with 0 and 8.
 */
#ifndef TIERV_APPS_IRQTUNE_ROTATION_H
#define TIERV_APPS_IRQTUNE_ROTATION_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ROTATION_IRQS = 16,
    ROTATION_CASCADE = 2,
    /* What irqtune sets unless it is told. */
    ROTATION_MASTER = 3,
    ROTATION_SLAVE = 14
};

/* priority[n] is how many IRQs are more urgent than IRQ n, 0 to 15, if `master` (0 to 7) and `slave` (8 to
 * 15) are the most urgent of their controllers. False, and nothing is written, for others. */
bool rotation_priorities(uint32_t master, uint32_t slave, uint8_t priority[ROTATION_IRQS]);

#endif
