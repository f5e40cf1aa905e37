/* The terminal server's protocol service, which must not leave somebody waiting. A client that has sent too much is
 * to be told to go on:
 *
 *   packet      when there is no packet for that at first
 *   preempted   with the port's service running between two instructions of the protocol service: the CPU's
 *               single-step trap calls it, and it sends all that waits, as after many interrupts
 *
 * A port that has looked for a packet in vain is to be called when it gets one:
 *
 *   starved     with its service filling a packet, and looking for another, between two instructions
 *
 * The MAC's driver is called for what a port has received, if that does not go to the MAC at once:
 *
 *   sent
 *
 * Exit status 0 if they are, otherwise a line on stderr; 77 on a host without such a trap.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../firmware/net/stack.h"
#include "single_step.h"

/* Whose the MAC is the build says. Registers, the serial port, lines, and the network's MAC: in the place of their
 * headers. */
#define TIERV_MMIO_H
#define TIERV_DRIVERS_SERIAL_H
#define TIERV_IRQ_H
#define TIERV_APPS_NETWORK_H
#define SERIAL_REGISTER(name) 0
#define SERIAL_BAUD 115200
#define SERIAL_RECEIVE_DEPTH 256
#define SERIAL_TRANSMIT_DEPTH 256
#define CSR_SERIAL_PORT0_EV_ENABLE_RECEIVE_OFFSET 0
#define CSR_SERIAL_PORT0_EV_ENABLE_TRANSMIT_OFFSET 1
#define CSR_SERIAL_PORT0_EV_ENABLE_CTS_OFFSET 3
#define CSR_SERIAL_PORT0_LEVEL_SPACE_OFFSET 16
#define CSR_SERIAL_PORT0_TRANSMIT_MORE_OFFSET 24

typedef struct {
    uintptr_t base;
} serial_t;

typedef struct {
    uint16_t receive_watermark, transmit_watermark, stop_level, resume_level;
} serial_levels_t;

static uint32_t mmio_read(uintptr_t address)
{
    (void)address;
    return 0;
}

static void mmio_write(uintptr_t address, uint32_t value)
{
    (void)address;
    (void)value;
}

static void serial_init(serial_t *serial, uint32_t port)
{
    serial->base = port;
}

static void serial_set_levels(serial_t *serial, const serial_levels_t *levels)
{
    (void)serial;
    (void)levels;
}

static uint32_t serial_now(void)
{
    return 0;
}

static uint32_t serial_line(uint32_t port)
{
    return port;
}

static bool kicked, kicked_driver;

static void irq_kick(uint32_t line)
{
    if (line == ETHMAC_INTERRUPT) {
        kicked_driver = true;
    } else {
        kicked = true;
    }
}

static net_t network;

#include "apps/terminal/send.c"
#include "apps/terminal/terminal.c"
#include "apps/terminal/transmit.c"
#include "terminal_rest.h"

void terminal_receive(terminal_port_t *port, uint32_t before, uint32_t level)
{
    (void)port;
    (void)before;
    (void)level;
}

void terminal_close(terminal_port_t *port, packer_verdict_t verdict)
{
    (void)port;
    (void)verdict;
}

void terminal_init_settings(terminal_port_t *port)
{
    port->office->control.peer.port = 1;
}

/* --- the trials ---------------------------------------------------------------------------------- */

/* The queue is full and runs dry while there is no packet. False if the client is not told to go on when one is
 * free. */
static bool tells_later(void)
{
    static _Alignas(4) uint8_t buffer[NET_BUFFER_BYTES];
    static const ethernet_address_t mac = {{2, 0, 1}};
    terminal_port_t *port = &terminal_ports[0];
    terminal_office_t *office = &offices[0];
    packet_t packet;

    net_init(&network, &mac);
    init_port(port, 0);
    /* A broadcast waits for no neighbour. */
    office->client = (control_peer_t){.address = IPV4_BROADCAST, .port = 9};
    /* Nor does anything else let terminal_protocol() look. */
    office->lent = TERMINAL_PORT_PACKETS;
    somebody_waits = false;
    suspend_client(port);
    terminal_protocol();
    terminal_protocol();
    bool waits = office->told_suspend && office->counts[TERMINAL_COUNT_LOST_NOTIFICATIONS] == 1;
    (void)net_add_packets(&network, PACKET_HOME_PROTOCOL, &packet, buffer, 1);
    terminal_protocol();
    bool told = !office->told_suspend && office->counts[TERMINAL_COUNT_NOTIFICATIONS] == 1
                && packet_payload(&packet)[3] == TERMINAL_FLOWCONTROL_RESUME + TERMINAL_ANSWER;
    return waits && told && RING_COUNT(&network.transmit) == 1;
}

/* What a port has filled is sent, while there are as many packets as all ports want, or fewer. False if somebody is
 * called for nothing, or is not who has something to do. */
static bool calls_driver(uint32_t missing)
{
    static const ethernet_address_t mac = {{2, 0, 1}};
    terminal_port_t *port = &terminal_ports[0];

    net_init(&network, &mac);
    (void)net_add_packets(&network, PACKET_HOME_SERIAL, packets, buffers[0], TERMINAL_PORT_PACKETS + 1 - missing);
    init_port(port, 0);
    port->office->control.peer = (control_peer_t){.address = IPV4_BROADCAST, .port = 9};
    terminal_protocol();
    (void)RING_PUSH(&port->full, RING_POP(&port->empty));
    terminal_leave_work(port);
    kicked_driver = context_posts.protocol = false;
    terminal_protocol();
    return RING_COUNT(&network.transmit) == 1 && kicked_driver == !NETWORK_MAC_IN_PROTOCOL
           && context_posts.protocol == (NETWORK_MAC_IN_PROTOCOL && missing != 0);
}

#ifdef __x86_64__

#include "each_step.h"

enum { DATAGRAM_BYTES = 2 * TERMINAL_WORD_BYTES };

static void send_all(void)
{
    terminal_port_t *port = &terminal_ports[0];

    while (port->head != port->tail) {
        terminal_transmit(port, SERIAL_TRANSMIT_DEPTH);
    }
}

/* `*before` words wait when a datagram comes, and everything is sent at a step. False if nobody tells the
 * client afterwards that it may go on. */
static bool survives(const void *before)
{
    static _Alignas(4) uint8_t frame[PACKET_PAYLOAD_OFFSET + DATAGRAM_BYTES];
    terminal_port_t *port = &terminal_ports[0];
    packet_t packet = {.frame = frame, .payload_bytes = DATAGRAM_BYTES};

    init_port(port, 0);
    port->head = *(const uint32_t *)before;
    terminal_has_work = false;
    /* There are no packets for what is received, but that is not on trial. */
    somebody_waits = false;
    single_step(true);
    (void)take_data(&port->office->socket, &packet);
    single_step(false);
    /* The service runs behind the datagram too. */
    send_all();
    terminal_protocol();
    return !port->office->told_suspend;
}

static int try_preempted(void)
{
    static const uint32_t refused = TERMINAL_TRANSMIT_WORDS - 1;
    static const uint32_t last = TERMINAL_TRANSMIT_WORDS - PACKET_PAYLOAD_BYTES / TERMINAL_WORD_BYTES - 1;
    bool after_refused = survives_each_step("a datagram that is refused: not told to go on if all was sent",
                                            survives, &refused, send_all);
    bool after_last =
        survives_each_step("a datagram behind which there is no room: not told to go on if all was sent",
                           survives, &last, send_all);

    return after_refused && after_last ? 0 : 1;
}

/* The port has its packets but one, of which it fills one at a step and looks for more. False if it has packets
 * afterwards and is not called. */
static bool is_called(const void *unused)
{
    static const ethernet_address_t mac = {{2, 0, 1}};
    terminal_port_t *port = &terminal_ports[0];
    uint32_t last = TERMINAL_PORT_PACKETS - 1;

    (void)unused;
    net_init(&network, &mac);
    init_port(port, 0);
    port->office->control.peer.port = 0;
    port->enabled = TERMINAL_RECEIVE_EVENT;
    (void)net_add_packets(&network, PACKET_HOME_SERIAL, packets, buffers[0], last);
    terminal_refill(port, TERMINAL_PORT_PACKETS);
    (void)net_add_packets(&network, PACKET_HOME_SERIAL, packets + last, buffers[last], 1);
    single_step(true);
    terminal_protocol();
    single_step(false);
    terminal_protocol();
    return port->enabled != 0 || kicked;
}

/* What terminal_receive() does. */
static void fill_all(void)
{
    terminal_port_t *port = &terminal_ports[0];
    packet_t *packet;

    while ((packet = RING_POP(&port->empty)) != NULL) {
        (void)RING_PUSH(&port->full, packet);
    }
    port->enabled = 0;
    kicked = false;
    terminal_leave_work(port);
}

static int try_starved(void)
{
    return survives_each_step("a port is not called when there are packets again if it lacked one", is_called, NULL,
                              fill_all)
               ? 0
               : 1;
}

#else

static int try_preempted(void)
{
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

static int try_starved(void)
{
    return try_preempted();
}

#endif

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "preempted") == 0) {
        return try_preempted();
    }
    if (count == 2 && strcmp(words[1], "starved") == 0) {
        return try_starved();
    }
    if (count == 2 && strcmp(words[1], "sent") == 0) {
        return calls_driver(0) && calls_driver(1) ? 0 : 1;
    }
    if (!tells_later()) {
        fprintf(stderr, "not told to go on when there was a packet\n");
        return 1;
    }
    return 0;
}
