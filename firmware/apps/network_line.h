/* The network on the table of lines: the MAC's line, and the alarm of each second. */
#ifndef TIERV_APPS_NETWORK_LINE_H
#define TIERV_APPS_NETWORK_LINE_H

#include <stdint.h>

#include "apps/network.h"
#include "irq.h"

/* Registers the MAC's line and sets the alarm: behind network_init() and alarm_init(), before irq_start(). */
void network_line_init(uint32_t priority);

/* Protocol service: the network's part of it. */
void network_line_protocol(void);

/* The driver shall look for what was given to the network; one that is the protocol service's own has it already. */
static inline void network_line_wake_driver(void)
{
    if (!NETWORK_MAC_IN_PROTOCOL) {
        irq_kick(ETHMAC_INTERRUPT);
    }
}

#endif
