/* Control datagrams of the terminal server (protocol.h): framing, and what commands mean. Pure: whatever
 * is done to a port is done by the functions of a control_port_t.
 */
#ifndef TIERV_APPS_TERMINAL_CONTROL_H
#define TIERV_APPS_TERMINAL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/terminal/protocol.h"

/* Form of characters, in the numbers of RFC 2217. */
typedef struct {
    uint32_t baud;
    uint8_t data_bits;
    uint8_t parity;    /* 1 none, 2 odd, 3 even, 4 mark, 5 space */
    uint8_t stop_bits; /* 1 or 2 */
} control_format_t;

/* Packing rules as they are told: microseconds, 0 for no such rule. */
typedef struct {
    uint32_t time_us;
    uint32_t idle_us;
    uint16_t length;
    uint8_t delimiters;
    uint8_t delimiter[2];
} control_rules_t;

/* Longest time of a rule, and longest packet. */
enum { CONTROL_MAX_US = 1000000, CONTROL_MAX_LENGTH = 1472 };

/* IPv4 address and UDP port in host order; 0 and 0: nobody yet. */
typedef struct {
    uint32_t address;
    uint16_t port;
} control_peer_t;

typedef struct {
    uint32_t room; /* bytes that the transmit queue takes for certain, by TERMINAL_ROOM_BYTES */
    uint32_t waiting;
    uint32_t taken; /* bytes since reset, modulo 2^32 */
} control_transmit_t;

enum {
    CONTROL_NOTIFIED_LINE_STATES = TERMINAL_LINE_STATE_OVERRUN | TERMINAL_LINE_STATE_PARITY
                                   | TERMINAL_LINE_STATE_FRAMING | TERMINAL_LINE_STATE_BREAK,
    /* Each of them asks for the changes of CTS. */
    CONTROL_CTS_STATES = TERMINAL_MODEM_STATE_CTS_CHANGED | TERMINAL_MODEM_STATE_CTS
};

enum { CONTROL_PURGE_RECEIVED = 1, CONTROL_PURGE_TRANSMIT = 2 };

/* A port's settings, and how they are made to hold. The functions run where control_answer() is called. */
typedef struct control_port control_port_t;
struct control_port {
    control_format_t format;
    uint32_t achieved_baud; /* rounded */
    control_rules_t rules;
    control_peer_t peer;
    uint8_t flow; /* TERMINAL_CONTROL_FLOW_NONE and so on */
    bool holds_break;
    bool asserts_rts;
    bool is_suspended; /* by the client */
    uint8_t line_state_mask;
    uint8_t modem_state_mask;

    /* Sets form and speed; the speed achieved, or 0 if the port can't do that: then nothing has changed. */
    uint32_t (*set_format)(control_port_t *port, const control_format_t *format);
    /* Makes what has been changed above hold. */
    void (*set_rules)(control_port_t *port);
    void (*set_flow)(control_port_t *port);
    void (*set_break)(control_port_t *port);
    void (*set_peer)(control_port_t *port);
    void (*set_suspended)(control_port_t *port);
    void (*purge)(control_port_t *port, uint32_t which);
    uint8_t (*line_state)(control_port_t *port);
    uint8_t (*modem_state)(control_port_t *port);
    control_transmit_t (*transmit_state)(control_port_t *port);
    uint32_t (*counter)(control_port_t *port, terminal_counter_t counter);
};

/* Settings after reset, but for the speed. */
void control_init(control_port_t *port, uint32_t baud);

/* What one datagram did. */
typedef struct {
    uint32_t answer_bytes; /* 0: none */
    uint32_t errors;       /* commands that were answered by an error */
    int32_t port;          /* serial port, or -1 if none was named */
    bool is_from_client;   /* at least one command was good */
} control_outcome_t;

/* Carries out `request` from `sender`; a port that is NULL is not there. The answer has room for `room` bytes, at the least
 * TERMINAL_HEADER_BYTES + 4, and does not overlap the request. */
control_outcome_t control_answer(control_port_t *const *ports, uint32_t count,
                                 const uint8_t *request, uint32_t bytes, control_peer_t sender,
                                 uint8_t *answer, uint32_t room);

/* Carries out one command: writes the value of the answer, at the most `room` bytes, and how many.
 * (command.c) */
terminal_reason_t control_perform(control_port_t *port, uint32_t code, const uint8_t *value,
                                  uint32_t bytes, control_peer_t sender, uint8_t *answer,
                                  uint32_t room, uint32_t *answer_bytes);

/* A number in network order. */
static inline void control_put(uint8_t *at, uint32_t value, uint32_t bytes)
{
    while (bytes-- != 0) {
        at[bytes] = (uint8_t)value;
        value >>= 8;
    }
}

static inline uint32_t control_get(const uint8_t *at, uint32_t bytes)
{
    uint32_t value = 0;

    while (bytes-- != 0) {
        value = value << 8 | *at++;
    }
    return value;
}

#endif
