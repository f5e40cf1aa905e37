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
    net->allowance = UINT32_MAX;
    net->excess_left = UINT32_MAX;
    net->mac = *mac;
    net->mac_first_word = mac->half[0] | ((uint32_t)mac->half[1] << 16);
    net->mac_last_word = mac->half[1] | ((uint32_t)mac->half[2] << 16);
    net->errors = ICMP_ERRORS_PER_S;
    net_stir(net, net->mac_first_word ^ net->mac_last_word);
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
    claim_restart(net);
    groups_restart(net);
}

/* Marsaglia's xorshift (Journal of Statistical Software 8(14), 2003); never 0. */
uint32_t net_random(net_t *net)
{
    uint32_t x = net->random;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    net->random = x;
    return x;
}

void net_stir(net_t *net, uint32_t entropy)
{
    net->random ^= entropy;
    net->random |= net->random == 0;
    (void)net_random(net);
}

COLD void net_unreachable(net_t *net, const packet_t *packet, uint32_t code)
{
    const uint8_t *ip = packet->frame + ETHERNET_HEADER_BYTES;

    if ((packet->flags & PACKET_BROADCAST) != 0) {
        return;
    }
    if (net->errors == 0 || net->spare == NULL || net->spare->next == NULL) {
        net_count(net, COUNT_ICMP_UNREACHABLE_LIMITED);
        return;
    }
    net->errors--;
    packet_t *error = net_reserve(net);
    ethernet_address_t sender = ethernet_get_address(packet->frame + ETHERNET_ADDRESS_BYTES);
    uint32_t bytes = icmpv4_emit_unreachable(error->frame + ETHERNET_HEADER_BYTES
                                                 + IPV4_HEADER_BYTES,
                                             code, ip, get_u16(ip + 2));
    ethernet_put_address(error->frame, &sender);
    ethernet_emit(error->frame, &net->mac, ETHERNET_TYPE_IPV4);
    ipv4_emit(error->frame + ETHERNET_HEADER_BYTES, net->address, get_be32(ip + 12),
              IPV4_PROTOCOL_ICMP, IPV4_TTL, bytes);
    error->length_bytes = (uint16_t)ethernet_pad(
        error->frame, ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + bytes);
    net_count(net, COUNT_ICMP_UNREACHABLE_SENT);
    net_dispose(net, error, NET_TRANSMIT);
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
    (void)ipv4_swap_addresses(packet->frame + ETHERNET_HEADER_BYTES);
    ethernet_turn(packet->frame, net->mac.half[0], net->mac_last_word);
    net_count(net, COUNT_ICMP_ECHOED);
    return NET_TRANSMIT;
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

/* IGMP in a packet with a good IPv4 header of so many bytes. */
static net_verdict_t igmp_input(net_t *net, const packet_t *packet, uint32_t header_bytes)
{
    const uint8_t *ip = packet->frame + ETHERNET_HEADER_BYTES;

    return net_drop(net, groups_input(net, ip + header_bytes, get_u16(ip + 2) - header_bytes,
                                      get_be32(ip + 16)));
}

/* A packet with a good header and good addresses that is not UDP. */
COLD static net_verdict_t other_input(net_t *net, packet_t *packet, uint32_t protocol,
                                      uint32_t bytes)
{
    if (protocol == IPV4_PROTOCOL_ICMP) {
        return icmp_input(net, packet, bytes);
    }
    if (protocol == IPV4_PROTOCOL_IGMP) {
        return igmp_input(net, packet, IPV4_HEADER_BYTES);
    }
    net_unreachable(net, packet, ICMPV4_NO_PROTOCOL);
    return net_drop(net, COUNT_IPV4_DROP_PROTOCOL);
}

/* What is wrong with the addresses of a packet, or WIRE_OK; marks one to many. */
static net_counter_t check_addresses(const net_t *net, packet_t *packet,
                                     const ipv4_header_t *header)
{
    const be16_t *half = header->destination_half;
    bool is_local = half[0] == net->local_half[0] && half[1] == net->local_half[1];

    if (is_local && (packet->flags & PACKET_BROADCAST) != 0) {
        return COUNT_IPV4_DROP_LINK_BROADCAST;
    }
    if (!is_local && !is_broadcast(net, half) && !groups_have(net, half[0] | (half[1] << 16))) {
        return COUNT_IPV4_DROP_DESTINATION;
    }
    if (!is_local) {
        packet->flags |= PACKET_BROADCAST;
    }
    /* Switches that only listen to IGMP ask without an address (RFC 4541 section 2.1.1). */
    if (net_is_bad_source(net, header->source)
        && (is_local || header->source != 0 || header->protocol != IPV4_PROTOCOL_IGMP)) {
        return COUNT_IPV4_DROP_SOURCE;
    }
    return WIRE_OK;
}

/* A packet that is not plainly IPv4 for us alone. Options are not for us; IGMP comes with one for
 * routers. */
COLD static net_verdict_t unusual_input(net_t *net, packet_t *packet)
{
    uint32_t bytes = packet->length_bytes - (uint32_t)ETHERNET_HEADER_BYTES;
    ipv4_header_t header;
    uint32_t header_bytes;
    net_counter_t reason = ipv4_parse_unusual(packet->frame + ETHERNET_HEADER_BYTES, bytes, &header,
                                              &header_bytes);

    if (reason == WIRE_OK && header_bytes != IPV4_HEADER_BYTES
        && header.protocol != IPV4_PROTOCOL_IGMP) {
        reason = COUNT_IPV4_DROP_OPTIONS;
    }
    if (reason == WIRE_OK) {
        reason = check_addresses(net, packet, &header);
    }
    if (reason != WIRE_OK) {
        return net_drop(net, reason);
    }
    if (header_bytes != IPV4_HEADER_BYTES) {
        return igmp_input(net, packet, header_bytes);
    }
    if (header.total_bytes != bytes) {
        trim(packet, header.total_bytes);
    }
    uint32_t payload_bytes = header.total_bytes - IPV4_HEADER_BYTES;
    return header.protocol == IPV4_PROTOCOL_UDP
               ? udp_input(net, packet, header.source, header.addresses_sum, payload_bytes)
               : other_input(net, packet, header.protocol, payload_bytes);
}

/* A packet in a frame to us alone. All calls in here and in net_input() are the last thing that they
 * do, so that neither needs a stack frame. */
static net_verdict_t ipv4_input(net_t *net, packet_t *packet)
{
    const uint8_t *ip = packet->frame + ETHERNET_HEADER_BYTES;
    uint32_t bytes = packet->length_bytes - (uint32_t)ETHERNET_HEADER_BYTES;
    ipv4_header_t header;
    net_counter_t reason = ipv4_parse(ip, bytes, &header);

    if (UNLIKELY(reason != WIRE_OK)) {
        return reason == COUNT_IPV4_DROP_OPTIONS ? unusual_input(net, packet)
                                                 : net_drop(net, reason);
    }
    if (UNLIKELY(header.destination_half[0] != net->local_half[0]
                 || header.destination_half[1] != net->local_half[1])) {
        return unusual_input(net, packet);
    }
    if (UNLIKELY(net_is_bad_source(net, header.source))) {
        return net_drop(net, COUNT_IPV4_DROP_SOURCE);
    }
    if (UNLIKELY(header.total_bytes != bytes)) {
        trim(packet, header.total_bytes);
    }
    uint32_t payload_bytes = header.total_bytes - IPV4_HEADER_BYTES;
    if (LIKELY(header.protocol == IPV4_PROTOCOL_UDP)) {
        return udp_input(net, packet, header.source, header.addresses_sum, payload_bytes);
    }
    return other_input(net, packet, header.protocol, payload_bytes);
}

/* A frame whose destination is good: our own MAC address if `is_ours`. */
INLINE net_verdict_t content_input(net_t *net, packet_t *packet, uint32_t source_half, be16_t type,
                                   bool is_ours)
{
    if (UNLIKELY(ethernet_is_group(source_half))) {
        return net_drop(net, COUNT_ETHERNET_DROP_SOURCE);
    }
    if (LIKELY(type == ETHERNET_TYPE_IPV4)) {
        return is_ours ? ipv4_input(net, packet) : unusual_input(net, packet);
    }
    if (type == ETHERNET_TYPE_ARP) {
        return arp_input(net, packet);
    }
    return net_drop(net, COUNT_ETHERNET_DROP_TYPE);
}

/* A frame with a header that is not to us alone. */
COLD static net_verdict_t foreign_input(net_t *net, packet_t *packet)
{
    const uint8_t *frame = packet->frame;
    uint32_t first_word = get_word(frame);
    uint32_t last_half = get_be16(frame + 4);

    if ((first_word != 0xffffffffu || last_half != 0xffffu)
        && !groups_have_mac(net, first_word, last_half)) {
        return net_drop(net, COUNT_ETHERNET_DROP_DESTINATION);
    }
    packet->flags |= PACKET_BROADCAST;
    return content_input(net, packet, get_be16(frame + 6), get_be16(frame + 12), false);
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
        return foreign_input(net, packet);
    }
    return content_input(net, packet, header.source_half, header.type, true);
}
