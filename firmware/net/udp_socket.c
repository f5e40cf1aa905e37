#include "udp_socket.h"

#include "neighbours.h"
#include "udp_table.h"
#include "wire/icmpv4.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

enum { UDP_OFFSET = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES };

_Static_assert(UDP_OFFSET + UDP_HEADER_BYTES == PACKET_PAYLOAD_OFFSET,
              "PACKET_PAYLOAD_OFFSET must be where UDP's payload begins");

/* The partial sum of the payload, which its writer may know. */
INLINE uint32_t payload_sum(const packet_t *packet)
{
    return (packet->flags & PACKET_PAYLOAD_SUMMED) != 0
               ? packet->sum
               : checksum_sum(packet_payload(packet), packet->payload_bytes);
}

/* Writes UDP and IPv4 headers around the payload, and the frame's length with its padding. */
static void emit(packet_t *packet, be32_t source, be16_t local_port)
{
    uint8_t *datagram = packet->frame + UDP_OFFSET;
    uint32_t payload_bytes = packet->payload_bytes;

    if (NET_DRIVER_SUMS) {
        packet->flags |= PACKET_UDP_UNSUMMED;
        udp_emit_unsummed(datagram, local_port, packet->peer_port, payload_bytes);
    } else {
        udp_emit(datagram, local_port, packet->peer_port, payload_bytes,
                 ipv4_address_sum(source) + ipv4_address_sum(packet->peer_address),
                 payload_sum(packet));
    }
    ipv4_emit(packet->frame + ETHERNET_HEADER_BYTES, source, packet->peer_address,
              IPV4_PROTOCOL_UDP, IPV4_TTL, UDP_HEADER_BYTES + payload_bytes);
    packet->length_bytes = (uint16_t)ethernet_pad(packet->frame, PACKET_PAYLOAD_OFFSET + payload_bytes);
}

/* 0 if a received frame is for the IPv4 address that we have. */
INLINE uint32_t address_difference(const net_t *net, const uint8_t *frame)
{
    const uint8_t *ip = frame + ETHERNET_HEADER_BYTES;

    return (get_be16(ip + 16) ^ net->local_half[0]) | (get_be16(ip + 18) ^ net->local_half[1]);
}

/* True if the headers of a received frame fit the payload as it is now, from the address that we have
 * to where it came from. */
static inline bool fits(const net_t *net, const packet_t *packet)
{
    const uint8_t *datagram = packet->frame + UDP_OFFSET;

    return address_difference(net, packet->frame) == 0
           && packet->length_bytes == PACKET_PAYLOAD_OFFSET + (uint32_t)packet->payload_bytes
           && udp_length(datagram)
                  == host_to_be16(UDP_HEADER_BYTES + (uint32_t)packet->payload_bytes);
}

/* Turns them. */
INLINE net_verdict_t turn(net_t *net, packet_t *packet, net_counter_t counter)
{
    uint8_t *frame = packet->frame;
    uint8_t *ip = frame + ETHERNET_HEADER_BYTES;
    uint8_t *datagram = frame + UDP_OFFSET;
    be16_t length = udp_length(datagram);

    net_count(net, counter);
    udp_swap_ports(datagram);
    ipv4_set_ttl(ip, IPV4_TTL);
    uint32_t addresses_sum = ipv4_swap_addresses(ip);
    if (NET_DRIVER_SUMS) {
        packet->flags = PACKET_UDP_UNSUMMED;
        udp_put_unsummed(datagram, length);
    } else {
        udp_put_sum(datagram, udp_pseudo_sum(length, addresses_sum) + udp_ports_sum(datagram) + length
                                  + payload_sum(packet));
        packet->flags = 0;
    }
    ethernet_turn(frame, net->mac.half[0], net->mac_last_word);
    return NET_TRANSMIT;
}

/* Sends a payload back to where its packet came from, in headers of its own. */
static __attribute__((noinline)) net_verdict_t reply_anew(net_t *net, packet_t *packet,
                                                          net_counter_t counter)
{
    if (packet->peer_port == 0 || net->address == 0
        || packet->payload_bytes > PACKET_PAYLOAD_BYTES) {
        /* The frame of an application's reply has been counted as queued. */
        return net_drop(net, counter == COUNT_UDP_SENT ? COUNT_UDP_SEND_DROP_DESTINATION
                                                       : COUNT_UDP_DROP_REPLY);
    }
    /* What the driver summed is no longer there. */
    packet->flags &= PACKET_PAYLOAD_SUMMED;
    emit(packet, net->address, udp_destination_port(packet->frame + UDP_OFFSET));
    ethernet_turn(packet->frame, net->mac.half[0], net->mac_last_word);
    net_count(net, counter);
    return NET_TRANSMIT;
}

/* Sends the payload that somebody has written back to where its packet came from. */
static __attribute__((noinline)) net_verdict_t reply(net_t *net, packet_t *packet,
                                                     net_counter_t counter)
{
    return packet->peer_port == 0 || !fits(net, packet)
               ? reply_anew(net, packet, counter)
               : turn(net, packet, counter);
}

/* Sends a datagram back as it is. Not if it was a broadcast: two echo servers would then never
 * stop, and many would answer one. */
static inline net_verdict_t echo(net_t *net, packet_t *packet)
{
    uint8_t *frame = packet->frame;

    if (UNLIKELY((packet->flags & PACKET_BROADCAST) != 0 || packet->peer_port == 0)) {
        return net_drop(net, COUNT_UDP_DROP_REPLY);
    }
    udp_swap_ports(frame + UDP_OFFSET);
    ipv4_set_ttl(frame + ETHERNET_HEADER_BYTES, IPV4_TTL);
    (void)ipv4_swap_addresses(frame + ETHERNET_HEADER_BYTES);
    ethernet_turn(frame, net->mac.half[0], net->mac_last_word);
    net_count(net, COUNT_UDP_ECHOED);
    return NET_TRANSMIT;
}

/* Gives a datagram to the application, if it has room for it. */
static net_verdict_t queue(net_t *net, udp_socket_t *socket, packet_t *packet)
{
    if (net->held >= NET_APPLICATION_HOLD) {
        socket->dropped++;
        return net_drop_excess(net, COUNT_UDP_DROP_HOLD);
    }
    if (!RING_PUSH(&socket->inbox, packet)) {
        socket->dropped++;
        return net_drop_excess(net, COUNT_UDP_DROP_SOCKET_FULL);
    }
    net->held++;
    net->to_application = true;
    net_count(net, COUNT_UDP_QUEUED);
    return NET_KEPT;
}

static net_verdict_t call_back(net_t *net, udp_socket_t *socket, packet_t *packet)
{
    udp_verdict_t verdict = socket->callback(socket, packet);
    if (LIKELY(verdict == UDP_ECHO)) {
        return echo(net, packet);
    }
    if (verdict == UDP_REPLY) {
        return reply(net, packet, COUNT_UDP_REPLIED);
    }
    net_count(net, COUNT_UDP_TAKEN);
    return verdict == UDP_KEEP ? NET_KEPT : NET_FREE;
}

/* Nobody has the port of a good datagram. */
COLD static net_verdict_t refuse(net_t *net, const packet_t *packet)
{
    net_unreachable(net, packet, ICMPV4_NO_PORT);
    return net_drop(net, COUNT_UDP_DROP_PORT);
}

/* A good datagram. Calls are the last thing that is done here and in udp_input(), so that neither needs a
 * stack frame. */
INLINE net_verdict_t deliver(net_t *net, packet_t *packet)
{
    udp_socket_t *socket = udp_find(net, udp_destination_port(packet->frame + UDP_OFFSET));

    if (UNLIKELY(socket == NULL)) {
        return refuse(net, packet);
    }
    if (UNLIKELY(udp_may_be_service(net, packet->peer_port)) && socket->is_service
        && udp_is_service(net, packet->peer_port)) {
        return net_drop(net, COUNT_UDP_DROP_REPLY);
    }
    udp_callback_t callback = socket->callback;
    if (UNLIKELY(socket->peer_address != 0)
        && (socket->peer_address != packet->peer_address
            || socket->peer_port != packet->peer_port)) {
        return net_drop(net, COUNT_UDP_DROP_PEER);
    }
    return callback == NULL ? queue(net, socket, packet) : call_back(net, socket, packet);
}

/* A datagram in a frame that nobody has summed, or that holds something behind it. */
static __attribute__((noinline)) net_verdict_t sum_and_deliver(net_t *net, packet_t *packet,
                                                               uint32_t pseudo_sum)
{
    const uint8_t *datagram = packet->frame + UDP_OFFSET;
    uint32_t bytes = UDP_HEADER_BYTES + (uint32_t)packet->payload_bytes;

    if (!checksum_is_good(pseudo_sum + checksum_sum(datagram, bytes))) {
        return net_drop(net, COUNT_UDP_DROP_CHECKSUM);
    }
    packet->flags = (uint8_t)(packet->flags & ~PACKET_FRAME_SUMMED);
    return deliver(net, packet);
}

net_verdict_t udp_input(net_t *net, packet_t *packet, be32_t source, uint32_t addresses_sum,
                        uint32_t bytes)
{
    udp_header_t udp;
    net_counter_t reason = udp_parse(packet->frame + UDP_OFFSET, bytes, &udp);

    if (UNLIKELY(reason != WIRE_OK)) {
        return net_drop(net, reason);
    }
    packet->peer_address = source;
    packet->peer_port = (uint16_t)udp.source_port;
    packet->payload_bytes = (uint16_t)(udp.bytes - UDP_HEADER_BYTES);
    if (LIKELY(udp.checksum != 0)) {
        uint32_t pseudo_sum = udp_pseudo_sum(udp.length, addresses_sum);
        /* The sum of the frame will do if the datagram is all of it: the IPv4 header, being good, adds 0. */
        if (UNLIKELY((packet->flags & PACKET_FRAME_SUMMED) == 0 || udp.bytes != bytes)) {
            return sum_and_deliver(net, packet, pseudo_sum);
        }
        if (UNLIKELY(!checksum_is_good(pseudo_sum + packet->sum))) {
            return net_drop(net, COUNT_UDP_DROP_CHECKSUM);
        }
    } else {
        packet->flags = (uint8_t)(packet->flags & ~PACKET_FRAME_SUMMED);
    }
    return deliver(net, packet);
}

/* True for a frame with a datagram from `source` that is to us alone, if the source may be one. One branch for
 * all that must be equal: loads needn't wait for each other then. */
INLINE bool is_ours_alone(const net_t *net, const uint8_t *frame, be32_t source)
{
    uint32_t difference = (get_word(frame) ^ net->mac_first_word)
                          | (get_be16(frame + 4) ^ net->mac.half[2])
                          | address_difference(net, frame)
                          | ethernet_is_group(get_be16(frame + 6));

    return LIKELY(difference == 0) && LIKELY(!net_is_bad_source(net, source));
}

net_verdict_t udp_input_datagram(net_t *net, packet_t *packet)
{
    const uint8_t *frame = packet->frame;
    be32_t source = ipv4_source(frame + ETHERNET_HEADER_BYTES);

    if (UNLIKELY(!is_ours_alone(net, frame, source))) {
        return net_input(net, packet);
    }
    packet->peer_address = source;
    packet->peer_port = (uint16_t)udp_source_port(frame + UDP_OFFSET);
    packet->payload_bytes = (uint16_t)(packet->length_bytes - PACKET_PAYLOAD_OFFSET);
    return deliver(net, packet);
}

static be32_t next_hop(const net_t *net, be32_t destination)
{
    return ((destination ^ net->address) & net->netmask) == 0 ? destination : net->gateway;
}

/* Fills in the Ethernet destination, or lets the packet wait for it. */
static net_verdict_t route(net_t *net, packet_t *packet)
{
    be32_t destination = packet->peer_address;

    if (destination == IPV4_BROADCAST || destination == net->broadcast) {
        ethernet_put_address(packet->frame, &ethernet_broadcast);
        return NET_TRANSMIT;
    }
    if (ipv4_is_multicast(destination)) {
        ethernet_address_t mac = ethernet_of_group(destination);
        ethernet_put_address(packet->frame, &mac);
        ipv4_set_ttl(packet->frame + ETHERNET_HEADER_BYTES, IPV4_MULTICAST_TTL);
        return NET_TRANSMIT;
    }
    return arp_resolve(net, next_hop(net, destination), packet);
}

bool udp_awaits_neighbour(net_t *net, be32_t destination)
{
    return arp_awaits(net, next_hop(net, destination));
}

/* Why a datagram can't be sent, or WIRE_OK. */
static net_counter_t check_output(const net_t *net, const packet_t *packet)
{
    be32_t destination = packet->peer_address;
    bool is_group = destination == IPV4_BROADCAST || ipv4_is_multicast(destination);

    if (packet->payload_bytes > PACKET_PAYLOAD_BYTES) {
        return COUNT_UDP_SEND_DROP_LONG;
    }
    if (packet->peer_port == 0 || destination == net->address
        || !(is_group || ipv4_is_host(destination))) {
        return COUNT_UDP_SEND_DROP_DESTINATION;
    }
    if (net->address == 0) {
        return destination == IPV4_BROADCAST ? WIRE_OK : COUNT_UDP_SEND_DROP_ROUTE;
    }
    return is_group || next_hop(net, destination) != 0 ? WIRE_OK : COUNT_UDP_SEND_DROP_ROUTE;
}

/* A datagram to anybody. */
static __attribute__((noinline)) net_verdict_t output(net_t *net, packet_t *packet)
{
    net_counter_t reason = check_output(net, packet);

    if (UNLIKELY(reason != WIRE_OK)) {
        return net_drop(net, reason);
    }
    ethernet_emit(packet->frame, &net->mac, ETHERNET_TYPE_IPV4);
    emit(packet, net->address, packet->local_port);
    net_verdict_t verdict = route(net, packet);
    net_count(net, verdict == NET_TRANSMIT ? COUNT_UDP_SENT
                   : verdict == NET_KEPT   ? COUNT_UDP_SENT_LATER
                                           : COUNT_UDP_SEND_DROP_ARP_FULL);
    return verdict;
}

net_verdict_t udp_output(net_t *net, packet_t *packet)
{
    uint32_t difference = ((packet->flags & ~(uint32_t)PACKET_DATAGRAM)
                           ^ (PACKET_REPLY | PACKET_FRAME_SUMMED))
                          | (packet->length_bytes
                             ^ (PACKET_PAYLOAD_OFFSET + (uint32_t)packet->payload_bytes));

    /* Most often nothing but the payload has changed in a frame that was all datagram. */
    if (LIKELY(difference == 0) && LIKELY(packet->peer_port != 0)
        && LIKELY(address_difference(net, packet->frame) == 0)) {
        return turn(net, packet, COUNT_UDP_SENT);
    }
    return (packet->flags & PACKET_REPLY) != 0 ? reply(net, packet, COUNT_UDP_SENT)
                                               : output(net, packet);
}

net_verdict_t udp_output_nameless(net_t *net, packet_t *packet)
{
    packet->peer_address = IPV4_BROADCAST;
    ethernet_emit(packet->frame, &net->mac, ETHERNET_TYPE_IPV4);
    ethernet_put_address(packet->frame, &ethernet_broadcast);
    emit(packet, 0, packet->local_port);
    net_count(net, COUNT_UDP_SENT);
    return NET_TRANSMIT;
}
