/* The services that every board offers:
 *
 *   UDP 7      echo by the application (RFC 862)
 *   UDP 9      discard (RFC 863)
 *   UDP 19     source: a datagram "COUNT BYTES" asks for COUNT datagrams of BYTES bytes
 *   UDP 7100   commands (apps/remote.h)
 *   UDP 7007   echo by the protocol service: no copy, no new checksum
 *   serial     all ports send back what they receive; the console is beside them
 *
 * and ARP and ping.
 */
#include <generated/soc.h>

#include "apps/console.h"
#include "apps/echo/latency.h"
#include "apps/echo/trial.h"
#include "apps/irqtune/irqtune.h"
#include "apps/network.h"
#include "apps/remote.h"
#include "apps/serial_echo.h"
#include "apps/source.h"
#include "context.h"
#include "drivers/timer.h"
#include "drivers/uart.h"
#include "irq.h"
#include "report.h"

enum { PORT_ECHO = 7, PORT_DISCARD = 9, PORT_SOURCE = 19, PORT_FAST_ECHO = 7007 };

static udp_socket_t echo_socket;
static udp_socket_t discard_socket;
static udp_socket_t source_socket;
static udp_socket_t fast_echo_socket;
static uart_t console;

/* The interrupt service has moved the console's bytes since the application last looked. */
static volatile bool console_has_moved = true;

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

/* Shares the rings with tier 0. */
static void serve_console(void *context, bool pending)
{
    (void)pending;
    if (uart_service(context)) {
        console_has_moved = true;
        context_post_application();
    }
}

/* Longest path: ethmac_service(); shares the network's rings with tier 1. */
static void serve_ethmac(void *context, bool pending)
{
    (void)context;
    if (network_interrupt(pending ? 1u << ETHMAC_INTERRUPT : 0)) {
        context_post_protocol();
    }
}

static uint32_t frames_received(const void *context)
{
    return ((const ethmac_t *)context)->received;
}

static void wake_ethmac(void)
{
    irq_kick(ETHMAC_INTERRUPT);
}

static void serve_timer(void *context, bool pending)
{
    (void)context;
    if (pending) {
        timer_acknowledge();
        network_tick();
        context_post_protocol();
    }
}

/* Tier 2, and those above it. */
void interrupt_service(uint32_t lines)
{
    (void)lines;
    irq_dispatch(TIER_INTERRUPT);
}

/* Tier 1. */
void protocol_service(void)
{
    irq_dispatch_protocol();
    network_protocol(wake_ethmac);
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

/* Every line has this priority until it is given another: the lower number goes first. */
enum { USUAL_PRIORITY = 8 };

static void register_lines(void)
{
    (void)irq_register(TIMER0_INTERRUPT, "timer0", serve_timer, NULL, USUAL_PRIORITY);
    (void)irq_register(ETHMAC_INTERRUPT, "ethmac", serve_ethmac, &network_mac, USUAL_PRIORITY);
    irq_describe(ETHMAC_INTERRUPT, ETHMAC_RX_SLOTS, frames_received);
    uart_init(&console);
    (void)irq_register(UART_INTERRUPT, "console", serve_console, &console, USUAL_PRIORITY);
    serial_echo_init(USUAL_PRIORITY);
#ifdef ECHO_INTERRUPT
    latency_init();
#endif
}

static void start_console(void)
{
    network_add_commands();
    irqtune_init();
    console_init(&console);
    irq_run(UART_INTERRUPT);
}

/* True if bytes have moved. */
static bool serve_terminal(void)
{
    bool bytes = false;

    if (console_has_moved) {
        console_has_moved = false;
        bytes = console_service();
        if (bytes) {
            irq_run(UART_INTERRUPT);
            console_has_moved = true;
        }
    }
    return bytes;
}

int main(void)
{
    network_init();
    bind_sockets();
    remote_init();
    register_lines();
    timer_start(CONFIG_CLOCK_FREQUENCY);
    irq_start();
    start_console();
    report_mark(MARK_READY);
#ifdef ECHO_INTERRUPT
    latency_trial_init();
#endif
    for (;;) {
#ifdef ECHO_INTERRUPT
        latency_trial_service();
#endif
        bool datagrams = echo_datagrams() | source_service(&source_socket)
                         | remote_service();
        bool bytes = serve_terminal() | serial_echo_service();
        if (datagrams) {
            context_run_protocol();
        }
        if (!datagrams && !bytes) {
            context_wait();
        }
    }
}
