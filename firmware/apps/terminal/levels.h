/* When a serial port shall interrupt, so that the packing rules hold and it does so seldom.
 *
 * Bytes wait in the port's FIFO until it calls: at a watermark, or when nothing has come for a timeout.
 * Then the server knows of the packet's first byte, from whose time stamp it computes when to send, and
 * a timer does the rest. So with the rule for the time since the first byte there are about two
 * interrupts a packet, however many bytes it has, as long as they fit into the FIFO.
 */
#ifndef TIERV_APPS_TERMINAL_LEVELS_H
#define TIERV_APPS_TERMINAL_LEVELS_H

#include "apps/terminal/packer.h"

typedef struct {
    uint32_t character_cycles; /* start bit to last stop bit */
    uint32_t bit_cycles;
    uint32_t usable_depth; /* of the FIFO: the rest is for what comes before it is served; 1 or more */
} levels_line_t;

typedef struct {
    uint16_t watermark;    /* 1 or more */
    uint16_t timeout_bits; /* 0: none */
} levels_t;

/* For a packet that has `bytes` bytes. */
levels_t levels_for(const packer_rules_t *rules, uint32_t bytes, const levels_line_t *line);

#endif
