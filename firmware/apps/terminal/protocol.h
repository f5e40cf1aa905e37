/* What the terminal server says over the network; sim/host/protocol.py says the same in Python, and a
 * test compares both.
 *
 * Data: a datagram to UDP port TERMINAL_DATA_PORT + k is sent on serial port k, and what port k receives
 * comes in datagrams from there. Nothing but the bytes is in them. The first sender is the port's peer, if
 * none was set; others' datagrams are dropped.
 *
 * Control: a datagram to TERMINAL_CONTROL_PORT, all numbers big-endian:
 *
 *     byte 0   TERMINAL_VERSION
 *     byte 1   serial port, from 0
 *     byte 2   sequence number, which comes back in the answer
 *     then     commands: code, bytes of the value, value
 *
 * The answer has the same three bytes and then an item for each command: its code plus
 * TERMINAL_ANSWER, bytes of the value, the value that holds from now on. What can't be done is answered
 * by TERMINAL_ERROR with the command's code and a reason, is counted, and changes nothing; the commands
 * behind it are carried out if it was framed well. A command without a value asks; so does a value of
 * 0 where RFC 2217 says so.
 *
 * Codes below 64 and their values are those of RFC 2217, section 2; what it sends as a Telnet
 * subnegotiation is an item here.
 *
 * Notifications are datagrams of the same form with sequence number 0. They go to whoever last sent a
 * good command for the port from another address or UDP port than the data's peer. The network may
 * lose one: TRANSMIT_STATE tells whether there is room, NOTIFY_LINESTATE and the counters the rest.
 */
#ifndef TIERV_APPS_TERMINAL_PROTOCOL_H
#define TIERV_APPS_TERMINAL_PROTOCOL_H

enum {
    TERMINAL_VERSION = 1,
    TERMINAL_CONTROL_PORT = 7000,
    TERMINAL_DATA_PORT = 7001,
    TERMINAL_HEADER_BYTES = 3,
    /* Longest control datagram that is understood. */
    TERMINAL_REQUEST_BYTES = 256,
    /* A datagram takes room in the transmit queue for its bytes rounded up to a multiple of this. */
    TERMINAL_ROOM_BYTES = 3,
    TERMINAL_ANSWER = 100,
    TERMINAL_ERROR = 255
};

/* Commands: name, code, bytes of the value that it takes and of the one that it answers with; of
 * several lengths the longest. */
#define TERMINAL_COMMANDS(X)                                                                       \
    X(SIGNATURE, 0)           /* text */                                                           \
    X(SET_BAUDRATE, 1)        /* 4 bytes: bit/s; answered by what it is, rounded */                \
    X(SET_DATASIZE, 2)        /* 1: 5 to 8 bits */                                                 \
    X(SET_PARITY, 3)          /* 1: 1 none, 2 odd, 3 even, 4 mark, 5 space */                      \
    X(SET_STOPSIZE, 4)        /* 1: 1 one, 2 two, 3 one and a half */                              \
    X(SET_CONTROL, 5)         /* 1: TERMINAL_CONTROLS */                                           \
    X(NOTIFY_LINESTATE, 6)    /* 1: TERMINAL_LINE_STATES; notified with 4 bytes more: bytes        \
                               * received, with the one at fault */                                \
    X(NOTIFY_MODEMSTATE, 7)   /* 1: TERMINAL_MODEM_STATES */                                       \
    X(FLOWCONTROL_SUSPEND, 8) /* 0: send no more data and states; notified: take no more data */   \
    X(FLOWCONTROL_RESUME, 9)  /* 0: go on, states of meanwhile too; notified likewise */           \
    X(SET_LINESTATE_MASK, 10) /* 1: states to be notified of; answered by those of them that can   \
                               * be: OVERRUN, PARITY, FRAMING, BREAK */                            \
    X(SET_MODEMSTATE_MASK, 11) /* 1: with either bit of CTS its changes are notified */            \
    X(PURGE_DATA, 12)         /* 1: 1 received, 2 to be sent, 3 both */                            \
    X(PACK_TIME, 64)          /* 4: us since a packet's first byte; 0: no such rule */             \
    X(PACK_IDLE, 65)          /* 4: us since its last byte; 0: no such rule */                     \
    X(PACK_LENGTH, 66)        /* 2: bytes */                                                       \
    X(PACK_DELIMITER, 67)     /* 1 to 3: how many bytes, 0 to 2, and those that end a packet */    \
    X(PEER, 68)               /* 6: IPv4 address (0: the asker's) and UDP port of the data's peer; \
                               * all 0: whoever sends next */                                      \
    X(COUNTERS, 69)           /* asks: 4 bytes each, TERMINAL_COUNTERS */                          \
    X(TRANSMIT_STATE, 70)     /* asks: 4 bytes each: bytes of room (TERMINAL_ROOM_BYTES), waiting, \
                               * taken since reset */

/* Values of SET_CONTROL that are understood; those that ask are answered by the one that holds. */
#define TERMINAL_CONTROLS(X)                                                                       \
    X(ASK_FLOW, 0)                                                                                 \
    X(FLOW_NONE, 1)                                                                                \
    X(FLOW_XON_XOFF, 2)                                                                            \
    X(FLOW_HARDWARE, 3)                                                                            \
    X(ASK_BREAK, 4)                                                                                \
    X(BREAK_ON, 5)                                                                                 \
    X(BREAK_OFF, 6)                                                                                \
    X(ASK_RTS, 10)                                                                                 \
    X(RTS_ON, 11)                                                                                  \
    X(RTS_OFF, 12)

/* Bits of a line state. */
#define TERMINAL_LINE_STATES(X)                                                                    \
    X(OVERRUN, 1)                                                                                  \
    X(PARITY, 2)                                                                                   \
    X(FRAMING, 3)                                                                                  \
    X(BREAK, 4)                                                                                    \
    X(TRANSMIT_EMPTY, 5)                                                                           \
    X(SHIFTER_EMPTY, 6)

/* Bits of a modem state. */
#define TERMINAL_MODEM_STATES(X)                                                                   \
    X(CTS_CHANGED, 0)                                                                              \
    X(CTS, 4)

/* Why a command or datagram was not carried out. */
#define TERMINAL_REASONS(X)                                                                        \
    X(UNKNOWN_COMMAND, 1)                                                                          \
    X(BAD_LENGTH, 2)   /* of the value, or an item that ends behind the datagram */                \
    X(BAD_VALUE, 3)    /* outside what the command takes */                                        \
    X(IMPOSSIBLE, 4)   /* this port can't do that, like a speed above what the clock allows */     \
    X(BAD_VERSION, 5)                                                                              \
    X(BAD_PORT, 6)     /* there is no such serial port, or it is a LIN node */                     \
    X(NO_ROOM, 7)      /* the answer would not fit into a datagram */

/* Per port, all since reset, modulo 2^32. */
#define TERMINAL_COUNTERS(X)                                                                       \
    X(RECEIVED_BYTES)      /* from the serial line, put into packets */                            \
    X(PACKETS)             /* of them, closed */                                                   \
    X(PACKED_TIME)         /* ... because of the time since the first byte */                      \
    X(PACKED_IDLE)         /* ... the idle gap */                                                  \
    X(PACKED_LENGTH)       /* ... the length */                                                    \
    X(PACKED_DELIMITER)    /* ... a delimiter */                                                   \
    X(PACKED_EVENT)        /* ... a break, or another setting */                                   \
    X(NOT_SENT_PACKETS)    /* packets that found no peer or that the network did not take */       \
    X(NOT_SENT_BYTES)      /* bytes in them */                                                     \
    X(TRANSMIT_BYTES)      /* taken to be sent on the serial line */                               \
    X(TRANSMIT_DATAGRAMS)                                                                          \
    X(REFUSED_BYTES)       /* of datagrams that did not fit into the transmit queue */             \
    X(REFUSED_DATAGRAMS)                                                                           \
    X(PURGED_BYTES)                                                                                \
    X(BREAKS)                                                                                      \
    X(FRAMING_ERRORS)                                                                              \
    X(PARITY_ERRORS)                                                                               \
    X(OVERRUNS)            /* bytes that the serial port lost, of up to 65,535 in a row */         \
    X(STARVED)             /* times that no packet was free */                                     \
    X(BAD_COMMANDS)                                                                                \
    X(BAD_DATAGRAMS)       /* to the control port, of all serial ports: no such port, too short */ \
    X(NOTIFICATIONS)                                                                               \
    X(LOST_NOTIFICATIONS)  /* nobody to tell, no packet free, or one waits for the client's        \
                            * Ethernet address; RESUME is told later then */                       \
    X(INTERRUPTS)          /* services of the port's line */                                       \
    X(SERVICES)            /* those and the ones for a timer or for bytes to be sent */

#define TERMINAL_COMMAND_ENUM(name, code) TERMINAL_##name = code,
#define TERMINAL_CONTROL_ENUM(name, code) TERMINAL_CONTROL_##name = code,
#define TERMINAL_LINE_STATE_ENUM(name, bit) TERMINAL_LINE_STATE_##name = 1 << bit,
#define TERMINAL_MODEM_STATE_ENUM(name, bit) TERMINAL_MODEM_STATE_##name = 1 << bit,
#define TERMINAL_REASON_ENUM(name, code) TERMINAL_REASON_##name = code,
#define TERMINAL_COUNTER_ENUM(name) TERMINAL_COUNT_##name,

enum { TERMINAL_COMMANDS(TERMINAL_COMMAND_ENUM) };
enum { TERMINAL_CONTROLS(TERMINAL_CONTROL_ENUM) };
enum { TERMINAL_LINE_STATES(TERMINAL_LINE_STATE_ENUM) };
enum { TERMINAL_MODEM_STATES(TERMINAL_MODEM_STATE_ENUM) };
typedef enum { TERMINAL_OK, TERMINAL_REASONS(TERMINAL_REASON_ENUM) } terminal_reason_t;
typedef enum { TERMINAL_COUNTERS(TERMINAL_COUNTER_ENUM) TERMINAL_COUNTER_COUNT } terminal_counter_t;

#endif
