#include "stack.h"

#include "neighbours.h"
#include "udp_socket.h"
#include "wire/icmpv4.h"
#include "wire/ipv4.h"

/* What no half of an address can be. */
#define NO_HALF 0xffffffffu

void net_init(net_t *net, const ethernet_address_t *mac)
{
    __builtin_memset(net, 0, sizeof(*net));
    net->mac = *mac;
    net->mac_first_word = mac->half[0] | ((uint32_t)mac->half[1] << 16);
    net->mac_last_word = mac->half[1] | ((uint32_t)mac->half[2] << 16);
    net_configure(net, 0, 0, 0);
}

void net_configure(net_t *net, be32_t address, be32_t netmask, be32_t gateway)
{
    be32_t hosts = ~netmask;

    arp_flush(net);
    net->address = address;
    net->netmask = netmask;
    net->gateway = gateway;
    /* A subnet of one or two hosts has no broadcast address of its own (RFC 3021). */
    net->broadcast = (hosts & ~IPV4_ADDRESS(0, 0, 0, 1)) == 0 ? IPV4_BROADCAST : address | hosts;
    net->local_half[0] = address != 0 ? address & 0xffffu : NO_HALF;
    net->local_half[1] = address >> 16;
}

/* ICMP in a packet with a good IPv4 header. */
COLD static net_verdict_t icmp_input(net_t *net, packet_t *packet, uint32_t bytes)
{
    uint8_t *message = packet->frame + ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES;
    /* The header, being good, adds 0 to the driver's sum. */
    uint32_t sum = (packet->flags & PACKET_FRAME_SUMMED) != 0 ? packet->sum
                                                              : checksum_sum(message, bytes);
    net_counter_t reason = icmpv4_parse_echo(message, bytes, sum);

    if (reason != WIRE_OK) {
        return net_drop(net, reason);
    }
    if ((packet->flags & PACKET_BROADCAST) != 0) {
        return net_drop(net, COUNT_ICMP_DROP_BROADCAST);
    }
    icmpv4_turn_echo(message);
    ipv4_set_ttl(packet->frame + ETHERNET_HEADER_BYTES, IPV4_TTL);
    ipv4_swap_addresses(packet->frame + ETHERNET_HEADER_BYTES);
    ethernet_turn(packet->frame, net->mac.half[0], net->mac_last_word);
    net_count(net, COUNT_ICMP_ECHOED);
    return NET_TRANSMIT;
}

/* Counts a packet that is no plain IPv4. */
COLD static net_verdict_t drop_unusual(net_t *net, const packet_t *packet)
{
    return net_drop(net, ipv4_check_unusual(packet->frame + ETHERNET_HEADER_BYTES,
                                            packet->length_bytes
                                                - (uint32_t)ETHERNET_HEADER_BYTES));
}

/* Takes padding off a frame that holds more than the packet in it. */
static inline void trim(packet_t *packet, uint32_t total_bytes)
{
    packet->length_bytes = (uint16_t)ethernet_trimmed_bytes(ETHERNET_HEADER_BYTES + total_bytes,
                                                            packet->length_bytes);
    packet->flags = (uint8_t)(packet->flags & ~PACKET_FRAME_SUMMED);
}

/* True for a destination, given by halves, that is all hosts of the subnet. */
static inline bool is_broadcast(const net_t *net, const be16_t *half)
{
    return (half[0] & half[1]) == 0xffffu
           || (half[0] == (net->broadcast & 0xffffu) && half[1] == net->broadcast >> 16);
}

/* All calls in here and in net_input() are the last thing that they do, so that neither needs a
 * stack frame. */
static net_verdict_t ipv4_input(net_t *net, packet_t *packet)
{
    const uint8_t *ip = packet->frame + ETHERNET_HEADER_BYTES;
    uint32_t bytes = packet->length_bytes - (uint32_t)ETHERNET_HEADER_BYTES;
    ipv4_header_t header;
    net_counter_t reason = ipv4_parse(ip, bytes, &header);

    if (UNLIKELY(reason != WIRE_OK)) {
        return reason == COUNT_IPV4_DROP_OPTIONS ? drop_unusual(net, packet)
                                                 : net_drop(net, reason);
    }
    if (UNLIKELY(header.destination_half[0] != net->local_half[0]
                 || header.destination_half[1] != net->local_half[1])) {
        if (!is_broadcast(net, header.destination_half)) {
            return net_drop(net, COUNT_IPV4_DROP_DESTINATION);
        }
        packet->flags |= PACKET_BROADCAST;
    } else if (UNLIKELY((packet->flags & PACKET_BROADCAST) != 0)) {
        return net_drop(net, COUNT_IPV4_DROP_LINK_BROADCAST);
    }
    if (UNLIKELY(!ipv4_is_host(header.source) || header.source == net->address
                 || header.source == net->broadcast)) {
        return net_drop(net, COUNT_IPV4_DROP_SOURCE);
    }
    if (UNLIKELY(header.total_bytes != bytes)) {
        trim(packet, header.total_bytes);
    }
    uint32_t payload_bytes = header.total_bytes - IPV4_HEADER_BYTES;
    if (LIKELY(header.protocol == IPV4_PROTOCOL_UDP)) {
        return udp_input(net, packet, header.source, header.addresses_sum, payload_bytes);
    }
    if (header.protocol == IPV4_PROTOCOL_ICMP) {
        return icmp_input(net, packet, payload_bytes);
    }
    return net_drop(net, COUNT_IPV4_DROP_PROTOCOL);
}

net_verdict_t net_input(net_t *net, packet_t *packet)
{
    ethernet_header_t header;
    net_counter_t reason = ethernet_parse(packet->frame, packet->length_bytes, &header);

    if (UNLIKELY(reason != WIRE_OK)) {
        return net_drop(net, reason);
    }
    if (UNLIKELY(header.destination_word != net->mac_first_word
                 || header.destination_half != net->mac.half[2])) {
        if (header.destination_word != 0xffffffffu || header.destination_half != 0xffffu) {
            return net_drop(net, COUNT_ETHERNET_DROP_DESTINATION);
        }
        packet->flags |= PACKET_BROADCAST;
    }
    if (UNLIKELY(ethernet_is_group(header.source_half))) {
        return net_drop(net, COUNT_ETHERNET_DROP_SOURCE);
    }
    if (LIKELY(header.type == ETHERNET_TYPE_IPV4)) {
        return ipv4_input(net, packet);
    }
    if (header.type == ETHERNET_TYPE_ARP) {
        return arp_input(net, packet);
    }
    return net_drop(net, COUNT_ETHERNET_DROP_TYPE);
}
