/* Neighbours: IPv4 address to Ethernet address (RFC 826, RFC 1122 section 2.3.2).
 *
 * What is believed:
 *   - A reply, only while a request of ours for that address is open (entry INCOMPLETE or
 *     REFRESHING). RFC 826 would take any reply; unasked ones are dropped and counted.
 *   - A request, whoever it is for (so announcements too): its sender's address renews an entry
 *     that exists (the RFC's merge rule), and makes a new one only if the request is for us and the
 *     sender is in our subnet.
 *   - Nothing from senders with our own address (claim.h says what becomes of them), our own MAC
 *     address, a group or zero MAC address, or an IPv4 address
 *     that is no host's; requests with sender 0.0.0.0 (probes, RFC 5227) are answered, not learned.
 *
 * What gives way when the table is full: for the sender of a request, the longest unused entry that
 * we have not sent to since its last renewal, or nothing; for a neighbour that we want to send to,
 * that one, then the longest unused one. Open questions, and neighbours that we have asked for in
 * the last second, never give way: so a flood of requests from strangers costs us no neighbour in
 * use, and nothing that we send makes us ask for the same address more than once a second
 * (RFC 1122 2.3.2.1).
 *
 * An unresolved entry keeps the newest datagram for it (RFC 1122 2.3.2.2), unless its packet is the last one with
 * which to ask again.
 */
#ifndef TIERV_NET_ARP_TABLE_H
#define TIERV_NET_ARP_TABLE_H

#include <stdbool.h>

#include "../config.h"
#include "bytes.h"
#include "packet.h"
#include "wire/ethernet.h"

typedef enum {
    ARP_UNUSED,
    ARP_INCOMPLETE, /* asked for; `mac` means nothing yet */
    ARP_COMPLETE,
    ARP_REFRESHING /* known and in use, asked for again because of its age */
} arp_state_t;

typedef struct {
    be32_t address;
    packet_t *waiting; /* INCOMPLETE: what is to be sent when the address comes, or NULL */
    uint32_t stamp;    /* of the table's clock at the last use or renewal */
    uint16_t seconds;  /* COMPLETE: since renewal */
    ethernet_address_t mac;
    uint8_t state;       /* arp_state_t */
    uint8_t tries;       /* requests without answer; INCOMPLETE: those that could not be sent, too */
    uint8_t quiet_ticks; /* until a second has passed since the last request */
    bool used;           /* sent to since its last renewal */
} arp_entry_t;

typedef struct {
    uint32_t clock;   /* counts uses and renewals */
    uint32_t waiting; /* entries for which a datagram waits */
    arp_entry_t entries[ARP_ENTRIES];
} arp_table_t;

#endif
