/* The table of sockets, by port, and which ports are those of services. */
#ifndef TIERV_NET_UDP_TABLE_H
#define TIERV_NET_UDP_TABLE_H

#include "compiler.h"
#include "udp_socket.h"

_Static_assert(UDP_SERVICE_PORTS == 32 * 256, "the map of services must have a bit for each upper byte");

/* The ports of a serial server follow each other, so their low byte, which lies in the upper half
 * of the wire order, spreads them evenly. */
static inline udp_socket_t **udp_bucket(net_t *net, be16_t port)
{
    return &net->buckets[(port >> 8) & (UDP_BUCKETS - 1)];
}

static inline udp_socket_t *udp_find(net_t *net, be16_t port)
{
    udp_socket_t *socket = *udp_bucket(net, port);

    while (socket != NULL && socket->local_port != port) {
        socket = socket->next;
    }
    return socket;
}

/* The bit of a port below UDP_SERVICE_PORTS in the map of services: for its upper byte, from the uppermost bit
 * down, so that a shift makes it the sign. */
static inline uint32_t udp_service_bit(be16_t port)
{
    return UINT32_C(0x80000000) >> (port & 31);
}

/* False for a port whose upper byte no service's has. */
INLINE bool udp_may_be_service(const net_t *net, be16_t port)
{
    return (port & (0x100 - UDP_SERVICE_PORTS / 256)) == 0 && (int32_t)(net->services << (port & 31)) < 0;
}

/* True for the port of a socket that udp_bind_service() has bound. */
static inline bool udp_is_service(net_t *net, be16_t port)
{
    const udp_socket_t *socket = udp_find(net, port);

    return socket != NULL && socket->is_service;
}

#endif
