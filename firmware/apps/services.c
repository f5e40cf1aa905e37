/* The services that every board offers:
 *
 *   UDP 7      echo by the application (RFC 862)
 *   UDP 9      discard (RFC 863)
 *   UDP 19     source: a datagram "COUNT BYTES" asks for COUNT datagrams of BYTES bytes
 *   UDP 7000   settings of the serial ports, 7001 and up: each port (apps/terminal/protocol.h)
 *   UDP 7100   commands (apps/remote.h)
 *   UDP 7200   data of LIN nodes (apps/lin/host.h)
 *   UDP 7107   echo by the protocol service: no copy, no new checksum
 *
 * and ARP and ping. Those that answer whoever asks (not 9, nor 7001 and up) take nothing from each other's ports.
 */
#include <generated/soc.h>

#include "alarm.h"
#include "apps/busy.h"
#include "apps/console.h"
#include "apps/echo/command.h"
#include "apps/echo/latency.h"
#include "apps/echo/trial.h"
#include "apps/irqtune/irqtune.h"
#include "apps/lin/command.h"
#include "apps/lin/lin.h"
#include "apps/network.h"
#include "apps/network_line.h"
#include "apps/remote.h"
#include "apps/share.h"
#include "apps/source.h"
#include "apps/terminal/terminal.h"
#include "context.h"
#include "drivers/uart.h"
#include "irq.h"
#include "report.h"

enum { PORT_ECHO = 7, PORT_DISCARD = 9, PORT_SOURCE = 19, PORT_FAST_ECHO = 7107 };

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

/* Tier 2, and those above it. */
void interrupt_service(uint32_t lines)
{
    (void)lines;
    if (UNLIKELY(share_is_kept)) {
        share_begin_interrupt();
        irq_dispatch(TIER_INTERRUPT);
        share_end_interrupt();
    } else {
        irq_dispatch(TIER_INTERRUPT);
    }
}

/* Tier 1. */
void protocol_service(void)
{
    share_begin();
    irq_dispatch_protocol();
    network_line_protocol();
    terminal_protocol();
#if LIN_NODES > 0
    lin_protocol();
#endif
    share_end();
}

/* As many as may wait, at the most, so that others have their turn however many come. */
static bool echo_datagrams(void)
{
    packet_t *packet;
    bool any = false;

    for (uint32_t left = UDP_SOCKET_SLOTS; left != 0 && (packet = udp_receive(&echo_socket)) != NULL; left--) {
        if (udp_reply(&network, packet) != UDP_OK) {
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
    (void)udp_bind_service(&network, &echo_socket, PORT_ECHO);
    (void)udp_bind(&network, &discard_socket, PORT_DISCARD);
    (void)udp_bind_service(&network, &source_socket, PORT_SOURCE);
    (void)udp_bind_service(&network, &fast_echo_socket, PORT_FAST_ECHO);
}

static void register_lines(void)
{
    alarm_init(IRQ_USUAL_PRIORITY);
    network_line_init(IRQ_USUAL_PRIORITY);
    share_init();
    uart_init(&console);
    (void)irq_register(UART_INTERRUPT, "console", serve_console, &console, IRQ_USUAL_PRIORITY);
    terminal_init(IRQ_SERIAL_PRIORITY);
#if LIN_NODES > 0
    lin_init();
#endif
#ifdef ECHO_INTERRUPT
    latency_init();
#endif
}

static void start_console(void)
{
    network_add_commands();
    irqtune_init();
    terminal_add_commands();
#if LIN_NODES > 0
    lin_add_command();
#endif
#ifdef ECHO_INTERRUPT
    latency_add_command();
#endif
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
    network_init_dhcp();
    bind_sockets();
    remote_init();
    register_lines();
    irq_start();
    start_console();
    report_mark(MARK_READY);
#ifdef ECHO_INTERRUPT
    latency_trial();
#endif
    for (;;) {
        bool datagrams = echo_datagrams();
        datagrams |= remote_service();
        /* Last, for it takes every packet that has come home. */
        datagrams |= source_service(&source_socket);
        bool bytes = serve_terminal();
        if (datagrams) {
            context_run_protocol();
        }
        if (!datagrams && !bytes) {
            if (services_compute) {
                busy_round();
            }
            if (!services_compute || CONTEXT_MUST_YIELD) {
                context_wait();
            }
        }
    }
}
