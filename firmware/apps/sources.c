/* Benchmark: many devices at once, with their interrupt services and nothing behind them. Serial ports are
 * emptied into rings that nobody reads, frames are taken out of the MAC and dropped, a timer ticks; the
 * application counts what is left of the processor. Ends when all that was announced has come. */
#include <stdio.h>

#include <generated/soc.h>

#include "apps/idle.h"
#include "apps/network.h"
#include "context.h"
#include "drivers/serial.h"
#include "drivers/timer.h"
#include "irq.h"
#include "mmio.h"
#include "report.h"

enum { USUAL_PRIORITY = 8, RING_BYTES = 128, TIMEOUT_BITS = 40 };
enum { RESULT_CYCLES, RESULT_IDLE_CYCLES, RESULT_FLAGGED, RESULT_INTERRUPTS };

/* Serial ports that receive, their speed, how many characters their FIFO takes, for how many it calls and how
 * many come to each. */
SET_BEFORE_RUN uint32_t ports = UARTS;
SET_BEFORE_RUN uint32_t baud = SERIAL_BAUD;
SET_BEFORE_RUN uint32_t fifo_characters = SERIAL_RECEIVE_DEPTH;
SET_BEFORE_RUN uint32_t watermark = (SERIAL_RECEIVE_DEPTH + 1) / 2;
SET_BEFORE_RUN uint32_t characters;
/* Frames that come, and the time between ticks. */
SET_BEFORE_RUN uint32_t frames;
SET_BEFORE_RUN uint32_t tick_cycles = CONFIG_CLOCK_FREQUENCY / 10000;
/* The measurement begins when idle_clock() says so, which counts from reset. */
SET_BEFORE_RUN uint32_t start_cycle;

typedef struct {
    serial_t serial;
    uint32_t head;
    uint8_t ring[RING_BYTES];
} port_t;

static port_t port_table[UARTS];

/* Characters and frames still to come. */
static uint32_t remaining;
static uint32_t frames_seen;
/* Characters that came with a flag. */
static uint32_t flagged;
static uint32_t ticks;
static volatile bool done;

static inline void note(uint32_t count)
{
    remaining -= count;
    if (remaining == 0) {
        done = true;
    }
}

/* Tier 2. Longest path: what comes while it runs. */
static void serve_port(void *context, bool pending)
{
    port_t *port = context;
    uint32_t head = port->head;
    uint32_t count;

    (void)pending;
    do {
        uint32_t burst = serial_receive_burst(&port->serial);
        count = SERIAL_BURST_COUNT(burst);
        flagged += SERIAL_BURST_FLAGS(burst) != 0;
        for (uint32_t index = 0; index < count; index++) {
            port->ring[head++ % RING_BYTES] = (uint8_t)burst;
            burst >>= 8;
        }
    } while (count == SERIAL_BURST);
    note(head - port->head);
    port->head = head;
}

/* Tier 2. Longest path: ethmac_service(). */
static void serve_ethmac(void *context, bool pending)
{
    packet_t *packet;

    (void)context;
    (void)ethmac_service(&network_mac, pending);
    while ((packet = RING_POP(&network.received)) != NULL) {
        (void)RING_PUSH(&network.free, packet);
    }
    note(network_mac.received - frames_seen);
    frames_seen = network_mac.received;
    if (ethmac_has_work(&network_mac)) {
        irq_kick(ETHMAC_INTERRUPT);
    }
}

static void serve_timer(void *context, bool pending)
{
    (void)context;
    (void)pending;
    timer_acknowledge();
    ticks++;
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

static void open_ports(void)
{
    const serial_format_t format = {baud, 8, SERIAL_PARITY_NONE, 1};
    const serial_levels_t levels = {
        .receive_watermark = (uint16_t)watermark,
        .timeout_bits = TIMEOUT_BITS,
        .stop_level = SERIAL_RECEIVE_DEPTH,
    };

    for (uint32_t index = 0; index < ports && index < UARTS; index++) {
        port_t *port = &port_table[index];
        char name[IRQ_NAME_BYTES];

        (void)snprintf(name, sizeof(name), "uart%u", (unsigned)index);
        if (serial_init(&port->serial, index) != SERIAL_OK
            || serial_set_format(&port->serial, &format, NULL) != SERIAL_OK
            || serial_set_levels(&port->serial, &levels) != SERIAL_OK
            || serial_set_limit(&port->serial, fifo_characters) != SERIAL_OK) {
            exit_run(1);
        }
        (void)irq_register(serial_line(index), name, serve_port, port, USUAL_PRIORITY);
    }
}

static uint32_t interrupts(void)
{
    uint32_t sum = 0;

    for (uint32_t line = 0; line < IRQ_LINES; line++) {
        const irq_line_t *entry = irq_line(line);
        sum += entry != NULL ? entry->count : 0;
    }
    return sum;
}

int main(void)
{
    network_init();
    network_use_rings();
    open_ports();
    (void)irq_register(ETHMAC_INTERRUPT, "ethmac", serve_ethmac, NULL, USUAL_PRIORITY);
    (void)irq_register(TIMER0_INTERRUPT, "timer0", serve_timer, NULL, USUAL_PRIORITY);
    remaining = ports * characters + frames;
    idle_calibrate();
    while (idle_clock() < start_cycle) {
    }
    uint32_t start = idle_clock();
    timer_start(tick_cycles);
    irq_start();
    idle_until(&done, UINT32_MAX);
    report_result(RESULT_CYCLES, idle_clock() - start);
    report_result(RESULT_IDLE_CYCLES, idle_cycles());
    report_result(RESULT_FLAGGED, flagged);
    report_result(RESULT_INTERRUPTS, interrupts());
    return 0;
}
