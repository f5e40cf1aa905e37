#include "apps/lin/lin.h"

#include <stddef.h>
#include <string.h>

#include "alarm.h"
#include "apps/lin/host.h"
#include "apps/serial_ports.h"
#include "context.h"
#include "irq.h"
#include "net/compiler.h"
#include "report.h"

/* Outside local memory: a character comes every half millisecond at the most. */
static SET_BEFORE_RUN_LARGE lin_port_t ports[LIN_NODES];

/* There are reports that lin_protocol() has not seen, or could not send. */
static bool reports_wait;

lin_port_t *lin_at(uint32_t index)
{
    return &ports[index];
}

#if UARTS > 0

enum { BREAK_BITS = 13, US_CYCLES = CONFIG_CLOCK_FREQUENCY / 1000000 };

/* The last node of each port: when it is given back, its service may still be waiting for the bus. */
static lin_port_t *by_port[UARTS];

/* 0 shows an experiment when an answer is written: it then begins at once, in a received stop bit. */
SET_BEFORE_RUN uint32_t lin_turns = 1;

_Static_assert((uint32_t)LIN_CHARACTER_BREAK == SERIAL_BREAK
                   && (uint32_t)LIN_CHARACTER_BAD == SERIAL_FRAMING,
               "a node's flags are those of the serial port");

lin_port_t *lin_of_port(uint32_t port)
{
    lin_port_t *lin = port < UARTS ? by_port[port] : NULL;

    return lin != NULL && lin->used && lin->port == port ? lin : NULL;
}

/* The port is ours: every character calls for service, and the transmitter lets a received stop bit
 * end before it begins. */
static void begin(uint32_t port)
{
    serial_t *serial = &serial_ports[port];
    const serial_format_t format = {by_port[port]->baud, 8, SERIAL_PARITY_NONE, 1};
    const serial_levels_t levels = {
        .receive_watermark = 1, .stop_level = 1, .resume_level = 0};

    (void)serial_init(serial, port);
    (void)serial_set_format(serial, &format, NULL);
    (void)serial_set_levels(serial, &levels);
    serial_set_flow(serial, lin_turns ? SERIAL_FLOW_TURN : 0);
}

static void put_report(lin_port_t *lin)
{
    uint32_t head = lin->report_head;

    COMPILER_BARRIER();
    if (head - lin->report_tail >= LIN_REPORTS) {
        lin->reports_lost++;
        return;
    }
    lin->reports[head % LIN_REPORTS] = lin->node.report;
    COMPILER_BARRIER();
    lin->report_head = head + 1;
    COMPILER_BARRIER();
    reports_wait = true;
    context_post_protocol();
}

/* What happens once or twice a frame. */
static COLD void act_seldom(lin_port_t *lin, serial_t *serial, uint32_t actions)
{
    uint32_t byte = actions & LIN_DO_BYTE;

    if ((actions & LIN_DO_STOP) != 0) {
        serial_purge_transmit(serial);
    }
    if ((actions & LIN_DO_HEADER) != 0) {
        (void)serial_send_break(serial, BREAK_BITS);
        serial_transmit(serial, LIN_SYNC | byte << 8, 2);
    }
    if ((actions & LIN_DO_REPORT) != 0) {
        put_report(lin);
    }
}

static inline void act(lin_port_t *lin, serial_t *serial, uint32_t actions)
{
    if ((actions & LIN_DO_SEND) != 0) {
        serial_transmit(serial, actions & LIN_DO_BYTE, 1);
    }
    if ((actions & (LIN_DO_STOP | LIN_DO_HEADER | LIN_DO_REPORT)) != 0) {
        act_seldom(lin, serial, actions);
    }
}

/* Tier of the port's line. One character; if there are more, the line stays. Longest path: a character
 * that completes a response, and its report; shares reports with the protocol service. */
static void serve(uint32_t port, bool pending)
{
    lin_port_t *lin = by_port[port];
    serial_t *serial = &serial_ports[port];

    if (pending) {
        uint32_t character = serial_receive_burst(serial);
        uint32_t count = SERIAL_BURST_COUNT(character);
        uint32_t flags = SERIAL_BURST_FLAGS(character);
        if (UNLIKELY((flags & SERIAL_OVERRUN) != 0)) {
            /* Since it was last read. */
            lin->node.counters.overruns += mmio_read(serial->base + SERIAL_REGISTER(COUNT_OVERRUNS));
        }
        while (count-- != 0) {
            act(lin, serial,
                lin_receive(&lin->node, character & 0xff,
                            flags & (LIN_CHARACTER_BREAK | LIN_CHARACTER_BAD), serial_now()));
            character >>= 8;
        }
    }
    while (lin->ticks_done != lin->ticks_due) {
        lin->ticks_done++;
        act(lin, serial, lin_tick(&lin->node, serial_now()));
    }
}

static const serial_user_t user = {.name = "lin", .begin = begin, .serve = serve};

/* Tier of the timer's line. As long as there are nodes. */
static void ring(alarm_t *alarm)
{
    bool any = false;

    for (uint32_t index = 0; index < LIN_NODES; index++) {
        lin_port_t *lin = &ports[index];
        if (lin->used) {
            lin->ticks_due++;
            irq_kick(serial_line(lin->port));
            any = true;
        }
    }
    if (any) {
        alarm_repeat(alarm, CONFIG_CLOCK_FREQUENCY / 1000);
    }
}

static alarm_t millisecond = {.ring = ring};

bool lin_open(uint32_t port, uint32_t baud, lin_role_t role)
{
    for (uint32_t index = 0; index < LIN_NODES; index++) {
        lin_port_t *lin = &ports[index];
        if (!lin->used) {
            lin_node_init(&lin->node, role, CONFIG_CLOCK_FREQUENCY / baud, US_CYCLES);
            lin->identity = (lin_identity_t){.initial_nad = 1, .nad = 1};
            lin->port = port;
            lin->baud = baud;
            lin->reports_lost = 0;
            lin->ticks_done = lin->ticks_due;
            by_port[port] = lin;
            COMPILER_BARRIER();
            (void)serial_ports_give(port, &user);
            lin->used = true;
            COMPILER_BARRIER();
            /* If it is, it has yet to ring, and sees the node. */
            if (!millisecond.is_set) {
                alarm_set(&millisecond, CONFIG_CLOCK_FREQUENCY / 1000);
            }
            return true;
        }
    }
    return false;
}

void lin_close(lin_port_t *lin)
{
    lin->used = false;
    COMPILER_BARRIER();
    (void)serial_ports_give(lin->port, serial_ports_usual_user());
}

#else

lin_port_t *lin_of_port(uint32_t port)
{
    (void)port;
    return NULL;
}

bool lin_open(uint32_t port, uint32_t baud, lin_role_t role)
{
    (void)port;
    (void)baud;
    (void)role;
    return false;
}

void lin_close(lin_port_t *lin)
{
    (void)lin;
}

#endif

/* A request of the commander: its response, or none, takes the place of the one before. */
static void diagnose(lin_port_t *lin, const lin_report_t *report)
{
    uint8_t response[LIN_DATA_BYTES];

    lin_cancel(&lin->node, LIN_RESPONDER_RESPONSE);
    if (lin_diagnose(&lin->node, &lin->identity, report->data, response)) {
        (void)lin_write(&lin->node, LIN_RESPONDER_RESPONSE, response, LIN_DATA_BYTES);
    }
}

void lin_protocol(void)
{
    if (!reports_wait) {
        return;
    }
    reports_wait = false;
    COMPILER_BARRIER();
    for (uint32_t index = 0; index < LIN_NODES; index++) {
        lin_port_t *lin = &ports[index];
        while (lin->report_tail != lin->report_head) {
            COMPILER_BARRIER();
            const lin_report_t *report = &lin->reports[lin->report_tail % LIN_REPORTS];
            lin_udp_tell(lin->port, report);
            if (report->outcome == LIN_RECEIVED && report->identifier == LIN_COMMANDER_REQUEST) {
                diagnose(lin, report);
            }
            COMPILER_BARRIER();
            lin->report_tail++;
            COMPILER_BARRIER();
        }
    }
    if (!lin_udp_flush()) {
        reports_wait = true;
    }
}

void lin_init(void)
{
    memset(ports, 0, sizeof(ports));
    lin_udp_init();
}

const char *lin_result_text(lin_result_t result)
{
    static const char *const texts[] = {
        [LIN_OK] = "ok",
        [LIN_NO_SUCH_FRAME] = "no such frame, or it goes the other way",
        [LIN_BAD_IDENTIFIER] = "the identifier is reserved",
        [LIN_IN_USE] = "the identifier has a frame",
        [LIN_FULL] = "no more room",
        [LIN_BAD_LENGTH] = "not 1 to 8 bytes, or not as many as the frame has",
        [LIN_BAD_BIT] = "no such bit",
        [LIN_BAD_SLOT] = "a slot must have 1 ms or more",
        [LIN_NOT_COMMANDER] = "the node is no commander",
    };

    return texts[result];
}

const char *lin_outcome_name(lin_outcome_t outcome)
{
    static const char *const names[LIN_OUTCOMES] = {
        [LIN_SENT] = "sent",
        [LIN_RECEIVED] = "received",
        [LIN_NO_RESPONSE] = "no response",
        [LIN_INCOMPLETE] = "incomplete",
        [LIN_BAD_CHECKSUM] = "bad checksum",
        [LIN_BAD_CHARACTER] = "bad character",
        [LIN_BIT_ERROR] = "bit error",
        [LIN_BAD_SYNC] = "bad sync",
        [LIN_BAD_PARITY] = "bad parity",
        [LIN_BAD_HEADER] = "bad header",
        [LIN_ASLEEP] = "asleep",
        [LIN_AWAKE] = "awake",
    };

    return names[outcome];
}
