/* The terminal server and a client that has sent too much and is to be told to go on:
 *
 *   packet      when there is no packet for that at first
 *   preempted   with the port's service running between two instructions of the protocol service: the CPU's
 *               single-step trap calls it, and it sends all that waits, as after many interrupts
 *
 * Exit status 0 if the client is told, otherwise a line on stderr; 77 on a host without such a trap.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../firmware/net/stack.h"
#include "single_step.h"

/* Registers, the serial port, lines, and the network's MAC: in the place of their headers. */
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

static void irq_kick(uint32_t line)
{
    (void)line;
}

static net_t network;

#include "apps/terminal/send.c"
#include "apps/terminal/terminal.c"
#include "apps/terminal/transmit.c"

context_posts_t context_posts;
serial_t serial_ports[UARTS];

/* --- the rest of the server, which has nothing to do here ---------------------------------------- */

void serial_ports_init(const serial_user_t *user, uint32_t priority)
{
    (void)user;
    (void)priority;
}

const serial_user_t *serial_ports_user(uint32_t port)
{
    (void)port;
    return &terminal;
}

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

uint32_t terminal_lock(const terminal_port_t *port)
{
    (void)port;
    return 0;
}

void terminal_unlock(uint32_t before)
{
    (void)before;
}

void terminal_init_settings(terminal_port_t *port)
{
    port->office->control.peer.port = 1;
}

void terminal_hold_settings(terminal_port_t *port)
{
    (void)port;
}

control_outcome_t control_answer(control_port_t *const *ports, uint32_t count, const uint8_t *request,
                                 uint32_t bytes, control_peer_t source, uint8_t *answer, uint32_t room)
{
    (void)ports;
    (void)count;
    (void)request;
    (void)bytes;
    (void)source;
    (void)answer;
    (void)room;
    return (control_outcome_t){.port = -1};
}

/* --- the trials ---------------------------------------------------------------------------------- */

/* The queue is full and runs dry while there is no packet. False if the client is not told to go on when one is free. */
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

#ifdef __x86_64__

/* Steps of the protocol service. */
enum { LEAST_STEPS = 20, DATAGRAM_BYTES = 2 * TERMINAL_WORD_BYTES };

static volatile unsigned step, last_step;

static void send_on_trap(int signal_number)
{
    terminal_port_t *port = &terminal_ports[0];

    (void)signal_number;
    step = step + 1;
    while (step == last_step && port->head != port->tail) {
        terminal_transmit(port, SERIAL_TRANSMIT_DEPTH);
    }
}

/* `before` words wait when a datagram comes, and everything is sent at `last_step`. False if nobody tells the
 * client afterwards that it may go on. */
static bool survives(uint32_t before)
{
    static _Alignas(4) uint8_t frame[PACKET_PAYLOAD_OFFSET + DATAGRAM_BYTES];
    terminal_port_t *port = &terminal_ports[0];
    packet_t packet = {.frame = frame, .payload_bytes = DATAGRAM_BYTES};

    init_port(port, 0);
    port->head = before;
    terminal_has_work = false;
    /* There are no packets for what is received, but that is not on trial. */
    somebody_waits = false;
    step = 0;
    single_step(true);
    (void)take_data(&port->office->socket, &packet);
    single_step(false);
    /* The service runs behind the datagram too. */
    while (port->head != port->tail) {
        terminal_transmit(port, SERIAL_TRANSMIT_DEPTH);
    }
    terminal_protocol();
    return !port->office->told_suspend;
}

static bool survives_everywhere(const char *what, uint32_t before)
{
    for (last_step = 1;; last_step = last_step + 1) {
        bool survived = survives(before);
        if (step < last_step) {
            break;
        }
        if (!survived) {
            fprintf(stderr, "%s: not told to go on if all was sent before step %u\n", what, last_step);
            return false;
        }
    }
    if (last_step < LEAST_STEPS) {
        fprintf(stderr, "the trap came %u times only\n", step);
        return false;
    }
    return true;
}

static int try_preempted(void)
{
    signal(SIGTRAP, send_on_trap);
    bool refused = survives_everywhere("a datagram that is refused", TERMINAL_TRANSMIT_WORDS - 1);
    bool last = survives_everywhere("a datagram behind which there is no room",
                                    TERMINAL_TRANSMIT_WORDS - PACKET_PAYLOAD_BYTES / TERMINAL_WORD_BYTES - 1);

    return refused && last ? 0 : 1;
}

#else

static int try_preempted(void)
{
    fprintf(stderr, "no single-step trap on this host\n");
    return NOT_HERE;
}

#endif

int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "preempted") == 0) {
        return try_preempted();
    }
    if (!tells_later()) {
        fprintf(stderr, "not told to go on when there was a packet\n");
        return 1;
    }
    return 0;
}
