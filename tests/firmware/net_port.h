/* Hardware that is the stack's port, on the host: it has a frame, and sends others, unless it stalls. */
#ifndef TIERV_TESTS_NET_PORT_H
#define TIERV_TESTS_NET_PORT_H

#include "../../firmware/net/stack.h"

extern net_port_t net_test_port;
extern bool net_port_stalls;

/* Forgets all packets. */
void net_port_reset(void);

/* Places for packets to be filled. Without any, as at first, it wants none, and received frames get the packets that
 * they get without a port. */
void net_port_set_places(uint32_t count);
bool net_port_has_places(void);

/* A packet that waits there, which leaves it; NULL if there is none. And how many wait. */
packet_t *net_port_take_room(void);
uint32_t net_port_room(void);

/* A frame was received. */
void net_port_bring(packet_t *packet);

/* Prints a frame as it is on the wire: with its checksum. */
void net_port_print(const packet_t *packet);

#endif
