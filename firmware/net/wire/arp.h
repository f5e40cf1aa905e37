/* ARP for IPv4 over Ethernet (RFC 826): parse and emit.
 *
 * offset  0         2         4          5          6          8       14       18      24
 *         hardware  protocol  hardware   protocol   operation  sender  sender   target  target
 *         type      type      addr size  addr size             MAC     address  MAC     address
 */
#ifndef TIERV_NET_WIRE_ARP_H
#define TIERV_NET_WIRE_ARP_H

#include "../bytes.h"
#include "../counters.h"
#include "ethernet.h"

enum { ARP_PACKET_BYTES = 28 };

#define ARP_REQUEST BE16(1)
#define ARP_REPLY BE16(2)

typedef struct {
    be16_t operation;
    ethernet_address_t sender_mac;
    be32_t sender;
    ethernet_address_t target_mac;
    be32_t target;
} arp_packet_t;

/* Reads a packet (two-byte aligned) in `bytes` bytes of frame. After WIRE_OK it is a request or
 * reply for IPv4 over Ethernet, and the sender's MAC address is a single station's. */
net_counter_t arp_parse(const uint8_t *at, uint32_t bytes, arp_packet_t *packet);

/* Writes the ARP_PACKET_BYTES of a packet. */
void arp_emit(uint8_t *at, const arp_packet_t *packet);

#endif
