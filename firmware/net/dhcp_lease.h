/* A DHCP lease: an address, who lends it, for how long, and when more time is asked for (RFC 2131 section
 * 4.4.5), with a clock of one second.
 *
 *   age 0            T1: renewal_s       T2: rebinding_s        duration_s
 *       ├──── HELD ────┼──── RENEWAL ──────┼──── REBINDING ───────┼──── ENDED
 *
 * The age counts from the first REQUEST for the lease, so that it ends here before it does at the server.
 */
#ifndef TIERV_NET_DHCP_LEASE_H
#define TIERV_NET_DHCP_LEASE_H

#include <stdbool.h>

#include "bytes.h"
#include "wire/dhcp.h"

typedef struct {
    be32_t address;
    be32_t netmask;
    be32_t gateway; /* 0: none */
    be32_t server;
    uint32_t duration_s; /* UINT32_MAX: for ever */
    uint32_t renewal_s;
    uint32_t rebinding_s;
    uint32_t age_s;
} dhcp_lease_t;

/* What is due at an age. */
typedef enum {
    DHCP_LEASE_HELD,      /* nothing */
    DHCP_LEASE_RENEWAL,   /* its server is asked for more time */
    DHCP_LEASE_REBINDING, /* any server is */
    DHCP_LEASE_ENDED      /* the address is given up */
} dhcp_lease_phase_t;

/* Reads the lease, of age 0, that an offer or acknowledgement is about. Times that the server does not say, or
 * says out of order, are the RFC's; a router that can't be the gateway is left out. False, and nothing
 * changed, if no host can use the lease. */
bool dhcp_lease_read(dhcp_lease_t *lease, const dhcp_message_t *message);

/* Brings the renewal forward by up to a sixteenth, as a random number says: not all boards that were
 * switched on together ask together. */
void dhcp_lease_hasten(dhcp_lease_t *lease, uint32_t random);

/* Once a second. */
dhcp_lease_phase_t dhcp_lease_tick(dhcp_lease_t *lease);

/* Seconds that remain, UINT32_MAX for ever. */
uint32_t dhcp_lease_remaining_s(const dhcp_lease_t *lease);

/* Seconds until one who has asked for more time, and heard nothing, asks again. */
uint32_t dhcp_lease_retry_s(const dhcp_lease_t *lease);

#endif
