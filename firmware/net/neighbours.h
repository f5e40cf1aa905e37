/* ARP above the wire: answers, learns, asks. arp_table.h says what is believed. */
#ifndef TIERV_NET_NEIGHBOURS_H
#define TIERV_NET_NEIGHBOURS_H

#include "stack.h"

/* Takes a frame of type ARP. */
net_verdict_t arp_input(net_t *net, packet_t *packet);

/* Sends a finished frame whose Ethernet destination alone is missing to the neighbour `address`,
 * which is in our subnet. NET_TRANSMIT if the neighbour is known, NET_KEPT if the packet waits for
 * it, NET_FREE if no entry gives way; nothing is counted for the packet. */
net_verdict_t arp_resolve(net_t *net, be32_t address, packet_t *packet);

/* True if a packet waits for the neighbour: the next one would take its place. */
bool arp_awaits(net_t *net, be32_t address);

/* Asks all for `target` in the name of `sender`: a probe if that is 0, an announcement if both are the
 * same (RFC 5227). False if there is no packet for it. */
bool arp_ask_all(net_t *net, be32_t sender, be32_t target);

/* Forgets all neighbours and sends home what waits for them. */
void arp_flush(net_t *net);

/* Once a second. */
void arp_tick(net_t *net);

#endif
