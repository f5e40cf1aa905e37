/* LIN on the serial ports: commanders and responders, as many as LIN_NODES, each on a port of its own.
 *
 * A port becomes a node by the command `lin` (command.c) and gives the port back by it. Everything about a
 * node that the interrupt service works on is worked on in the service of the port's line, ticks too.
 *
 *   interrupt service   characters, responses, schedule: state in lin_node_t (node.h)
 *   protocol service    reports to diagnostics and to hosts that watch; data from hosts (host.h)
 *   application         the command
 */
#ifndef TIERV_APPS_LIN_LIN_H
#define TIERV_APPS_LIN_LIN_H

#include "apps/lin/diagnostic.h"

/* Below 2,000 bit/s a wake-up signal of 250 us, the shortest that a node may send, is less than half a bit, which the
 * receiver does not see; those of 1 ms and breaks wake at every speed. */
enum { LIN_BAUD_MIN = 1000, LIN_BAUD_MAX = 20000 };

typedef struct {
    lin_node_t node;
    lin_identity_t identity;
    uint32_t port;
    uint32_t baud;
    uint32_t reports_lost; /* found the queue full */
    uint32_t ticks_due;    /* by the timer's service */
    uint32_t ticks_done;   /* by the port's */
    uint32_t report_head;  /* by the port's service */
    uint32_t report_tail;  /* by the protocol service */
    lin_report_t reports[LIN_REPORTS];
    bool used;
} lin_port_t;

/* Binds the UDP port and adds the command. */
void lin_init(void);

/* Protocol service: its part of LIN. */
void lin_protocol(void);

/* --- for the command and for hosts ------------------------------------------------------------- */

/* The node of a serial port, or NULL. */
lin_port_t *lin_of_port(uint32_t port);

/* Node `index` of LIN_NODES, used or not. */
lin_port_t *lin_at(uint32_t index);

/* Application: makes a serial port a node; false if all nodes are in use. The port exists, is no node, and
 * `baud` is from LIN_BAUD_MIN to LIN_BAUD_MAX. */
bool lin_open(uint32_t port, uint32_t baud, lin_role_t role);

/* Application: gives the port of a node back. */
void lin_close(lin_port_t *lin);

/* Words for a result and for an outcome. */
const char *lin_result_text(lin_result_t result);
const char *lin_outcome_name(lin_outcome_t outcome);

#endif
