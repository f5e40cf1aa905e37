/* Benchmark: packets over SLIP on all serial ports, while devices with blocking services lock the processor
 * up again and again. A packet has arrived if its Internet checksum (RFC 1071, over all of it) is good; its
 * first two bytes are its number, in big-endian order. */
#include <stdio.h>

#include <generated/soc.h>

#include "apps/blocked_ports.h"
#include "apps/blockers.h"
#include "apps/slip/slip.h"
#include "context.h"
#include "drivers/serial_ring.h"
#include "net/checksum.h"
#include "report.h"

enum { MOST_PACKETS = 2048, PACKET_BYTES = 1500 };

/* A blocked_order_t. */
SET_BEFORE_RUN uint32_t order;
SET_BEFORE_RUN uint32_t baud = 576000;
SET_BEFORE_RUN uint32_t watermark = 14;

/* Of each port, by the packet's number: 1 if it has arrived. */
SET_BEFORE_RUN_LARGE uint8_t arrived[UARTS][MOST_PACKETS];
uint32_t overruns[UARTS];
uint32_t dropped[UARTS];

static serial_t ports[UARTS];
static serial_ring_t rings[UARTS] __attribute__((section(".noinit")));
static _Alignas(4) uint8_t packets[UARTS][PACKET_BYTES];
static slip_decoder_t decoders[UARTS];

/* Tier 2. Longest path: a FIFO; shares the rings with tier 0. */
static void serve_port(void *context, bool pending)
{
    (void)pending;
    (void)serial_ring_service(context);
    context_post_application();
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

static void take_packet(uint32_t port, uint32_t bytes)
{
    const uint8_t *packet = packets[port];
    uint32_t number = (uint32_t)packet[0] << 8 | packet[1];

    if (number < MOST_PACKETS && bytes > 2 && checksum_is_good(checksum_sum(packet, bytes))) {
        arrived[port][number] = 1;
    }
}

static void take_characters(uint32_t port)
{
    int32_t character;

    while ((character = serial_ring_get(&rings[port])) >= 0) {
        uint32_t bytes = slip_take(&decoders[port], SERIAL_DATA((uint32_t)character));
        if (bytes != 0) {
            take_packet(port, bytes);
        }
        if ((SERIAL_FLAGS((uint32_t)character) & SERIAL_OVERRUN) != 0) {
            serial_read_counters(&ports[port]);
            overruns[port] = ports[port].counters.overruns;
        }
    }
    dropped[port] = decoders[port].dropped;
    if (rings[port].blocked) {
        irq_run(serial_line(port));
    }
}

static serial_result_t start_ports(void)
{
    serial_result_t result = SERIAL_OK;
    uint32_t achieved_baud = 0;

    for (uint32_t port = 0; port < UARTS; port++) {
        char name[IRQ_NAME_BYTES];
        serial_result_t one =
            blocked_port_start(&ports[port], port, baud, watermark, &achieved_baud);
        result = result == SERIAL_OK ? one : result;
        serial_ring_init(&rings[port], &ports[port]);
        decoders[port] = (slip_decoder_t){.packet = packets[port], .room = PACKET_BYTES};
        (void)snprintf(name, sizeof(name), "uart%u", (unsigned)port);
        (void)irq_register(serial_line(port), name, serve_port, &rings[port],
                           BLOCKED_USUAL_PRIORITY);
        for (uint32_t number = 0; number < MOST_PACKETS; number++) {
            arrived[port][number] = 0;
        }
    }
    return result;
}

int main(void)
{
    serial_result_t serial_result = start_ports();

    blockers_init(BLOCKED_USUAL_PRIORITY);
    irq_start();
    irq_result_t irq_result = blocked_ports_set_order(UARTS, (blocked_order_t)order);
    blockers_begin((uint32_t)serial_result << 16 | (uint32_t)irq_result << 8);
    for (;;) {
        context_wait();
        for (uint32_t port = 0; port < UARTS; port++) {
            take_characters(port);
        }
    }
}
