/* What the commands of protocol.h mean. */
#include "apps/terminal/control.h"

#include <string.h>

static const char signature[] = "TierV terminal server";

enum { PARITY_NONE = 1, PARITY_SPACE = 5, STOP_ONE = 1, STOP_TWO = 2, STOP_ONE_AND_HALF = 3 };

/* A command that is being carried out. */
typedef struct {
    control_port_t *port;
    const uint8_t *value;
    uint32_t bytes;
    control_peer_t sender;
    uint8_t *answer;
    uint32_t room;
    uint32_t answered;
} command_t;

static terminal_reason_t answer(command_t *command, uint32_t value, uint32_t bytes)
{
    if (command->room - command->answered < bytes) {
        return TERMINAL_REASON_NO_ROOM;
    }
    control_put(command->answer + command->answered, value, bytes);
    command->answered += bytes;
    return TERMINAL_OK;
}

static terminal_reason_t answer_bytes(command_t *command, const void *data, uint32_t bytes)
{
    if (command->room < bytes) {
        return TERMINAL_REASON_NO_ROOM;
    }
    memcpy(command->answer, data, bytes);
    command->answered = bytes;
    return TERMINAL_OK;
}

/* Reads a number of `bytes` bytes, or 0 if there is no value at all. */
static bool read(const command_t *command, uint32_t bytes, uint32_t *number)
{
    *number = control_get(command->value, command->bytes == bytes ? bytes : 0);
    return command->bytes == bytes || command->bytes == 0;
}

static terminal_reason_t change_format(command_t *command, control_format_t format)
{
    uint32_t achieved_baud = command->port->set_format(command->port, &format);

    if (achieved_baud == 0) {
        return TERMINAL_REASON_IMPOSSIBLE;
    }
    command->port->format = format;
    command->port->achieved_baud = achieved_baud;
    return TERMINAL_OK;
}

static terminal_reason_t set_baud(command_t *command)
{
    control_format_t format = command->port->format;
    terminal_reason_t reason = TERMINAL_OK;
    uint32_t baud;

    if (!read(command, 4, &baud)) {
        return TERMINAL_REASON_BAD_LENGTH;
    }
    if (baud != 0) {
        format.baud = baud;
        reason = change_format(command, format);
    }
    return reason == TERMINAL_OK ? answer(command, command->port->achieved_baud, 4) : reason;
}

/* One of the small numbers of a format; `field` is in `format`. */
static terminal_reason_t set_form(command_t *command, control_format_t *format, uint8_t *field,
                                  uint32_t least, uint32_t most)
{
    terminal_reason_t reason = TERMINAL_OK;
    uint32_t number;

    if (!read(command, 1, &number)) {
        return TERMINAL_REASON_BAD_LENGTH;
    }
    if (number != 0) {
        if (number < least || number > most) {
            return TERMINAL_REASON_BAD_VALUE;
        }
        *field = (uint8_t)number;
        reason = change_format(command, *format);
    }
    return reason == TERMINAL_OK ? answer(command, *field, 1) : reason;
}

static terminal_reason_t set_stop_size(command_t *command, control_format_t *format)
{
    uint32_t number;

    if (read(command, 1, &number) && number == STOP_ONE_AND_HALF) {
        return TERMINAL_REASON_IMPOSSIBLE;
    }
    return set_form(command, format, &format->stop_bits, STOP_ONE, STOP_TWO);
}

static terminal_reason_t set_control(command_t *command)
{
    control_port_t *port = command->port;
    uint32_t number;

    if (!read(command, 1, &number)) {
        return TERMINAL_REASON_BAD_LENGTH;
    }
    switch (number) {
    case TERMINAL_CONTROL_FLOW_NONE:
    case TERMINAL_CONTROL_FLOW_XON_XOFF:
    case TERMINAL_CONTROL_FLOW_HARDWARE:
        port->flow = (uint8_t)number;
        port->set_flow(port);
        /* fall through */
    case TERMINAL_CONTROL_ASK_FLOW:
        return answer(command, port->flow, 1);
    case TERMINAL_CONTROL_BREAK_ON:
    case TERMINAL_CONTROL_BREAK_OFF:
        port->holds_break = number == TERMINAL_CONTROL_BREAK_ON;
        port->set_break(port);
        /* fall through */
    case TERMINAL_CONTROL_ASK_BREAK:
        return answer(command,
                      port->holds_break ? TERMINAL_CONTROL_BREAK_ON : TERMINAL_CONTROL_BREAK_OFF, 1);
    case TERMINAL_CONTROL_RTS_ON:
    case TERMINAL_CONTROL_RTS_OFF:
        port->asserts_rts = number == TERMINAL_CONTROL_RTS_ON;
        port->set_flow(port);
        /* fall through */
    case TERMINAL_CONTROL_ASK_RTS:
        return answer(command,
                      port->asserts_rts ? TERMINAL_CONTROL_RTS_ON : TERMINAL_CONTROL_RTS_OFF, 1);
    default:
        return number <= 19 ? TERMINAL_REASON_IMPOSSIBLE : TERMINAL_REASON_BAD_VALUE;
    }
}

/* `possible`: the states that there are notifications of. */
static terminal_reason_t set_mask(command_t *command, uint8_t *mask, uint32_t possible)
{
    uint32_t number;

    if (!read(command, 1, &number)) {
        return TERMINAL_REASON_BAD_LENGTH;
    }
    if (command->bytes != 0) {
        *mask = (uint8_t)(number & possible);
    }
    return answer(command, *mask, 1);
}

static void set_suspended(control_port_t *port, bool on)
{
    port->is_suspended = on;
    port->set_suspended(port);
}

static terminal_reason_t suspend(command_t *command, bool on)
{
    if (command->bytes != 0) {
        return TERMINAL_REASON_BAD_LENGTH;
    }
    set_suspended(command->port, on);
    return TERMINAL_OK;
}

static terminal_reason_t purge(command_t *command)
{
    uint32_t which;

    if (command->bytes != 1) {
        return TERMINAL_REASON_BAD_LENGTH;
    }
    which = command->value[0];
    if (which == 0 || which > (CONTROL_PURGE_RECEIVED | CONTROL_PURGE_TRANSMIT)) {
        return TERMINAL_REASON_BAD_VALUE;
    }
    command->port->purge(command->port, which);
    return answer(command, which, 1);
}

static terminal_reason_t set_time(command_t *command, uint32_t *time_us)
{
    uint32_t number;

    if (!read(command, 4, &number)) {
        return TERMINAL_REASON_BAD_LENGTH;
    }
    if (number > CONTROL_MAX_US) {
        return TERMINAL_REASON_BAD_VALUE;
    }
    if (command->bytes != 0) {
        *time_us = number;
        command->port->set_rules(command->port);
    }
    return answer(command, *time_us, 4);
}

static terminal_reason_t set_length(command_t *command)
{
    control_rules_t *rules = &command->port->rules;
    uint32_t number;

    if (!read(command, 2, &number)) {
        return TERMINAL_REASON_BAD_LENGTH;
    }
    if (command->bytes != 0) {
        if (number == 0 || number > CONTROL_MAX_LENGTH) {
            return TERMINAL_REASON_BAD_VALUE;
        }
        rules->length = (uint16_t)number;
        command->port->set_rules(command->port);
    }
    return answer(command, rules->length, 2);
}

static terminal_reason_t set_delimiter(command_t *command)
{
    control_rules_t *rules = &command->port->rules;

    if (command->bytes != 0) {
        uint32_t count = command->value[0];
        if (count > sizeof(rules->delimiter)) {
            return TERMINAL_REASON_BAD_VALUE;
        }
        if (command->bytes != 1 + count) {
            return TERMINAL_REASON_BAD_LENGTH;
        }
        rules->delimiters = (uint8_t)count;
        memcpy(rules->delimiter, command->value + 1, count);
        command->port->set_rules(command->port);
    }
    terminal_reason_t reason = answer(command, rules->delimiters, 1);
    for (uint32_t i = 0; i < rules->delimiters && reason == TERMINAL_OK; i++) {
        reason = answer(command, rules->delimiter[i], 1);
    }
    return reason;
}

static terminal_reason_t set_peer(command_t *command)
{
    control_peer_t *peer = &command->port->peer;

    if (command->bytes != 0) {
        if (command->bytes != 6) {
            return TERMINAL_REASON_BAD_LENGTH;
        }
        control_peer_t wanted = {.address = control_get(command->value, 4),
                                 .port = (uint16_t)control_get(command->value + 4, 2)};
        if (wanted.port == 0 && wanted.address != 0) {
            return TERMINAL_REASON_BAD_VALUE;
        }
        if (wanted.port != 0 && wanted.address == 0) {
            wanted.address = command->sender.address;
        }
        *peer = wanted;
        command->port->set_peer(command->port);
        if (wanted.port == 0 && command->port->is_suspended) {
            /* By a client that may be gone. */
            set_suspended(command->port, false);
        }
    }
    terminal_reason_t reason = answer(command, peer->address, 4);
    return reason == TERMINAL_OK ? answer(command, peer->port, 2) : reason;
}

static terminal_reason_t tell_counters(command_t *command)
{
    terminal_reason_t reason = command->bytes == 0 ? TERMINAL_OK : TERMINAL_REASON_BAD_LENGTH;

    for (uint32_t i = 0; i < TERMINAL_COUNTER_COUNT && reason == TERMINAL_OK; i++) {
        uint32_t count = command->port->counter(command->port, (terminal_counter_t)i);
        reason = answer(command, count, 4);
    }
    return reason;
}

static terminal_reason_t tell_transmit_state(command_t *command)
{
    control_transmit_t state = command->port->transmit_state(command->port);
    const uint32_t numbers[] = {state.room, state.waiting, state.taken};
    terminal_reason_t reason = command->bytes == 0 ? TERMINAL_OK : TERMINAL_REASON_BAD_LENGTH;

    for (uint32_t i = 0; i < 3 && reason == TERMINAL_OK; i++) {
        reason = answer(command, numbers[i], 4);
    }
    return reason;
}

static terminal_reason_t perform(command_t *command, uint32_t code)
{
    control_port_t *port = command->port;
    control_format_t format = port->format;

    switch (code) {
    case TERMINAL_SIGNATURE:
        return answer_bytes(command, signature, sizeof(signature) - 1);
    case TERMINAL_SET_BAUDRATE:
        return set_baud(command);
    case TERMINAL_SET_DATASIZE:
        return set_form(command, &format, &format.data_bits, 5, 8);
    case TERMINAL_SET_PARITY:
        return set_form(command, &format, &format.parity, PARITY_NONE, PARITY_SPACE);
    case TERMINAL_SET_STOPSIZE:
        return set_stop_size(command, &format);
    case TERMINAL_SET_CONTROL:
        return set_control(command);
    case TERMINAL_NOTIFY_LINESTATE:
        return answer(command, port->line_state(port), 1);
    case TERMINAL_NOTIFY_MODEMSTATE:
        return answer(command, port->modem_state(port), 1);
    case TERMINAL_FLOWCONTROL_SUSPEND:
    case TERMINAL_FLOWCONTROL_RESUME:
        return suspend(command, code == TERMINAL_FLOWCONTROL_SUSPEND);
    case TERMINAL_SET_LINESTATE_MASK:
        return set_mask(command, &port->line_state_mask, CONTROL_NOTIFIED_LINE_STATES);
    case TERMINAL_SET_MODEMSTATE_MASK:
        return set_mask(command, &port->modem_state_mask, UINT8_MAX);
    case TERMINAL_PURGE_DATA:
        return purge(command);
    case TERMINAL_PACK_TIME:
        return set_time(command, &port->rules.time_us);
    case TERMINAL_PACK_IDLE:
        return set_time(command, &port->rules.idle_us);
    case TERMINAL_PACK_LENGTH:
        return set_length(command);
    case TERMINAL_PACK_DELIMITER:
        return set_delimiter(command);
    case TERMINAL_PEER:
        return set_peer(command);
    case TERMINAL_COUNTERS:
        return tell_counters(command);
    case TERMINAL_TRANSMIT_STATE:
        return tell_transmit_state(command);
    default:
        return TERMINAL_REASON_UNKNOWN_COMMAND;
    }
}

terminal_reason_t control_perform(control_port_t *port, uint32_t code, const uint8_t *value,
                                  uint32_t bytes, control_peer_t sender, uint8_t *answer_value,
                                  uint32_t room, uint32_t *answer_bytes_written)
{
    command_t command = {.port = port,
                         .value = value,
                         .bytes = bytes,
                         .sender = sender,
                         .answer = answer_value,
                         .room = room};
    terminal_reason_t reason = perform(&command, code);

    *answer_bytes_written = command.answered;
    return reason;
}

void control_init(control_port_t *port, uint32_t baud)
{
    port->format = (control_format_t){
        .baud = baud, .data_bits = 8, .parity = PARITY_NONE, .stop_bits = STOP_ONE};
    port->achieved_baud = baud;
    port->rules = (control_rules_t){.time_us = 10000, .length = CONTROL_MAX_LENGTH};
    port->peer = (control_peer_t){0, 0};
    port->flow = TERMINAL_CONTROL_FLOW_NONE;
    port->holds_break = false;
    port->asserts_rts = true;
    port->is_suspended = false;
    port->line_state_mask = 0;
    port->modem_state_mask = UINT8_MAX;
}
