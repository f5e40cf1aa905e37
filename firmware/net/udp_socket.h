/* UDP sockets: a port each, and a callback in the protocol tier or a queue to the application.
 *
 * A socket is the caller's memory. udp_bind(), udp_bind_service(), udp_connect() and udp_close() run before
 * the tiers start or in the protocol tier.
 */
#ifndef TIERV_NET_UDP_SOCKET_H
#define TIERV_NET_UDP_SOCKET_H

#include "stack.h"

/* Services have ports below this. */
#define UDP_SERVICE_PORTS 8192

typedef struct udp_socket udp_socket_t;

/* What a callback has done with a datagram. */
typedef enum {
    UDP_DONE,  /* read it, or not; the packet goes home */
    UDP_ECHO,  /* nothing was written: send it back as it is. No checksum is computed */
    UDP_REPLY, /* wrote a new payload and payload_bytes: send that back to where it came from */
    UDP_KEEP   /* keeps the packet, which is now its own, until net_release() or udp_output() */
} udp_verdict_t;

/* Takes a datagram: packet_payload(), payload_bytes, peer_address and peer_port are set. Runs in
 * the protocol tier, inside net_input(), and so must be short. It may send other packets. */
typedef udp_verdict_t (*udp_callback_t)(udp_socket_t *socket, packet_t *packet);

struct udp_socket {
    udp_socket_t *next;      /* in its bucket */
    udp_callback_t callback; /* NULL: datagrams go to the inbox */
    void *context;           /* the callback's */
    be32_t peer_address;     /* 0: not connected */
    uint16_t peer_port;      /* wire order */
    uint16_t local_port;     /* wire order; 0: not bound */
    bool is_service;         /* bound by udp_bind_service() */
    uint32_t dropped;        /* found the inbox full or the application's hold used up */
    RING(UDP_SOCKET_SLOTS) inbox;
};

typedef enum {
    UDP_OK,
    UDP_BAD_PORT,    /* 0, or too high */
    UDP_BAD_SOCKET,  /* already bound, or not bound */
    UDP_PORT_IN_USE, /* another socket has it */
    UDP_BAD_LENGTH,  /* payload over PACKET_PAYLOAD_BYTES */
    UDP_QUEUE_FULL,  /* try again after the protocol tier has run */
    UDP_BAD_PACKET   /* not one from udp_receive() */
} udp_result_t;

/* --- before the tiers start, or in the protocol tier ------------------------------------------ */

/* Makes an unbound socket. `callback` may be NULL. */
void udp_init(udp_socket_t *socket, udp_callback_t callback, void *context);

/* Gives the socket a port (host order). */
udp_result_t udp_bind(net_t *net, udp_socket_t *socket, uint32_t port);

/* The same for a service that answers whoever asks, at a port below UDP_SERVICE_PORTS. What comes from the port of
 * a service bound here is dropped: two boards whose services answer each other would never stop. */
udp_result_t udp_bind_service(net_t *net, udp_socket_t *socket, uint32_t port);

/* From now on the socket takes datagrams of this peer only, and udp_send() goes there. An address
 * of 0 undoes that. `port` is in host order. */
udp_result_t udp_connect(udp_socket_t *socket, be32_t address, uint32_t port);

/* Takes the port away. What is in the inbox stays there for the application to read. */
udp_result_t udp_close(net_t *net, udp_socket_t *socket);

/* --- in the protocol tier --------------------------------------------------------------------- */

/* True if a datagram on the way to a host waits for a neighbour's Ethernet address: the next one would take its
 * place. */
bool udp_awaits_neighbour(net_t *net, be32_t destination);

/* Makes `packet` a datagram from `socket` to a peer (port in host order). */
static inline void udp_address(packet_t *packet, const udp_socket_t *socket, be32_t address,
                               uint32_t port)
{
    packet->peer_address = address;
    packet->peer_port = (uint16_t)host_to_be16(port);
    packet->local_port = socket->local_port;
}

/* Sends an addressed packet with payload_bytes of payload; flags say if `sum` is the payload's. */
net_verdict_t udp_output(net_t *net, packet_t *packet);

/* Sends a packet with a port and payload of no more than PACKET_PAYLOAD_BYTES to all, from 0.0.0.0:
 * from one who has no address yet. */
net_verdict_t udp_output_nameless(net_t *net, packet_t *packet);

/* Takes a packet with a good IPv4 header without options from `source`. `bytes` is the IPv4
 * payload, all of it in the frame; `addresses_sum` the partial sum of both addresses. */
net_verdict_t udp_input(net_t *net, packet_t *packet, be32_t source, uint32_t addresses_sum,
                        uint32_t bytes);

/* Takes a received frame with PACKET_DATAGRAM: what net_input() does, but that mostly there is little to look
 * at. */
net_verdict_t udp_input_datagram(net_t *net, packet_t *packet);

/* --- in the application tier ------------------------------------------------------------------ */

/* True if no datagram waits. */
static inline bool udp_is_empty(const udp_socket_t *socket)
{
    return RING_COUNT(&socket->inbox) == 0;
}

/* The oldest datagram in the inbox, which is then the application's, or NULL. */
static inline packet_t *udp_receive(udp_socket_t *socket)
{
    return RING_POP(&socket->inbox);
}

/* Gives back a packet from udp_receive() or udp_reserve(). context_run_protocol() after it, or after several. */
void udp_release(net_t *net, packet_t *packet);

/* An empty packet to write a datagram into (packet_write(), or packet_payload() and payload_bytes),
 * or NULL: then again after context_run_protocol(), for what has been sent comes back when the protocol service
 * runs, and later if it is still on its way. */
packet_t *udp_reserve(net_t *net);

/* Hands a packet from udp_reserve(), or one from udp_receive() whose payload may be rewritten, over
 * to be sent to the connected peer or to the given one (port in host order). Unless the result is
 * UDP_OK it is still the caller's. context_run_protocol() after it, or after several. What can't be sent is then
 * counted in UDP_SEND_DROP counters. */
udp_result_t udp_send(net_t *net, const udp_socket_t *socket, packet_t *packet);
udp_result_t udp_send_to(net_t *net, const udp_socket_t *socket, packet_t *packet, be32_t address,
                         uint32_t port);

/* Who has asked, and at which port (wire order). */
typedef struct {
    ethernet_address_t mac;
    be32_t address;
    uint16_t port;
    uint16_t local_port;
} udp_asker_t;

/* The sender of a packet from udp_receive(). */
udp_asker_t udp_asker(const packet_t *packet);

/* The same for any number of packets, from udp_reserve() or udp_receive(), to who has asked: at the Ethernet
 * address that the question came from, so that no answer waits for a neighbour or needs a route. */
udp_result_t udp_answer(net_t *net, packet_t *packet, const udp_asker_t *asker);

/* The same for a packet from udp_receive(), whose payload may be rewritten, back to where it came from and
 * from the port that it came to; without asking for the neighbour's address, as the sender's is known. */
udp_result_t udp_reply(net_t *net, packet_t *packet);

#endif
