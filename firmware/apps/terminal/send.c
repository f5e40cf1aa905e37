/* From the terminal server to the network, in the protocol service: packets, and what the client is told. */
#include "apps/network_line.h"
#include "apps/terminal/port.h"
#include "apps/terminal/terminal.h"
#include "context.h"

#if UARTS > 0

volatile bool terminal_has_work;
udp_socket_t terminal_control_socket;

/* A port waits for a packet to fill, for one to tell its client to go on, or for a neighbour's address: it has work,
 * and is looked at whenever the protocol service runs. */
static bool somebody_waits;

static void wait(terminal_port_t *port)
{
    port->has_work = true;
    somebody_waits = true;
}

/* Only the newest datagram waits for an address: those behind it, of whatever port, stay here meanwhile. */
static bool awaits_neighbour(const control_peer_t *peer)
{
    return udp_awaits_neighbour(&network, __builtin_bswap32(peer->address));
}

/* False if the network did not take it. */
static bool output(packet_t *packet)
{
    net_verdict_t verdict = udp_output(&network, packet);

    net_dispose(&network, packet, verdict);
    return verdict != NET_FREE;
}

/* False for want of a packet, or as long as another datagram waits for the client's address. */
static bool notify(terminal_port_t *port, uint32_t code, const uint8_t *value, uint32_t bytes)
{
    const control_peer_t *client = &port->office->client;

    if (client->port == 0) {
        terminal_count(port, TERMINAL_COUNT_LOST_NOTIFICATIONS, 1);
        return true;
    }
    packet_t *packet = awaits_neighbour(client) ? NULL : net_reserve(&network);
    if (packet == NULL) {
        return false;
    }
    uint8_t *at = packet_payload(packet);
    at[0] = TERMINAL_VERSION;
    at[1] = (uint8_t)port->number;
    at[2] = 0;
    at[3] = (uint8_t)(code + TERMINAL_ANSWER);
    at[4] = (uint8_t)bytes;
    if (bytes != 0) {
        __builtin_memcpy(at + 5, value, bytes);
    }
    packet->payload_bytes = (uint16_t)(5 + bytes);
    udp_address(packet, &terminal_control_socket, __builtin_bswap32(client->address), client->port);
    (void)output(packet);
    network_line_wake_driver();
    terminal_count(port, TERMINAL_COUNT_NOTIFICATIONS, 1);
    return true;
}

void terminal_notify(terminal_port_t *port, uint32_t code, const uint8_t *value, uint32_t bytes)
{
    if (!notify(port, code, value, bytes)) {
        terminal_count(port, TERMINAL_COUNT_LOST_NOTIFICATIONS, 1);
    }
}

static void notify_states(terminal_port_t *port)
{
    terminal_office_t *office = port->office;
    uint8_t value[5];

    if (port->events != 0) {
        uint32_t before = terminal_lock(port);
        uint32_t states = port->events & office->control.line_state_mask;
        uint32_t bytes = port->event_bytes;
        port->events = 0;
        terminal_unlock(before);
        if (states != 0) {
            value[0] = (uint8_t)states;
            control_put(value + 1, bytes, 4);
            terminal_notify(port, TERMINAL_NOTIFY_LINESTATE, value, sizeof(value));
        }
    }
    if (port->cts_changes != office->told_cts_changes) {
        office->told_cts_changes = port->cts_changes;
        value[0] = (uint8_t)(office->control.modem_state(&office->control)
                             | TERMINAL_MODEM_STATE_CTS_CHANGED);
        if ((office->control.modem_state_mask & CONTROL_CTS_STATES) != 0) {
            terminal_notify(port, TERMINAL_NOTIFY_MODEMSTATE, value, 1);
        }
    }
}

static void notify_events(terminal_port_t *port)
{
    terminal_office_t *office = port->office;

    if (port->events != 0 && !terminal_is_away(port)) {
        terminal_count_errors(port);
    }
    /* Whoever takes no datagrams can still be told to go on with its own. */
    if (!office->control.is_suspended) {
        notify_states(port);
    }
    if (office->told_suspend && !terminal_is_away(port)
        && terminal_queue_room(port) >= TERMINAL_TRANSMIT_WORDS / 2) {
        /* A client that was stopped may send nothing by which it could be told later. */
        office->told_suspend = !notify(port, TERMINAL_FLOWCONTROL_RESUME, NULL, 0);
        if (office->told_suspend) {
            wait(port);
        }
    }
}

/* False if the network did not take it. */
static bool send(terminal_port_t *port, packet_t *packet)
{
    terminal_office_t *office = port->office;
    const control_peer_t *peer = &office->control.peer;

    if (peer->port == 0) {
        net_release(&network, packet);
        return false;
    }
    udp_address(packet, &office->socket, __builtin_bswap32(peer->address), peer->port);
    return output(packet);
}

/* Sends what is full; true if there was something. */
static bool send_full(terminal_port_t *port)
{
    terminal_office_t *office = port->office;
    bool any = false;

    while (!office->control.is_suspended && RING_COUNT(&port->full) != 0) {
        if (awaits_neighbour(&office->control.peer)) {
            wait(port);
            break;
        }
        packet_t *packet = RING_POP(&port->full);
        uint32_t bytes = packet->payload_bytes;
        office->lent--;
        any = true;
        if (!send(port, packet)) {
            terminal_count(port, TERMINAL_COUNT_NOT_SENT_PACKETS, 1);
            terminal_count(port, TERMINAL_COUNT_NOT_SENT_BYTES, bytes);
        }
    }
    return any;
}

void terminal_refill(terminal_port_t *port, uint32_t packets)
{
    terminal_office_t *office = port->office;

    while (office->lent < packets) {
        packet_t *packet = net_reserve_serial(&network);
        if (packet == NULL) {
            wait(port);
            return;
        }
        office->lent++;
        (void)RING_PUSH(&port->empty, packet);
        /* The service has looked for one, perhaps just now. */
        if ((port->enabled & TERMINAL_RECEIVE_EVENT) == 0) {
            irq_kick(serial_line(port->number));
        }
    }
}

static void work_on(terminal_port_t *port, bool *any)
{
    port->has_work = false;
    COMPILER_BARRIER();
    *any |= send_full(port);
    notify_events(port);
    terminal_refill(port, TERMINAL_PORT_PACKETS);
}

/* Apart from terminal_protocol(), which so needs no stack frame to find that there is nothing to do. */
static __attribute__((noinline)) void work_on_ports(void)
{
    bool any_waits = somebody_waits;
    bool any = false;

    terminal_has_work = false;
    somebody_waits = false;
    COMPILER_BARRIER();
    /* Nobody gets a second packet while there is none for another: those that wait for a neighbour's address are
     * missing for long. */
    for (uint32_t number = 0; any_waits && number < UARTS; number++) {
        if (terminal_ports[number].has_work) {
            terminal_refill(&terminal_ports[number], 1);
        }
    }
    for (uint32_t number = 0; number < UARTS; number++) {
        if (terminal_ports[number].has_work) {
            work_on(&terminal_ports[number], &any);
        }
    }
    if (any) {
        network_line_wake_driver();
        /* Such a driver has copied what it sends: the network may take that back at once. */
        if (NETWORK_MAC_IN_PROTOCOL && somebody_waits) {
            context_post_protocol();
        }
    }
}

void terminal_protocol(void)
{
    if (terminal_has_work || somebody_waits) {
        work_on_ports();
    }
}

#endif
