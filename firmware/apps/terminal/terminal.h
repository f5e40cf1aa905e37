/* Terminal server: each serial port on a UDP port of its own, both ways (protocol.h).
 *
 * The interrupt service moves bytes between FIFOs and packets or queues; the protocol service sends and
 * takes datagrams and control commands. No byte is copied on its way to the network, and none is read
 * again for the checksum.
 */
#ifndef TIERV_APPS_TERMINAL_TERMINAL_H
#define TIERV_APPS_TERMINAL_TERMINAL_H

#include <stdint.h>

#include <generated/soc.h>

#if UARTS > 0

/* Makes all serial ports ready: lines with `priority`, UDP ports, packets. It is then their usual user
 * (apps/serial_ports.h). After network_init() and alarm_init(), before irq_start(). */
void terminal_init(uint32_t priority);

/* Protocol service, behind the network's part of it. */
void terminal_protocol(void);

/* Adds the command `serial`. */
void terminal_add_commands(void);

#else

static inline void terminal_init(uint32_t priority)
{
    (void)priority;
}

static inline void terminal_protocol(void)
{
}

static inline void terminal_add_commands(void)
{
}

#endif

#endif
