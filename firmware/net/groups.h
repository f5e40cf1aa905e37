/* Multicast groups of the interface: RFC 1112 level 2 with IGMPv2 (RFC 2236), and a clock of one second.
 *
 * A group that is joined is reported at once and again within ten seconds; a query is answered after a
 * random delay, unless another member is heard first; the last of us to leave tells the routers if it
 * was we who reported last. A router of version 1 is answered in its version for 400 seconds after its
 * query. All hosts' group 224.0.0.1 is always received and never reported. Without an address groups are
 * received; reports wait for one.
 *
 * The sockets do not know groups: a datagram to a group that is joined goes to whoever has its port.
 */
#ifndef TIERV_NET_GROUPS_H
#define TIERV_NET_GROUPS_H

#include <stdbool.h>

#include "../config.h"
#include "bytes.h"
#include "wire/ethernet.h"

struct net;

typedef struct {
    be32_t address;     /* 0: unused */
    uint16_t joined;    /* how often */
    uint8_t report_s;   /* until the next report; 0: none is due */
    uint8_t unasked;    /* reports to send without a query, after that one */
    bool reported_last; /* no other member was heard since our report */
} group_t;

typedef struct {
    uint16_t version_1_s; /* for so long a router of version 1 is taken to be there */
    group_t entries[IGMP_GROUPS];
} groups_t;

#define GROUP_ALL_HOSTS IPV4_ADDRESS(224, 0, 0, 1)
#define GROUP_ALL_ROUTERS IPV4_ADDRESS(224, 0, 0, 2)

/* Joins or leaves a group, before the tiers start or in the protocol tier. A group joined twice is left
 * the second time. False if the address is no group's, or there is no room or it was not joined. */
bool groups_join(struct net *net, be32_t group);
bool groups_leave(struct net *net, be32_t group);

/* True if datagrams to this address are for us. */
bool groups_have(const struct net *net, be32_t group);

/* True if frames to this Ethernet address (its first four bytes and its last two) may be. */
bool groups_have_mac(const struct net *net, uint32_t first_word, uint32_t last_half);

/* Reports all groups anew: the interface has an address. */
void groups_restart(struct net *net);

/* Once a second. */
void groups_tick(struct net *net);

/* Takes an IGMP message of `bytes` bytes (two-byte aligned) sent to `destination`, and says in which
 * counter its frame ends. */
net_counter_t groups_input(struct net *net, const uint8_t *message, uint32_t bytes,
                           be32_t destination);

#endif
