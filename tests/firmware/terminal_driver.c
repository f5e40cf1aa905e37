/* The terminal server's pure parts, driven by text: packing rules, control datagrams, watermarks.
 *
 *   constants                        every number of protocol.h, by name
 *   rules TIME IDLE LENGTH HEX       a new packer
 *   take HEX TIME                    a byte at a time, as the exact path of the server does it
 *   burst HEX TIME                   one to three bytes at once; the caller knows that no rule is met
 *   now TIME                         nothing has come; `left` cycles until a rule is due
 *   limit TIME                       bytes have waited for long
 *   control PORTS ROOM HEX           a control datagram from 10.0.0.2 port 4711
 *   levels BYTES CHARACTER BIT USABLE   for a packet of so many bytes by the rules
 *   haste CHARACTER LEVEL TIME       for so many characters in the FIFO
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../firmware/apps/terminal/control.h"
#include "../../firmware/apps/terminal/haste.h"
#include "../../firmware/apps/terminal/levels.h"
#include "../../firmware/apps/terminal/packer.h"
#include "../../firmware/net/checksum.h"
#include "text.h"

enum { MOST_PORTS = 4 };

static uint8_t bytes[TEXT_HEX_BYTES];

/* --- packing rules ----------------------------------------------------------------------------- */

static const char *const verdicts[] = {"open", "time", "idle", "length", "delimiter"};
static packer_t packer;
static packet_t packet;

static packer_rules_t read_rules(void)
{
    packer_rules_t rules = {.time_cycles = text_number(1),
                            .idle_cycles = text_number(2),
                            .length = (uint16_t)text_number(3)};

    rules.delimiters = (uint8_t)text_hex(bytes, 4);
    memcpy(rules.delimiter, bytes, rules.delimiters);
    return rules;
}

/* A frame that ends with the longest payload, rounded up to whole words. */
static void begin(void)
{
    free(packet.frame);
    packet.frame = malloc(PACKET_PAYLOAD_OFFSET + (packer.rules.length + 2u) / 4 * 4 + 2u);
    packer_begin(&packer, &packet);
}

static void end(packer_verdict_t verdict)
{
    packet_t *ended = packer_end(&packer);
    const uint8_t *payload = packet_payload(ended);

    if (ended->flags != PACKET_PAYLOAD_SUMMED
        || checksum_fold(ended->sum) != checksum_fold(checksum_sum(payload, ended->payload_bytes))) {
        printf("wrong sum\n");
    }
    printf("closed %s ", verdicts[verdict]);
    text_print_hex(payload, ended->payload_bytes);
    begin();
}

static void check_time(uint32_t now)
{
    packer_verdict_t verdict = packer_bytes(&packer) != 0 ? packer_check_time(&packer, now) : PACKER_OPEN;

    if (verdict != PACKER_OPEN) {
        end(verdict);
    }
}

static void run_take(void)
{
    uint32_t count = text_hex(bytes, 1);
    uint32_t time = text_number(2);

    for (uint32_t i = 0; i < count; i++) {
        check_time(time);
        packer_verdict_t verdict = packer_take(&packer, bytes[i], time);
        if (verdict != PACKER_OPEN) {
            end(verdict);
        }
    }
}

static void run_burst(void)
{
    uint32_t count = text_hex(bytes, 1);
    uint32_t characters = 0;

    for (uint32_t i = 0; i < count; i++) {
        characters |= (uint32_t)bytes[i] << 8 * i;
    }
    packer_append(&packer.fill, characters, count);
    packer.last_time = text_number(2);
    if (packer_bytes(&packer) == packer.rules.length) {
        end(PACKER_BY_LENGTH);
    }
}

static void run_now(void)
{
    uint32_t now = text_number(1);
    uint32_t cycles;

    check_time(now);
    if (packer_bytes(&packer) != 0 && packer_next_time(&packer, now, &cycles)) {
        printf("left %u\n", cycles);
    }
}

static void run_levels(void)
{
    levels_line_t line = {.character_cycles = text_number(2),
                          .bit_cycles = text_number(3),
                          .usable_depth = text_number(4)};
    levels_t levels = levels_for(&packer.rules, text_number(1), &line);

    printf("levels %u %u\n", levels.watermark, levels.timeout_bits);
}

static void run_haste(void)
{
    haste_t haste = haste_for(&packer, text_number(1), text_number(2), text_number(3));

    printf("haste %u %d\n", haste.doubted, haste.is_early);
}

/* --- control datagrams ------------------------------------------------------------------------- */

static control_port_t ports[MOST_PORTS];

static uint32_t set_format(control_port_t *port, const control_format_t *format)
{
    if (format->baud > 1000000 || (format->data_bits == 5 && format->parity == 4)) {
        return 0;
    }
    printf("format %d %u %u %u %u\n", (int)(port - ports), format->baud, format->data_bits,
           format->parity, format->stop_bits);
    return format->baud + 1;
}

static void set_rules(control_port_t *port)
{
    const control_rules_t *rules = &port->rules;

    printf("rules %d %u %u %u ", (int)(port - ports), rules->time_us, rules->idle_us, rules->length);
    text_print_hex(rules->delimiter, rules->delimiters);
}

static void set_flow(control_port_t *port)
{
    printf("flow %d %u %u\n", (int)(port - ports), port->flow, port->asserts_rts);
}

static void set_break(control_port_t *port)
{
    printf("break %d %u\n", (int)(port - ports), port->holds_break);
}

static void set_peer(control_port_t *port)
{
    printf("peer %d %08x %u\n", (int)(port - ports), port->peer.address, port->peer.port);
}

static void set_suspended(control_port_t *port)
{
    printf("suspended %d %u\n", (int)(port - ports), port->is_suspended);
}

static void purge(control_port_t *port, uint32_t which)
{
    printf("purge %d %u\n", (int)(port - ports), which);
}

static uint8_t line_state(control_port_t *port)
{
    (void)port;
    return TERMINAL_LINE_STATE_TRANSMIT_EMPTY;
}

static uint8_t modem_state(control_port_t *port)
{
    (void)port;
    return TERMINAL_MODEM_STATE_CTS;
}

static control_transmit_t transmit_state(control_port_t *port)
{
    (void)port;
    return (control_transmit_t){.room = 0x01020304, .waiting = 5, .taken = 6};
}

static uint32_t counter(control_port_t *port, terminal_counter_t number)
{
    return (uint32_t)(port - ports) << 24 | number;
}

static void run_control(void)
{
    control_port_t *pointers[MOST_PORTS];
    uint32_t count = text_number(1);
    uint32_t room = text_number(2);
    uint32_t length = text_hex(bytes, 3);
    uint8_t *request = malloc(length);
    uint8_t *answer = malloc(room);

    memcpy(request, bytes, length);
    for (uint32_t i = 0; i < count; i++) {
        pointers[i] = &ports[i];
    }
    control_outcome_t outcome
        = control_answer(pointers, count, request, length,
                         (control_peer_t){.address = 0x0a000002, .port = 4711}, answer, room);
    printf("outcome %d %u %u\n", outcome.port, outcome.errors, outcome.is_from_client);
    printf("answer ");
    text_print_hex(answer, outcome.answer_bytes);
    free(request);
    free(answer);
}

static void reset_ports(void)
{
    for (uint32_t i = 0; i < MOST_PORTS; i++) {
        control_init(&ports[i], 115200);
        ports[i].set_format = set_format;
        ports[i].set_rules = set_rules;
        ports[i].set_flow = set_flow;
        ports[i].set_break = set_break;
        ports[i].set_peer = set_peer;
        ports[i].set_suspended = set_suspended;
        ports[i].purge = purge;
        ports[i].line_state = line_state;
        ports[i].modem_state = modem_state;
        ports[i].transmit_state = transmit_state;
        ports[i].counter = counter;
    }
}

/* --- constants --------------------------------------------------------------------------------- */

#define PRINT(kind, name) printf(#kind " " #name " %d\n", (int)TERMINAL_##name)

#define PRINT_COMMAND(name, code) printf("Command " #name " %d\n", (int)TERMINAL_##name);
#define PRINT_CONTROL(name, code) printf("Control " #name " %d\n", (int)TERMINAL_CONTROL_##name);
#define PRINT_LINE_STATE(name, bit)                                                                \
    printf("LineState " #name " %d\n", (int)TERMINAL_LINE_STATE_##name);
#define PRINT_MODEM_STATE(name, bit)                                                               \
    printf("ModemState " #name " %d\n", (int)TERMINAL_MODEM_STATE_##name);
#define PRINT_REASON(name, code) printf("Reason " #name " %d\n", (int)TERMINAL_REASON_##name);
#define PRINT_COUNTER(name) printf("COUNTERS " #name " %d\n", (int)TERMINAL_COUNT_##name);

static void run_constants(void)
{
    PRINT(constant, VERSION);
    PRINT(constant, CONTROL_PORT);
    PRINT(constant, DATA_PORT);
    PRINT(constant, HEADER_BYTES);
    PRINT(constant, REQUEST_BYTES);
    PRINT(constant, ROOM_BYTES);
    PRINT(constant, ANSWER);
    PRINT(constant, ERROR);
    printf("constant MAX_DATA_BYTES %d\n", (int)CONTROL_MAX_LENGTH);
    printf("constant MAX_RULE_US %d\n", (int)CONTROL_MAX_US);
    printf("Purge RECEIVED %d\n", (int)CONTROL_PURGE_RECEIVED);
    printf("Purge TRANSMIT %d\n", (int)CONTROL_PURGE_TRANSMIT);
    TERMINAL_COMMANDS(PRINT_COMMAND)
    TERMINAL_CONTROLS(PRINT_CONTROL)
    TERMINAL_LINE_STATES(PRINT_LINE_STATE)
    TERMINAL_MODEM_STATES(PRINT_MODEM_STATE)
    TERMINAL_REASONS(PRINT_REASON)
    TERMINAL_COUNTERS(PRINT_COUNTER)
}

static void run(const char *command)
{
    if (strcmp(command, "constants") == 0) {
        run_constants();
    } else if (strcmp(command, "rules") == 0) {
        packer.rules = read_rules();
        begin();
    } else if (strcmp(command, "take") == 0) {
        run_take();
    } else if (strcmp(command, "burst") == 0) {
        run_burst();
    } else if (strcmp(command, "now") == 0) {
        run_now();
    } else if (strcmp(command, "limit") == 0) {
        packer_limit_age(&packer, text_number(1));
    } else if (strcmp(command, "levels") == 0) {
        run_levels();
    } else if (strcmp(command, "haste") == 0) {
        run_haste();
    } else if (strcmp(command, "control") == 0) {
        run_control();
    } else if (strcmp(command, "reset") == 0) {
        reset_ports();
    } else {
        text_fail("no such command");
    }
}

int main(void)
{
    reset_ports();
    text_serve(run);
    free(packet.frame);
    return 0;
}
