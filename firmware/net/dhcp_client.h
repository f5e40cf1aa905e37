/* DHCP client (RFC 2131 section 4.4): gets, keeps and gives back the interface's address.
 *
 *   INIT ─► SELECTING ─► REQUESTING ─► PROBING ─► BOUND ─► RENEWING ─► REBINDING
 *    ▲          │            │            │         ▲         │            │
 *    └── NAK, no answer, address in use, ─┘         └── ACK ──┴────────────┤
 *        lease ended                                                       │
 *    ▲─────────────────────────────────────────────────────────────────────┘
 *
 * Its clock is net_tick(): one second. Without an answer to DHCP_TRIES DISCOVER messages (about a minute)
 * the static address is taken, and the client goes on asking once a minute. The first good offer is
 * taken; its address is probed by ARP (claim.h) before it is used, and declined if somebody has it.
 *
 * Believed is what comes from the server port, to our MAC address, with the number of the open question,
 * of a type that the state waits for, and, once a server is chosen, from that one (REBINDING: from any).
 * Everything else is counted and dropped.
 */
#ifndef TIERV_NET_DHCP_CLIENT_H
#define TIERV_NET_DHCP_CLIENT_H

#include "dhcp_lease.h"
#include "stack.h"
#include "udp_socket.h"

typedef enum {
    DHCP_OFF,
    DHCP_INIT, /* waits before it asks */
    DHCP_SELECTING,
    DHCP_REQUESTING,
    DHCP_PROBING,
    DHCP_BOUND,
    DHCP_RENEWING,
    DHCP_REBINDING,
    DHCP_RELEASING /* while the release waits for ARP to find the server, a tick at the least */
} dhcp_state_t;

typedef struct {
    be32_t address;
    be32_t netmask;
    be32_t gateway; /* 0: none */
} dhcp_address_t;

typedef struct {
    net_timer_t timer; /* first: the client is found by it */
    udp_socket_t socket;
    net_t *net;
    dhcp_address_t fallback;
    dhcp_lease_t lease; /* offered or held */
    be32_t xid;
    uint32_t request_s; /* since the first REQUEST with this xid */
    uint32_t asking_s;  /* since the first DISCOVER, or the first REQUEST of a renewal */
    uint32_t said_s;    /* of these, as the last message said */
    uint32_t wait_s;    /* until the next message */
    uint32_t replaced;  /* datagrams that had lost their place at a neighbour when the lease was given back */
    uint8_t state;      /* dhcp_state_t */
    uint8_t tries;      /* messages sent to the open question */
    uint8_t conflicts;  /* addresses declined since there was a lease, MAX_CONFLICTS at the most */
    bool has_started;   /* and not asked yet: the interface has its static address until then */
} dhcp_client_t;

/* Makes a client that is off, binds UDP port 68 and gets its ticks. The fallback's address may be 0: then
 * there is none. Before the tiers start. False if the port is bound already. */
bool dhcp_init(dhcp_client_t *client, net_t *net, const dhcp_address_t *fallback);

/* Begins to ask in some seconds. The interface keeps the static address until then, so that whoever commanded
 * it can be answered, and has none from the first question on until there is a lease. In the protocol tier, or
 * while that is held back. */
void dhcp_start(dhcp_client_t *client);

/* Gives the lease back and takes the static address: at the next tick, or when ARP has found the server or
 * given up. Likewise. */
void dhcp_stop(dhcp_client_t *client);

/* True if the lease may be used: its address is the interface's, unless somebody else has claimed it. */
static inline bool dhcp_holds_lease(const dhcp_client_t *client)
{
    return client->state == DHCP_BOUND || client->state == DHCP_RENEWING
           || client->state == DHCP_REBINDING;
}

/* Seconds of the lease that remain, 0 if there is none, UINT32_MAX for one without end. */
uint32_t dhcp_remaining_s(const dhcp_client_t *client);

/* "bound" */
const char *dhcp_state_name(dhcp_state_t state);

#endif
