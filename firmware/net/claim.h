/* Our claim to an IPv4 address: probe, announce, defend (RFC 5227), with a clock of one second.
 *
 *   - A candidate is probed three times, a second apart, and is free if for two more seconds nobody has
 *     used or probed it. For addresses of DHCP; those that a user has set are announced at once.
 *   - A new address is announced twice, two seconds apart, first at the next tick: that is the
 *     gratuitous ARP by which neighbours renew their entries.
 *   - Whoever else uses our address is answered with an announcement, at the most every ten seconds
 *     (section 2.4). If that does not help within these, a leased address is given up at once
 *     (method b) and one that a user has set is kept (method c).
 */
#ifndef TIERV_NET_CLAIM_H
#define TIERV_NET_CLAIM_H

#include <stdbool.h>

#include "bytes.h"
#include "wire/arp.h"

struct net;

typedef enum {
    CLAIM_NO_CANDIDATE,
    CLAIM_PROBING,
    CLAIM_FREE, /* nobody else has the candidate */
    CLAIM_TAKEN /* somebody has */
} claim_state_t;

typedef struct {
    be32_t candidate;
    uint8_t state;         /* claim_state_t, of the candidate */
    uint8_t probes;        /* still to be sent */
    uint8_t announcements; /* still to be sent */
    uint8_t wait_s;        /* until the next of these, or until the candidate is free */
    uint8_t defended_s;    /* until a conflict may be answered again */
    bool leased;           /* our address may be given up */
    bool lost;             /* it was: net->address is 0 */
} claim_t;

/* Begins to probe an address; 0: ends that. */
void claim_probe(struct net *net, be32_t candidate);

/* The interface has a new address, or none. */
void claim_restart(struct net *net);

/* Looks at an ARP packet of another station. True if it disputes our address or candidate. */
bool claim_is_disputed(struct net *net, const arp_packet_t *content);

/* Once a second. */
void claim_tick(struct net *net);

#endif
