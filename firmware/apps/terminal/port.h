/* A serial port of the terminal server, for the files of the server.
 *
 * The port's interrupt service owns `packer` to `taken_bytes`. `busy` says that it is running, for
 * terminal_lock(), behind which the protocol service may touch what belongs to it. The protocol service
 * owns what is in `office`, which lies outside local memory, and the other ends of the rings.
 */
#ifndef TIERV_APPS_TERMINAL_PORT_H
#define TIERV_APPS_TERMINAL_PORT_H

#include <generated/soc.h>

#include "alarm.h"
#include "apps/serial_ports.h"
#include "apps/terminal/control.h"
#include "apps/terminal/levels.h"
#include "apps/terminal/packer.h"
#include "config.h"
#include "irq.h"
#include "net/ring.h"
#include "net/udp_socket.h"

#if UARTS > 0

enum {
    /* Bytes in a word of the transmit queue; the FIFO takes as many at once. */
    TERMINAL_WORD_BYTES = SERIAL_TRANSMIT_DEPTH < 3 ? SERIAL_TRANSMIT_DEPTH : 3,
    /* Characters left in the FIFO when it is filled again. */
    TERMINAL_TRANSMIT_WATERMARK = SERIAL_TRANSMIT_DEPTH / 4,
    /* Characters for which there must be space until the port is served, at the least, and those that may
     * wait. */
    TERMINAL_RECEIVE_SLACK = SERIAL_RECEIVE_DEPTH < 32 ? SERIAL_RECEIVE_DEPTH / 2 : SERIAL_RECEIVE_DEPTH / 4,
    TERMINAL_RECEIVE_WATERMARK = SERIAL_RECEIVE_DEPTH - TERMINAL_RECEIVE_SLACK,
    /* As long as a port may wait for the services of the others: all with their FIFOs full, both ways. */
    TERMINAL_ALL_SERVED_CYCLES = UARTS * SERIAL_RECEIVE_DEPTH * 32,
    TERMINAL_RECEIVE_EVENT = 1 << CSR_SERIAL_PORT0_EV_ENABLE_RECEIVE_OFFSET,
    TERMINAL_TRANSMIT_EVENT = 1 << CSR_SERIAL_PORT0_EV_ENABLE_TRANSMIT_OFFSET,
    TERMINAL_CTS_EVENT = 1 << CSR_SERIAL_PORT0_EV_ENABLE_CTS_OFFSET
};

/* What the protocol service knows of a port. */
typedef struct {
    udp_socket_t socket;
    control_port_t control;
    control_peer_t client; /* who is notified; port 0: nobody */
    uint32_t lent;         /* packets that the port has */
    bool told_suspend;     /* the client has been told to send no more */
    uint32_t told_cts_changes;
    uint32_t counts[TERMINAL_COUNTER_COUNT]; /* those of the protocol service */
} terminal_office_t;

typedef struct {
    /* --- the interrupt service's --- */
    packer_t packer;
    alarm_t alarm; /* when a rule is due, or to look for a packet again */
    levels_line_t line;
    levels_t first_levels; /* while the packet is empty, and behind its first byte; for any length */
    levels_t later_levels;
    uint32_t levels_set;  /* as the port has them; UINT32_MAX: not known */
    uint32_t watched;     /* the time of a byte for which the alarm is set */
    uint32_t enabled;     /* events */
    int32_t held;         /* a character that has found no packet, or -1 */
    uint32_t held_time;
    bool watches_cts;
    volatile bool busy;

    /* --- from the interrupt service to the protocol service --- */
    volatile bool has_work;
    RING(TERMINAL_PORT_PACKETS) full;
    uint32_t events; /* line states not told yet */
    uint32_t event_bytes; /* received before the last of them */
    uint32_t cts_changes;
    uint32_t received_bytes;
    uint32_t closed[PACKER_BY_DELIMITER + 1]; /* packets, by verdict; PACKER_OPEN: for an event */
    uint32_t starved;
    uint32_t interrupts;
    uint32_t services;
    uint32_t taken_bytes; /* from the transmit queue */
    uint32_t tail;        /* of the transmit queue, in words */

    /* --- from the protocol service to the interrupt service --- */
    RING(TERMINAL_PORT_PACKETS) empty;
    uint32_t head;
    uint32_t given_bytes; /* to the transmit queue */

    /* --- constant --- */
    uint32_t number;
    serial_t *serial;
    uint32_t *queue; /* words as the port's register TRANSMIT takes them */
    terminal_office_t *office;
} terminal_port_t;

extern terminal_port_t terminal_ports[UARTS];

/* The interrupt service, or whoever has the lock, has left work for the protocol service. */
extern volatile bool terminal_has_work;

static inline void terminal_leave_work(terminal_port_t *port)
{
    port->has_work = true;
    COMPILER_BARRIER();
    terminal_has_work = true;
}

/* Cycles as the stamps of characters count them. */
extern uint32_t terminal_clock_offset;

static inline uint32_t terminal_now(void)
{
#ifdef CONFIG_CPU_TYPE_TIERV
    return CSR_READ(CSR_MCYCLE) + terminal_clock_offset;
#else
    return serial_now();
#endif
}

/* --- interrupt service (receive.c, transmit.c) ------------------------------------------------- */

/* Moves characters from the FIFO into packets, closes those that are due, and says when to look again. */
void terminal_receive(terminal_port_t *port, uint32_t before, uint32_t level);

/* Whether the port calls for one of its events. */
static inline void terminal_enable(terminal_port_t *port, uint32_t event, bool on)
{
    uint32_t others = port->enabled & ~event;
    uint32_t events = on ? others | event : others;

    if (events != port->enabled) {
        port->enabled = events;
        mmio_write(port->serial->base + SERIAL_REGISTER(EV_ENABLE), events);
    }
}

/* Moves words from the queue to a FIFO that has `space`. */
void terminal_transmit(terminal_port_t *port, uint32_t space);

/* Closes the packet, if there are bytes in it. */
void terminal_close(terminal_port_t *port, packer_verdict_t verdict);

/* Notes a line state for the client. */
void terminal_note(terminal_port_t *port, uint32_t line_state);

/* Behind the lock: makes rules, speed and form hold when the interrupt service has run. */
void terminal_apply_rules(terminal_port_t *port);

/* --- protocol service (settings.c, send.c) ----------------------------------------------------- */

/* Keeps the port's interrupt service away. */
uint32_t terminal_lock(const terminal_port_t *port);
void terminal_unlock(uint32_t before);

extern udp_socket_t terminal_control_socket;

/* Tells the client one thing. */
void terminal_notify(terminal_port_t *port, uint32_t code, const uint8_t *value, uint32_t bytes);

/* Gives the port packets to fill until it has so many, those not sent yet included, or there is none. */
void terminal_refill(terminal_port_t *port, uint32_t packets);

/* The settings after reset, and what they do. */
void terminal_init_settings(terminal_port_t *port);

/* Makes the settings hold in a port that serial_init() has made; from the interrupt service, or before
 * it begins. */
void terminal_hold_settings(terminal_port_t *port);

/* Adds the errors that the port, which is no other module's, has counted to the counters. */
void terminal_count_errors(terminal_port_t *port);

/* The port is another module's. */
bool terminal_is_away(const terminal_port_t *port);

static inline void terminal_count(terminal_port_t *port, terminal_counter_t counter, uint32_t count)
{
    port->office->counts[counter] += count;
}

static inline uint32_t terminal_queue_room(const terminal_port_t *port)
{
    COMPILER_BARRIER();
    return TERMINAL_TRANSMIT_WORDS - (port->head - port->tail);
}

#endif

#endif
