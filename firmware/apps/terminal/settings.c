/* What control commands do to a port: the functions of control_port_t, in the protocol service. */
#include "apps/terminal/port.h"

#if UARTS > 0

#include "apps/network.h"
#include "context.h"

_Static_assert((uint64_t)CONTROL_MAX_US * CONFIG_CLOCK_FREQUENCY / 1000000 <= PACKER_MAX_CYCLES,
               "the longest time of a rule must not be too many cycles");

uint32_t terminal_lock(const terminal_port_t *port)
{
    uint32_t before = context_lock_all();

    /* With tiers the service may be waiting for the bus; it ends by itself. */
    while (port->busy) {
        context_unlock_all(before);
        before = context_lock_all();
    }
    return before;
}

void terminal_unlock(uint32_t before)
{
    context_unlock_all(before);
}

static terminal_port_t *port_of(const control_port_t *control)
{
    for (uint32_t number = 0; number < UARTS; number++) {
        if (&terminal_ports[number].office->control == control) {
            return &terminal_ports[number];
        }
    }
    return NULL;
}

static void wake(const terminal_port_t *port)
{
    irq_kick(serial_line(port->number));
}

/* Characters that may wait: there is space for those that come until all ports have been served, as far as
 * half a FIFO has it. */
static uint32_t usable_depth(uint32_t character_cycles)
{
    uint32_t to_come = TERMINAL_ALL_SERVED_CYCLES / character_cycles + 1;
    uint32_t slack = to_come > SERIAL_RECEIVE_DEPTH / 2 ? SERIAL_RECEIVE_DEPTH / 2 : to_come;

    return SERIAL_RECEIVE_DEPTH - (slack > TERMINAL_RECEIVE_SLACK ? slack : TERMINAL_RECEIVE_SLACK);
}

/* A character's time is three quarters of its first stop bit: then it is in the FIFO for certain. */
static levels_line_t line_of(const control_format_t *format, uint32_t baud)
{
    uint32_t quarters = 4u * (1u + format->data_bits + (format->parity != 1)) + 3;
    uint32_t character_cycles = (uint32_t)((uint64_t)CONFIG_CLOCK_FREQUENCY * quarters / 4 / baud) + 8;

    return (levels_line_t){.character_cycles = character_cycles,
                           .bit_cycles = CONFIG_CLOCK_FREQUENCY / baud,
                           .usable_depth = usable_depth(character_cycles)};
}

/* The speed achieved, or 0. */
static uint32_t hold_format(terminal_port_t *port, const control_format_t *format)
{
    static const uint8_t parities[] = {[1] = SERIAL_PARITY_NONE,
                                       [2] = SERIAL_PARITY_ODD,
                                       [3] = SERIAL_PARITY_EVEN,
                                       [4] = SERIAL_PARITY_MARK,
                                       [5] = SERIAL_PARITY_SPACE};
    serial_format_t wanted = {.baud = format->baud,
                              .data_bits = format->data_bits,
                              .parity = parities[format->parity],
                              .stop_bits = format->stop_bits};
    uint32_t achieved_baud;

    if (serial_set_format(port->serial, &wanted, &achieved_baud) != SERIAL_OK) {
        return 0;
    }
    port->line = line_of(format, achieved_baud);
    terminal_apply_rules(port);
    return achieved_baud;
}

static uint32_t set_format(control_port_t *control, const control_format_t *format)
{
    terminal_port_t *port = port_of(control);
    uint32_t before = terminal_lock(port);
    uint32_t achieved_baud = hold_format(port, format);

    terminal_unlock(before);
    wake(port);
    return achieved_baud;
}

static uint32_t cycles_of(uint32_t time_us)
{
    return (uint32_t)((uint64_t)time_us * CONFIG_CLOCK_FREQUENCY / 1000000);
}

static void hold_rules(terminal_port_t *port)
{
    const control_rules_t *rules = &port->office->control.rules;

    port->packer.rules = (packer_rules_t){.time_cycles = cycles_of(rules->time_us),
                                          .idle_cycles = cycles_of(rules->idle_us),
                                          .length = rules->length,
                                          .delimiters = rules->delimiters,
                                          .delimiter = {rules->delimiter[0], rules->delimiter[1]}};
    terminal_apply_rules(port);
}

static void set_rules(control_port_t *control)
{
    terminal_port_t *port = port_of(control);
    uint32_t before = terminal_lock(port);

    terminal_close(port, PACKER_OPEN);
    hold_rules(port);
    /* As behind a want of packets: without a rule for it, characters may have waited in the FIFO for long. */
    terminal_enable(port, TERMINAL_RECEIVE_EVENT, false);
    terminal_unlock(before);
    wake(port);
}

static void hold_flow(terminal_port_t *port)
{
    const control_port_t *control = &port->office->control;
    uint32_t flow = control->flow == TERMINAL_CONTROL_FLOW_HARDWARE
                        ? (uint32_t)SERIAL_FLOW_CTS | SERIAL_FLOW_RTS
                    : control->flow == TERMINAL_CONTROL_FLOW_XON_XOFF
                        ? (uint32_t)SERIAL_FLOW_OBEY_XOFF | SERIAL_FLOW_SEND_XOFF
                        : 0;

    serial_set_flow(port->serial, flow);
    serial_set_rts(port->serial, control->asserts_rts);
}

static void set_flow(control_port_t *control)
{
    terminal_port_t *port = port_of(control);
    uint32_t before = terminal_lock(port);

    hold_flow(port);
    terminal_unlock(before);
}

static void set_break(control_port_t *control)
{
    terminal_port_t *port = port_of(control);
    uint32_t before = terminal_lock(port);

    serial_hold_break(port->serial, control->holds_break);
    terminal_unlock(before);
}

static void set_peer(control_port_t *control)
{
    udp_socket_t *socket = &port_of(control)->office->socket;

    (void)udp_connect(socket, __builtin_bswap32(control->peer.address), control->peer.port);
}

static void set_suspended(control_port_t *control)
{
    terminal_leave_work(port_of(control));
}

static void purge_received(terminal_port_t *port)
{
    terminal_office_t *office = port->office;
    packet_t *packet;

    while ((packet = RING_POP(&port->full)) != NULL) {
        terminal_count(port, TERMINAL_COUNT_PURGED_BYTES, packet->payload_bytes);
        office->lent--;
        net_release(&network, packet);
    }
    uint32_t before = terminal_lock(port);
    uint32_t bytes = packer_bytes(&port->packer) + serial_receive_level(port->serial) + (port->held >= 0);
    serial_purge_received(port->serial);
    port->held = -1;
    if (port->packer.packet != NULL) {
        packer_begin(&port->packer, port->packer.packet);
    }
    terminal_unlock(before);
    terminal_count(port, TERMINAL_COUNT_PURGED_BYTES, bytes);
}

static void purge_transmit(terminal_port_t *port)
{
    uint32_t before = terminal_lock(port);
    uint32_t bytes = port->given_bytes - port->taken_bytes + SERIAL_TRANSMIT_DEPTH
                     - serial_transmit_space(port->serial);

    port->tail = port->head;
    port->taken_bytes = port->given_bytes;
    /* The service that would find nothing left to send is not called any more. */
    terminal_enable(port, TERMINAL_TRANSMIT_EVENT, false);
    serial_purge_transmit(port->serial);
    terminal_unlock(before);
    terminal_count(port, TERMINAL_COUNT_PURGED_BYTES, bytes);
    terminal_leave_work(port);
}

static void purge(control_port_t *control, uint32_t which)
{
    terminal_port_t *port = port_of(control);

    if ((which & CONTROL_PURGE_RECEIVED) != 0) {
        purge_received(port);
        terminal_leave_work(port);
    }
    if ((which & CONTROL_PURGE_TRANSMIT) != 0) {
        purge_transmit(port);
    }
    wake(port);
}

static uint8_t line_state(control_port_t *control)
{
    const terminal_port_t *port = port_of(control);
    bool empty = port->head == port->tail
                 && serial_transmit_space(port->serial) == SERIAL_TRANSMIT_DEPTH;
    bool idle = empty && serial_is_idle(port->serial);

    return (uint8_t)((empty ? TERMINAL_LINE_STATE_TRANSMIT_EMPTY : 0)
                     | (idle ? TERMINAL_LINE_STATE_SHIFTER_EMPTY : 0));
}

static uint8_t modem_state(control_port_t *control)
{
    return serial_cts(port_of(control)->serial) ? TERMINAL_MODEM_STATE_CTS : 0;
}

/* Words that TERMINAL_ROOM_BYTES take. */
enum { ROOM_WORDS = (TERMINAL_ROOM_BYTES + TERMINAL_WORD_BYTES - 1) / TERMINAL_WORD_BYTES };

static control_transmit_t transmit_state(control_port_t *control)
{
    const terminal_port_t *port = port_of(control);

    return (control_transmit_t){.room = terminal_queue_room(port) / ROOM_WORDS * TERMINAL_ROOM_BYTES,
                                .waiting = port->given_bytes - port->taken_bytes,
                                .taken = port->given_bytes};
}

static uint32_t sum_closed(const terminal_port_t *port)
{
    uint32_t sum = 0;

    for (uint32_t verdict = 0; verdict <= PACKER_BY_DELIMITER; verdict++) {
        sum += port->closed[verdict];
    }
    return sum;
}

void terminal_count_errors(terminal_port_t *port)
{
    serial_counters_t *counters = &port->serial->counters;

    serial_read_counters(port->serial);
    terminal_count(port, TERMINAL_COUNT_BREAKS, counters->breaks);
    terminal_count(port, TERMINAL_COUNT_FRAMING_ERRORS, counters->framing);
    terminal_count(port, TERMINAL_COUNT_PARITY_ERRORS, counters->parity);
    terminal_count(port, TERMINAL_COUNT_OVERRUNS, counters->overruns);
    *counters = (serial_counters_t){0};
}

static uint32_t counter(control_port_t *control, terminal_counter_t number)
{
    terminal_port_t *port = port_of(control);

    switch (number) {
    case TERMINAL_COUNT_RECEIVED_BYTES:
        /* The first of the list: the port's own counters are fetched with it. */
        terminal_count_errors(port);
        return port->received_bytes;
    case TERMINAL_COUNT_PACKETS:
        return sum_closed(port);
    case TERMINAL_COUNT_PACKED_TIME:
        return port->closed[PACKER_BY_TIME];
    case TERMINAL_COUNT_PACKED_IDLE:
        return port->closed[PACKER_BY_IDLE];
    case TERMINAL_COUNT_PACKED_LENGTH:
        return port->closed[PACKER_BY_LENGTH];
    case TERMINAL_COUNT_PACKED_DELIMITER:
        return port->closed[PACKER_BY_DELIMITER];
    case TERMINAL_COUNT_PACKED_EVENT:
        return port->closed[PACKER_OPEN];
    case TERMINAL_COUNT_STARVED:
        return port->starved;
    case TERMINAL_COUNT_INTERRUPTS:
        return port->interrupts;
    case TERMINAL_COUNT_SERVICES:
        return port->services;
    default:
        return port->office->counts[number];
    }
}

void terminal_init_settings(terminal_port_t *port)
{
    control_port_t *control = &port->office->control;

    control_init(control, SERIAL_BAUD);
    control->set_format = set_format;
    control->set_rules = set_rules;
    control->set_flow = set_flow;
    control->set_break = set_break;
    control->set_peer = set_peer;
    control->set_suspended = set_suspended;
    control->purge = purge;
    control->line_state = line_state;
    control->modem_state = modem_state;
    control->transmit_state = transmit_state;
    control->counter = counter;
}

void terminal_hold_settings(terminal_port_t *port)
{
    control_port_t *control = &port->office->control;

    (void)hold_format(port, &control->format);
    hold_rules(port);
    hold_flow(port);
    serial_hold_break(port->serial, control->holds_break);
}

#endif
