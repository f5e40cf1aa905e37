/* A source of datagrams, for throughput tests. */
#ifndef TIERV_APPS_SOURCE_H
#define TIERV_APPS_SOURCE_H

#include "net/udp_socket.h"

/* Application: takes requests "COUNT BYTES" from the socket and sends what was asked for, as fast
 * as packets are free. A request that can't be read is counted and dropped; a new one replaces the
 * one that goes on. True if datagrams were handed over. */
bool source_service(udp_socket_t *socket);

extern uint32_t source_bad_requests;

#endif
