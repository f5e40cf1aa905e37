/* The services that every board offers:
 *
 *   UDP 7      echo by the application (RFC 862)
 *   UDP 9      discard (RFC 863)
 *   UDP 19     source: a datagram "COUNT BYTES" asks for COUNT datagrams of BYTES bytes
 *   UDP 7007   echo by the protocol service: no copy, no new checksum
 *   serial     ports 1 and up send back what they receive; port 0 is the console
 *
 * and ARP and ping.
 */
#include <generated/soc.h>

#include "apps/console.h"
#include "apps/network.h"
#include "apps/source.h"
#include "context.h"
#include "drivers/timer.h"
#include "drivers/uart.h"
#include "report.h"

enum { UART_LINES_MASK = ((1u << UARTS) - 1) << UART_INTERRUPT };
enum { PORT_ECHO = 7, PORT_DISCARD = 9, PORT_SOURCE = 19, PORT_FAST_ECHO = 7007 };

static udp_socket_t echo_socket;
static udp_socket_t discard_socket;
static udp_socket_t source_socket;
static udp_socket_t fast_echo_socket;
static uart_t uarts[UARTS];

/* The interrupt service has moved serial bytes since the application last looked. */
static volatile bool serial_has_moved = true;

/* The application has queued serial bytes since the interrupt service last looked. */
static volatile bool serial_is_queued;

/* What the discard service has taken; an experiment reads them. */
uint32_t discarded_datagrams;
uint32_t discarded_bytes;

static udp_verdict_t discard(udp_socket_t *socket, packet_t *packet)
{
    (void)socket;
    discarded_datagrams++;
    discarded_bytes += packet->payload_bytes;
    return UDP_DONE;
}

static udp_verdict_t echo_at_once(udp_socket_t *socket, packet_t *packet)
{
    (void)socket;
    (void)packet;
    return UDP_ECHO;
}

static __attribute__((noinline)) void serial_service(uint32_t lines)
{
    bool bytes = false;

    serial_is_queued = false;
    for (uint32_t index = 0; index < UARTS; index++) {
        if ((lines & 1u << uart_line(index)) != 0 || byte_ring_count(&uarts[index].transmit) != 0) {
            bytes |= uart_service(&uarts[index]);
        }
    }
    if (bytes) {
        serial_has_moved = true;
        context_post_application();
    }
}

/* Tier 2. Longest path: ethmac_service(); shares the network's rings with tier 1 and the serial
 * rings with tier 0. */
void interrupt_service(uint32_t lines)
{
    if (network_interrupt(lines)) {
        context_post_protocol();
    }
    if ((lines & 1u << TIMER0_INTERRUPT) != 0) {
        timer_acknowledge();
        network_tick();
        context_post_protocol();
    }
    if ((lines & UART_LINES_MASK) != 0 || serial_is_queued) {
        serial_service(lines);
    }
}

/* Tier 1. */
void protocol_service(void)
{
    network_protocol();
}

static bool echo_datagrams(void)
{
    packet_t *packet;
    bool any = false;

    while ((packet = udp_receive(&echo_socket)) != NULL) {
        uint32_t port = be16_to_host(packet->peer_port);
        if (udp_send_to(&network, &echo_socket, packet, packet->peer_address, port) != UDP_OK) {
            udp_release(&network, packet);
        }
        any = true;
    }
    return any;
}

static bool echo_serial(void)
{
    uint8_t bytes[16];
    bool any = false;

    for (uint32_t index = 1; index < UARTS; index++) {
        uint32_t count = uart_read(&uarts[index], bytes, sizeof(bytes));
        if (count != 0) {
            (void)uart_write(&uarts[index], bytes, count);
            any = true;
        }
    }
    return any;
}

static void bind_sockets(void)
{
    udp_init(&echo_socket, NULL, NULL);
    udp_init(&discard_socket, discard, NULL);
    udp_init(&source_socket, NULL, NULL);
    udp_init(&fast_echo_socket, echo_at_once, NULL);
    (void)udp_bind(&network, &echo_socket, PORT_ECHO);
    (void)udp_bind(&network, &discard_socket, PORT_DISCARD);
    (void)udp_bind(&network, &source_socket, PORT_SOURCE);
    (void)udp_bind(&network, &fast_echo_socket, PORT_FAST_ECHO);
}

int main(void)
{
    uint32_t lines = 1u << ETHMAC_INTERRUPT | 1u << TIMER0_INTERRUPT;

    network_init();
    bind_sockets();
    for (uint32_t index = 0; index < UARTS; index++) {
        uart_init(&uarts[index], index);
        lines |= 1u << uart_line(index);
    }
    timer_start(CONFIG_CLOCK_FREQUENCY);
    context_start(lines);
    console_init(&uarts[0]);
    serial_is_queued = true;
    context_run_interrupt();
    report_mark(MARK_READY);
    for (;;) {
        bool datagrams = echo_datagrams() | source_service(&source_socket);
        bool bytes = false;
        if (serial_has_moved) {
            serial_has_moved = false;
            bytes = echo_serial() | console_service();
            serial_has_moved |= bytes;
        }
        if (datagrams) {
            context_run_protocol();
        }
        if (bytes) {
            serial_is_queued = true;
            context_run_interrupt();
        }
        if (!datagrams && !bytes) {
            context_wait();
        }
    }
}
