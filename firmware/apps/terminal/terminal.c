#include "apps/terminal/terminal.h"

#include "apps/network.h"
#include "apps/terminal/port.h"
#include "context.h"
#include "report.h"

#if UARTS > 0

#include <stdio.h>

/* What a port has it keeps until a line has filled it. */
_Static_assert(NET_SERIAL_PACKETS > (UARTS - 1) * TERMINAL_PORT_PACKETS,
              "NET_SERIAL_PACKETS must leave each port one when the others have TERMINAL_PORT_PACKETS");

terminal_port_t terminal_ports[UARTS];
uint32_t terminal_clock_offset;

static SET_BEFORE_RUN_LARGE terminal_office_t offices[UARTS];
static SET_BEFORE_RUN_LARGE uint32_t queues[UARTS][TERMINAL_TRANSMIT_WORDS];
static SET_BEFORE_RUN_LARGE packet_t packets[NET_SERIAL_PACKETS];
static SET_BEFORE_RUN_LARGE _Alignas(4) uint8_t buffers[NET_SERIAL_PACKETS][NET_BUFFER_BYTES];

static uint32_t bad_datagrams;

/* --- interrupt service ------------------------------------------------------------------------- */

static void watch_cts(terminal_port_t *port)
{
    uintptr_t pending = port->serial->base + SERIAL_REGISTER(EV_PENDING);

    if ((mmio_read(pending) & TERMINAL_CTS_EVENT) != 0) {
        mmio_write(pending, TERMINAL_CTS_EVENT);
        port->cts_changes++;
        terminal_leave_work(port);
        context_post_protocol();
    }
}

/* Tier 2, or whichever the line belongs to. Longest path: terminal_receive() and terminal_transmit(). */
static void serve(uint32_t number, bool pending)
{
    terminal_port_t *port = &terminal_ports[number];

    port->busy = true;
    port->services++;
    port->interrupts += pending;
    /* What has come before this is in the FIFO when its level is read. */
    uint32_t before = terminal_now();
    uint32_t level = mmio_read(port->serial->base + SERIAL_REGISTER(LEVEL));
    terminal_receive(port, before, level & 0xffff);
    if (port->head != port->tail) {
        terminal_transmit(port, level >> CSR_SERIAL_PORT0_LEVEL_SPACE_OFFSET);
    }
    if (UNLIKELY(port->watches_cts)) {
        watch_cts(port);
    }
    port->busy = false;
}

/* The port is ours, perhaps again. */
static void begin(uint32_t number)
{
    static const serial_levels_t levels
        = {.receive_watermark = 1,
           .transmit_watermark = TERMINAL_TRANSMIT_WATERMARK,
           .stop_level = TERMINAL_RECEIVE_WATERMARK + (TERMINAL_RECEIVE_SLACK + 1) / 2,
           .resume_level = TERMINAL_RECEIVE_WATERMARK / 2};
    terminal_port_t *port = &terminal_ports[number];

    port->busy = true;
    (void)serial_init(port->serial, number);
    (void)serial_set_levels(port->serial, &levels);
    port->enabled = TERMINAL_RECEIVE_EVENT;
    terminal_hold_settings(port);
    /* What the port had before another module got it. */
    terminal_close(port, PACKER_OPEN);
    port->held = -1;
    terminal_enable(port, TERMINAL_CTS_EVENT, port->watches_cts);
    terminal_transmit(port, SERIAL_TRANSMIT_DEPTH);
    port->busy = false;
}

static uint32_t received(uint32_t number)
{
    return terminal_ports[number].received_bytes;
}

static const serial_user_t terminal = {.name = "terminal",
                                       .begin = begin,
                                       .serve = serve,
                                       .room = TERMINAL_RECEIVE_SLACK,
                                       .received = received};

bool terminal_is_away(const terminal_port_t *port)
{
    return serial_ports_user(port->number) != &terminal;
}

static void ring(alarm_t *alarm)
{
    const terminal_port_t *port
        = (const terminal_port_t *)((uintptr_t)alarm - offsetof(terminal_port_t, alarm));

    irq_kick(serial_line(port->number));
}

/* --- protocol service -------------------------------------------------------------------------- */

static control_peer_t source_of(const packet_t *packet)
{
    return (control_peer_t){.address = __builtin_bswap32(packet->peer_address),
                            .port = (uint16_t)be16_to_host(packet->peer_port)};
}

/* The next word of a datagram, with `bytes` bytes. */
INLINE uint32_t word_of(const uint8_t *from, uint32_t bytes)
{
    uint32_t word = from[0] | (bytes - 1) << CSR_SERIAL_PORT0_TRANSMIT_MORE_OFFSET;

    if (bytes > 1) {
        word |= (uint32_t)from[1] << 8;
    }
    if (bytes > 2) {
        word |= (uint32_t)from[2] << 16;
    }
    return word;
}

/* Puts `bytes` bytes into the queue, which has room for them. */
static void queue_bytes(terminal_port_t *port, const uint8_t *from, uint32_t bytes)
{
    uint32_t head = port->head;
    uint32_t *queue = port->queue;
    uint32_t left = bytes;

    for (; left >= TERMINAL_WORD_BYTES; left -= TERMINAL_WORD_BYTES) {
        queue[head++ % TERMINAL_TRANSMIT_WORDS] = word_of(from, TERMINAL_WORD_BYTES);
        from += TERMINAL_WORD_BYTES;
    }
    if (left != 0) {
        queue[head++ % TERMINAL_TRANSMIT_WORDS] = word_of(from, left);
    }
    COMPILER_BARRIER();
    port->given_bytes += bytes;
    port->head = head;
}

static void suspend_client(terminal_port_t *port)
{
    if (!port->office->told_suspend) {
        port->office->told_suspend = true;
        /* If the service made room before it could see this, nothing else lets terminal_protocol() look. */
        terminal_leave_work(port);
        terminal_notify(port, TERMINAL_FLOWCONTROL_SUSPEND, NULL, 0);
    }
}

/* A datagram for the serial line. */
static udp_verdict_t take_data(udp_socket_t *socket, packet_t *packet)
{
    terminal_port_t *port = socket->context;
    control_port_t *control = &port->office->control;
    uint32_t bytes = packet->payload_bytes;
    uint32_t words = (bytes + TERMINAL_WORD_BYTES - 1) / TERMINAL_WORD_BYTES;

    /* Port 0 can't be answered. */
    if (control->peer.port == 0 && packet->peer_port != 0) {
        control->peer = source_of(packet);
        control->set_peer(control);
    }
    if (words > terminal_queue_room(port) || terminal_is_away(port)) {
        terminal_count(port, TERMINAL_COUNT_REFUSED_DATAGRAMS, 1);
        terminal_count(port, TERMINAL_COUNT_REFUSED_BYTES, bytes);
        suspend_client(port);
        return UDP_DONE;
    }
    queue_bytes(port, packet_payload(packet), bytes);
    terminal_count(port, TERMINAL_COUNT_TRANSMIT_DATAGRAMS, 1);
    terminal_count(port, TERMINAL_COUNT_TRANSMIT_BYTES, bytes);
    if (terminal_queue_room(port) * TERMINAL_WORD_BYTES < PACKET_PAYLOAD_BYTES) {
        suspend_client(port);
    }
    irq_kick(serial_line(port->number));
    return UDP_DONE;
}

/* What a client has changed that the interrupt service has to know. */
static void follow_client(terminal_port_t *port)
{
    bool watches = (port->office->control.modem_state_mask & CONTROL_CTS_STATES) != 0;

    if (watches == port->watches_cts) {
        return;
    }
    uint32_t before = terminal_lock(port);
    /* Not what was before anybody watched. */
    mmio_write(port->serial->base + SERIAL_REGISTER(EV_PENDING), TERMINAL_CTS_EVENT);

    port->watches_cts = watches;
    terminal_enable(port, TERMINAL_CTS_EVENT, watches);
    terminal_unlock(before);
}

static udp_verdict_t take_control(udp_socket_t *socket, packet_t *packet)
{
    static uint8_t request[TERMINAL_REQUEST_BYTES + 1];
    control_port_t *controls[UARTS];
    uint32_t bytes = packet->payload_bytes;

    (void)socket;
    bytes = bytes < sizeof(request) ? bytes : sizeof(request);
    __builtin_memcpy(request, packet_payload(packet), bytes);
    for (uint32_t number = 0; number < UARTS; number++) {
        const terminal_port_t *port = &terminal_ports[number];
        controls[number] = terminal_is_away(port) ? NULL : &port->office->control;
    }
    control_outcome_t outcome
        = control_answer(controls, UARTS, request, bytes, source_of(packet), packet_payload(packet),
                         PACKET_PAYLOAD_BYTES);
    if (outcome.port >= 0) {
        terminal_port_t *port = &terminal_ports[outcome.port];
        terminal_count(port, TERMINAL_COUNT_BAD_COMMANDS, outcome.errors);
        if (outcome.is_from_client) {
            port->office->client = source_of(packet);
            follow_client(port);
        }
    } else {
        bad_datagrams++;
        for (uint32_t number = 0; number < UARTS; number++) {
            terminal_ports[number].office->counts[TERMINAL_COUNT_BAD_DATAGRAMS] = bad_datagrams;
        }
    }
    packet->payload_bytes = (uint16_t)outcome.answer_bytes;
    return outcome.answer_bytes != 0 ? UDP_REPLY : UDP_DONE;
}

/* --- set-up ------------------------------------------------------------------------------------ */

static void init_port(terminal_port_t *port, uint32_t number)
{
    *port = (terminal_port_t){.number = number,
                              .serial = &serial_ports[number],
                              .queue = queues[number],
                              .office = &offices[number],
                              .held = -1,
                              .alarm = {.ring = ring}};
    offices[number] = (terminal_office_t){.lent = 0};
    terminal_init_settings(port);
    udp_init(&port->office->socket, take_data, port);
    (void)udp_bind(&network, &port->office->socket, TERMINAL_DATA_PORT + number);
    terminal_refill(port, TERMINAL_PORT_PACKETS);
}

/* The same cycle by both counts, to a few. */
static void compare_clocks(void)
{
#ifdef CONFIG_CPU_TYPE_TIERV
    uint32_t before = CSR_READ(CSR_MCYCLE);
    uint32_t now = serial_now();
    uint32_t after = CSR_READ(CSR_MCYCLE);

    terminal_clock_offset = now - before - (after - before) / 2;
#endif
}

void terminal_init(uint32_t priority)
{
    compare_clocks();
    (void)net_add_packets(&network, PACKET_HOME_SERIAL, packets, buffers[0], NET_SERIAL_PACKETS);
    for (uint32_t number = 0; number < UARTS; number++) {
        init_port(&terminal_ports[number], number);
    }
    serial_ports_init(&terminal, priority);
    udp_init(&terminal_control_socket, take_control, NULL);
    (void)udp_bind_service(&network, &terminal_control_socket, TERMINAL_CONTROL_PORT);
}

#endif
