/* Benchmark: serial ports beside apps/blockers.h, and who of them goes first. */
#ifndef TIERV_APPS_BLOCKED_PORTS_H
#define TIERV_APPS_BLOCKED_PORTS_H

#include <stdint.h>

#include "drivers/serial.h"
#include "irq.h"

/* Whose turn it is: as the lines are numbered, the ports first, or the ports in a tier of their own and the
 * others in the one below. */
typedef enum { ORDER_USUAL, ORDER_TUNED, ORDER_OWN_TIER } blocked_order_t;

/* What all lines of these benchmarks have at first. */
enum { BLOCKED_USUAL_PRIORITY = 8 };

/* Makes a port ready for 8N1, to call with `watermark` characters or four after the last. `achieved_baud` gets
 * its speed. */
serial_result_t blocked_port_start(serial_t *serial, uint32_t port, uint32_t baud,
                                   uint32_t watermark, uint32_t *achieved_baud);

/* Application, after irq_start(): sets the order for ports 0 to `ports` - 1. */
irq_result_t blocked_ports_set_order(uint32_t ports, blocked_order_t order);

#endif
