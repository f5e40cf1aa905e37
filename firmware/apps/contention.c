/* Benchmark: a serial port among devices whose services block. A collision is the moment in which the port
 * calls for service while they have work for longer than its buffer lasts. */
#include <stddef.h>

#include <generated/soc.h>

#include "apps/blocked_ports.h"
#include "apps/blockers.h"
#include "apps/idle.h"
#include "context.h"
#include "irq.h"
#include "irq/table.h"
#include "report.h"

enum { MOST_COLLISIONS = 4096, PORT = 0 };

/* A blocked_order_t. */
SET_BEFORE_RUN uint32_t order;
SET_BEFORE_RUN uint32_t baud = 67000;
SET_BEFORE_RUN uint32_t watermark = 9;
/* Characters of a collision. */
SET_BEFORE_RUN uint32_t burst_bytes = 19;

/* Of each collision the longest that the port waited, in cycles. */
SET_BEFORE_RUN_LARGE uint32_t waits[MOST_COLLISIONS];
uint32_t received;
uint32_t overruns;

static serial_t serial;

/* Tier 2. Longest path: a FIFO. The application reads the port's own counter of what was lost. */
static void serve_port(void *context, bool pending)
{
    uint32_t wait = CSR_READ(CSR_MCYCLE) - irq_stamp(serial_line(PORT) + 1);
    uint32_t collision = (received + serial.counters.overruns) / burst_bytes;
    int32_t character;

    (void)context;
    (void)pending;
    if (collision < MOST_COLLISIONS && wait > waits[collision]) {
        waits[collision] = wait;
    }
    while ((character = serial_receive(&serial)) >= 0) {
        received++;
        if ((SERIAL_FLAGS((uint32_t)character) & SERIAL_OVERRUN) != 0) {
            context_post_application();
        }
    }
}

void interrupt_service(uint32_t lines)
{
    (void)lines;
    irq_dispatch(TIER_INTERRUPT);
}

void protocol_service(void)
{
    irq_dispatch_protocol();
}

static void clear_waits(void)
{
    for (uint32_t index = 0; index < MOST_COLLISIONS; index++) {
        waits[index] = 0;
    }
}

int main(void)
{
    uint32_t achieved_baud = 0;
    serial_result_t serial_result =
        blocked_port_start(&serial, PORT, baud, watermark, &achieved_baud);

    clear_waits();
    blockers_init(BLOCKED_USUAL_PRIORITY);
    (void)irq_register(serial_line(PORT), "uart0", serve_port, NULL, BLOCKED_USUAL_PRIORITY);
    irq_start();
    irq_result_t irq_result = blocked_ports_set_order(1, (blocked_order_t)order);
    blockers_begin((uint32_t)serial_result << 16 | (uint32_t)irq_result << 8);
    for (;;) {
        context_wait();
        serial_read_counters(&serial);
        overruns = serial.counters.overruns;
    }
}
