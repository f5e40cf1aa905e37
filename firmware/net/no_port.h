/* A network interface without a port, where the driver has the rings alone (stack.h). */
#ifndef TIERV_NET_NO_PORT_H
#define TIERV_NET_NO_PORT_H

#include "packet.h"

enum { NET_HAS_PORT = 0 };

typedef struct net_port {
    uint32_t unused;
} net_port_t;

static inline bool net_port_has_frame(const net_port_t *port)
{
    (void)port;
    return false;
}

static inline bool net_port_has_room(const net_port_t *port)
{
    (void)port;
    return true;
}

static inline packet_t *net_port_receive(net_port_t *port)
{
    (void)port;
    return NULL;
}

static inline bool net_port_give_room(net_port_t *port, packet_t *packet)
{
    (void)port;
    (void)packet;
    return false;
}

static inline bool net_port_send(net_port_t *port, packet_t *packet)
{
    (void)port;
    (void)packet;
    return false;
}

static inline packet_t *net_port_take_sent(net_port_t *port)
{
    (void)port;
    return NULL;
}

#endif
