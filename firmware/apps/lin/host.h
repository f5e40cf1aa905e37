/* LIN over UDP: LIN_HOST_PORT. Data go to the frames of nodes, and reports come from them, without the
 * application. Nodes are made and set up by the command `lin`; sim/host/lin.py is the other side.
 *
 * A datagram is a number of records of 16 bytes, numbers big-endian:
 *
 *     byte 0      what: a request, an answer or a report
 *     byte 1      serial port, from 0; LIN_HOST_ALL_PORTS where that makes sense
 *     byte 2      identifier, 0 to 63
 *     byte 3      bytes of data that are valid
 *     4 to 7      number
 *     8 to 15     data
 *
 * Requests (byte 0):
 *
 *      1 set         the data of a frame that the node publishes
 *      2 read        the latest data of a frame; answered with how often they were written as number
 *      3 watch       from now on the sender gets reports of the port, or of all. LIN_WATCHERS hosts do; one more
 *                    takes the place of the one whose last `watch` is the oldest
 *      4 unwatch     no longer
 *      5 header      a commander sends one header
 *      6 wake        wakes the bus
 *      7 sleep       a commander sends the bus to sleep
 *      8 slot        a slot of `number` ms for the next `schedule` in the same datagram
 *      9 schedule    a commander's schedule is the slots before this; without any, it stops. If one of them was
 *                    refused, this fails as the first of those did, and changes nothing
 *     10 count       answered with counter `identifier` as number: 0 headers, 1 unanswered, 2 late,
 *                    3 overruns, 4 reports lost, from 16 on outcomes
 *
 * The answer has a record for each: the request with 0x80 added to byte 0, or with 0xc0 if it failed; then
 * `number` says why: a lin_result_t, or LIN_HOST_ERRORS. A datagram that is no number of whole records, or
 * whose records have another byte 0, is answered by one record of failed requests: nothing was done.
 *
 * A host that repeats a request for want of an answer can tell late answers from those that it waits for: it
 * ends each datagram with `unwatch` for LIN_HOST_NO_PORT, which does nothing and whose answer repeats
 * `number`.
 *
 * Reports (byte 0 is 0x40 plus the outcome) come in datagrams of their own, `number` is the cycle.
 */
#ifndef TIERV_APPS_LIN_HOST_H
#define TIERV_APPS_LIN_HOST_H

#include "apps/lin/lin.h"

enum {
    LIN_HOST_PORT = 7200,
    LIN_HOST_RECORD_BYTES = 16,
    LIN_HOST_MOST_RECORDS = 64,
    LIN_HOST_ALL_PORTS = 0xff,
    LIN_HOST_NO_PORT = 0xfe, /* no board has it */
    LIN_HOST_ANSWER = 0x80,
    LIN_HOST_FAILED = 0xc0,
    LIN_HOST_REPORT = 0x40
};

typedef enum {
    LIN_HOST_SET = 1,
    LIN_HOST_READ,
    LIN_HOST_WATCH,
    LIN_HOST_UNWATCH,
    LIN_HOST_HEADER,
    LIN_HOST_WAKE,
    LIN_HOST_SLEEP,
    LIN_HOST_SLOT,
    LIN_HOST_SCHEDULE,
    LIN_HOST_COUNT,
    LIN_HOST_REQUESTS
} lin_host_request_t;

/* Why a request failed, beside lin_result_t. */
enum {
    LIN_HOST_NO_NODE = 32,   /* the port is no LIN node; for `watch`, there is no such port, or the sender's is 0 */
    LIN_HOST_MALFORMED = 33, /* no whole records, too many, or an unknown request */
    LIN_HOST_NO_COUNTER = 34,
    LIN_HOST_MANY_SLOTS = 36
};

/* Requests that failed, and reports that a watcher did not get for want of a packet, or of its
 * Ethernet address. */
extern uint32_t lin_host_errors;
extern uint32_t lin_host_lost;

/* Who asks: an IPv4 address in wire order, and a UDP port. */
typedef struct {
    uint32_t address;
    uint32_t port; /* 0: nobody */
} lin_host_peer_t;

/* Carries out a datagram's requests and writes the answer over them; the number of its bytes.
 * `payload` holds LIN_HOST_RECORD_BYTES at the least. */
uint32_t lin_host_answer(uint8_t *payload, uint32_t bytes, lin_host_peer_t peer);

/* The mask of watchers of a port, in the order of lin_host_watcher(). */
uint32_t lin_host_watchers(uint32_t port);
lin_host_peer_t lin_host_watcher(uint32_t index);

/* Writes a report's record. */
void lin_host_put_report(uint8_t *record, uint32_t port, const lin_report_t *report);

/* --- udp.c: the protocol service ---------------------------------------------------------------- */

/* Binds the port. */
void lin_udp_init(void);

/* Tells the watchers of a port, with what else is told until lin_udp_flush(). */
void lin_udp_tell(uint32_t port, const lin_report_t *report);

/* Sends what was told. False if some of that waits for a watcher's Ethernet address: it is to be called again. */
bool lin_udp_flush(void);

#endif
