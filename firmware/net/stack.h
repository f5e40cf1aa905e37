/* The network interface: one Ethernet port, one IPv4 address.
 *
 * net_input() and udp_output() work on one packet and say what becomes of it; net_service() is the
 * protocol tier's work loop around them and the rings. Nothing here touches hardware, waits or
 * allocates. Everything but what packet.h draws in the other tiers' columns runs in the protocol
 * tier, which is one tier, so nothing here needs a lock.
 *
 * Set-up, before the other tiers start: net_init(), net_add_packets() for each home,
 * net_configure(), udp_bind() or udp_bind_service().
 */
#ifndef TIERV_NET_STACK_H
#define TIERV_NET_STACK_H

#include <stdbool.h>

#include "../config.h"
#include "arp_table.h"
#include "claim.h"
#include "counters.h"
#include "groups.h"
#include "packet.h"
/* A port is hardware that moves frames by itself and belongs to the protocol tier, which need not go through the
 * rings to and from the ISR tier then. The header NET_PORT has NET_HAS_PORT, net_port_t and
 *
 *   bool net_port_has_frame(const net_port_t *)         true if a frame was received
 *   bool net_port_has_room(const net_port_t *)          true if there is room for a frame, or one in it
 *   packet_t *net_port_receive(net_port_t *)            a received frame as net_input() wants it, or NULL
 *   bool net_port_give_room(net_port_t *, packet_t *)   takes a packet of home RECEIVE to be filled; false if
 *                                                       there are enough
 *   bool net_port_send(net_port_t *, packet_t *)        takes a frame to be sent; false if it has to wait
 *   packet_t *net_port_take_sent(net_port_t *)          a packet that has been sent, or NULL
 */
#ifdef NET_PORT
#include NET_PORT
#else
#include "no_port.h"
#endif
#include "ring.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

struct udp_socket;

/* What becomes of a packet; whoever gets this from net_input() or udp_output() does it. */
typedef enum {
    NET_FREE,     /* nothing: it goes home */
    NET_TRANSMIT, /* it is a frame to be sent, length_bytes long */
    NET_KEPT,     /* someone else owns it now */
    NET_PARK      /* a received one goes home with net_refill() */
} net_verdict_t;

/* Something else in the protocol tier that wants to be called once a second. */
typedef struct net_timer {
    struct net_timer *next;
    void (*tick)(struct net_timer *timer);
} net_timer_t;

typedef struct net {
    ethernet_address_t mac;
    /* Bytes 0 to 3 and 2 to 5 of `mac`, as a frame's destination and source are accessed. */
    uint32_t mac_first_word;
    uint32_t mac_last_word;
    /* Halves of `address`; while that is 0, the first is what no half can be. */
    uint32_t local_half[2];
    be32_t address;
    be32_t netmask;
    be32_t broadcast; /* of the subnet; IPV4_BROADCAST if it has none */
    be32_t gateway;   /* 0: none */
    /* Packets of home RECEIVE that the application holds, its inboxes included, and those that
     * wait for ARP. */
    uint32_t held;
    packet_t *spare;
    packet_t *serial;
    packet_t *parked;     /* until net_refill() */
    uint32_t excess_left; /* datagrams that are dropped for want of the application's room until packets are parked */
    uint32_t added[PACKET_HOMES]; /* packets given, by home */
    struct udp_socket *buckets[UDP_BUCKETS];
    uint32_t services; /* a bit for each upper byte of services' ports (udp_table.h) */
    net_counters_t counters;
    arp_table_t arp;
    claim_t claim;
    groups_t groups;
    net_timer_t *timers;
    net_port_t *port; /* NULL: the rings are all there is */
    /* Received frames that net_service() may still take, if they are metered. */
    uint32_t allowance;
    bool metered;
    /* Something was left for the application since net_service() or net_tick() last told. */
    bool to_application;
    uint32_t random;
    uint32_t errors; /* of ICMP that may be sent until the next tick */

    /* protocol tier to ISR tier and back */
    RING(NET_RING_SLOTS) free;
    RING(NET_RING_SLOTS) received;
    RING(NET_TRANSMIT_SLOTS) transmit;
    RING(NET_TRANSMIT_SLOTS) sent;
    packet_t *volatile copy; /* NULL: on its way */
    /* protocol tier to application tier and back */
    RING(NET_RING_SLOTS) supply;
    RING(NET_RING_SLOTS) outbox;
    RING(NET_RING_SLOTS) returned;
} net_t;

/* RISC-V loads reach 2047 bytes from a register. */
_Static_assert(sizeof(void *) != 4 || offsetof(net_t, counters) + sizeof(net_counters_t) <= 2048,
              "the fields used for every frame must lie in the first 2 KiB");

/* Makes an interface without address, packets and sockets; its random numbers begin with the MAC
 * address. */
void net_init(net_t *net, const ethernet_address_t *mac);

/* Sets the IPv4 address, netmask and gateway (0: none). While the address is 0 the interface takes
 * broadcasts and groups only, and sends to 255.255.255.255 alone. Forgets all neighbours; the next
 * ticks announce the address and report the groups. */
void net_configure(net_t *net, be32_t address, be32_t netmask, be32_t gateway);

/* Gives `count` packets to the interface. `buffers` has count * NET_BUFFER_BYTES bytes and is
 * word-aligned. Before the other tiers start. False if config.h says fewer for `home`. */
bool net_add_packets(net_t *net, packet_home_t home, packet_t *packets, uint8_t *buffers,
                     uint32_t count);

/* Takes a received frame: frame, length_bytes, flags and, if flags say so, sum are set. One with PACKET_DATAGRAM
 * udp_input_datagram() takes too. */
net_verdict_t net_input(net_t *net, packet_t *packet);

/* True for a source that can't have sent a packet to us. */
static inline bool net_is_bad_source(const net_t *net, be32_t source)
{
    return !ipv4_is_host(source) || source == net->address || source == net->broadcast;
}

/* The protocol tier's work: takes back packets, sends what the application gave, then takes at the
 * most `frames` received frames. True if packets were left for the application, to which the caller
 * posts. There may be more to do if net_pending() says so; the driver looks for packets by itself. */
bool net_service(net_t *net, uint32_t frames);

/* net_service() takes no more than `frames` received frames from now on; others stay where they are, and
 * when the driver has no free packet left the MAC drops what comes, which costs nothing. Without a call
 * there is no such limit. */
void net_allow(net_t *net, uint32_t frames);

/* True if received frames wait that net_allow() keeps from net_service(). */
bool net_is_held(const net_t *net);

/* The port, or NULL. */
static inline net_port_t *net_port(const net_t *net)
{
    return NET_HAS_PORT ? net->port : NULL;
}

/* Datagrams for which the application has no room are dropped, which costs time. So that a flood of them leaves it
 * enough to go on, after NET_EXCESS_DROPS of them the packets of those that follow are out of use until net_refill();
 * when none is left the MAC drops what comes, which costs nothing. Without a call there is no such limit. */
void net_refill(net_t *net);

/* True if such datagrams have been dropped, so that net_refill() has to follow, in a while. */
static inline bool net_wants_refill(const net_t *net)
{
    return net->excess_left < NET_EXCESS_DROPS;
}

/* True if the port has no room for a frame. The packets that it sends may be the only ones to come back, and it need
 * not tell of that: net_service() has to follow, in a while. */
static inline bool net_is_deaf(const net_t *net)
{
    return net_port(net) != NULL && !net_port_has_room(net->port);
}

/* The port gets the frames that wait for it as far as it has places for them. */
static inline void net_send_waiting(net_t *net, net_port_t *port)
{
    while (RING_COUNT(&net->transmit) != 0 && net_port_send(port, RING_FIRST(&net->transmit))) {
        (void)RING_POP(&net->transmit);
    }
}

/* The buffers of packets that are free are room for frames, as far as the port has places for them. */
static inline void net_give_free(net_t *net, net_port_t *port)
{
    while (RING_COUNT(&net->free) != 0 && net_port_give_room(port, RING_FIRST(&net->free))) {
        (void)RING_POP(&net->free);
    }
}

/* True if received frames wait. */
static inline bool net_frames_wait(const net_t *net)
{
    return RING_COUNT(&net->received) != 0
           || (net_port(net) != NULL && net_port_has_frame(net->port));
}

/* True if received frames, or a batch of packets that were sent, wait for net_service(). What the application
 * has for it the application says, when it has all of it. */
static inline bool net_pending(const net_t *net)
{
    return RING_COUNT(&net->sent) >= NET_SENT_BATCH
           || (net->allowance != 0 && net_frames_wait(net));
}

/* Once a second: ARP retries and ageing, announcements, IGMP reports, timers. Returns the same. */
bool net_tick(net_t *net);

/* Has a timer called in each tick; never twice with the same. */
void net_add_timer(net_t *net, net_timer_t *timer);

/* A random number, good for delays and to tell questions apart, not for secrets. */
uint32_t net_random(net_t *net);

/* Changes the random numbers to come, for example by a clock's reading. */
void net_stir(net_t *net, uint32_t entropy);

/* Says by ICMP that a received packet, whose frame is still as it came and has no padding, can't be
 * delivered, because of `code` (icmpv4.h). Not for what was sent to many (RFC 1122 section 3.2.2), not
 * more often than config.h says, and not with the last packet that ARP might need. */
void net_unreachable(net_t *net, const packet_t *packet, uint32_t code);

/* A packet of home PROTOCOL, or of home SERIAL, to write a datagram into, or NULL. */
packet_t *net_reserve(net_t *net);
packet_t *net_reserve_serial(net_t *net);

/* Sends a packet home. */
void net_release(net_t *net, packet_t *packet);

/* Does what a verdict says. */
void net_dispose(net_t *net, packet_t *packet, net_verdict_t verdict);

/* Counts a frame or datagram that ends here. */
static inline net_verdict_t net_drop(net_t *net, net_counter_t reason)
{
    net->counters.counts[reason]++;
    return NET_FREE;
}

/* The same of one for which the application has no room. */
static inline net_verdict_t net_drop_excess(net_t *net, net_counter_t reason)
{
    net->counters.counts[reason]++;
    if (net->excess_left == 0) {
        return NET_PARK;
    }
    net->excess_left--;
    return NET_FREE;
}

static inline void net_count(net_t *net, net_counter_t counter)
{
    net->counters.counts[counter]++;
}

#endif
