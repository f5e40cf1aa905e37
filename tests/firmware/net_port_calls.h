/* The port of the stack on the host, as the stack wants it (stack.h): calls of net_port.c. */
#ifndef TIERV_TESTS_NET_PORT_CALLS_H
#define TIERV_TESTS_NET_PORT_CALLS_H

#include "net/packet.h"

enum { NET_HAS_PORT = 1 };

typedef struct net_port {
    uint32_t unused;
} net_port_t;

bool net_port_has_frame(const net_port_t *port);
bool net_port_has_room(const net_port_t *port);
packet_t *net_port_receive(net_port_t *port);
bool net_port_give_room(net_port_t *port, packet_t *packet);
bool net_port_send(net_port_t *port, packet_t *packet);
packet_t *net_port_take_sent(net_port_t *port);

#endif
