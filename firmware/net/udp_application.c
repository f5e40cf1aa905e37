/* The application tier's side of UDP: it meets the protocol tier in rings alone. */
#include "udp_socket.h"

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

void udp_release(net_t *net, packet_t *packet)
{
    /* Has room for all packets there are. */
    (void)RING_PUSH(&net->returned, packet);
}

packet_t *udp_reserve(net_t *net)
{
    packet_t *packet = RING_POP(&net->supply);

    if (packet != NULL) {
        packet->flags = 0;
        packet->payload_bytes = 0;
    }
    return packet;
}

udp_result_t udp_send_to(net_t *net, const udp_socket_t *socket, packet_t *packet, be32_t address,
                         uint32_t port)
{
    if (socket->local_port == 0) {
        return UDP_BAD_SOCKET;
    }
    if (port == 0 || port > 0xffff) {
        return UDP_BAD_PORT;
    }
    if (packet->payload_bytes > PACKET_PAYLOAD_BYTES) {
        return UDP_BAD_LENGTH;
    }
    udp_address(packet, socket, address, port);
    return RING_PUSH(&net->outbox, packet) ? UDP_OK : UDP_QUEUE_FULL;
}

udp_result_t udp_send(net_t *net, const udp_socket_t *socket, packet_t *packet)
{
    if (socket->peer_address == 0) {
        return UDP_BAD_SOCKET;
    }
    return udp_send_to(net, socket, packet, socket->peer_address,
                       be16_to_host(socket->peer_port));
}

udp_asker_t udp_asker(const packet_t *packet)
{
    const uint8_t *datagram = packet->frame + ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES;

    return (udp_asker_t){.mac = ethernet_get_address(packet->frame + ETHERNET_ADDRESS_BYTES),
                         .address = packet->peer_address,
                         .port = packet->peer_port,
                         .local_port = (uint16_t)udp_destination_port(datagram)};
}

udp_result_t udp_answer(net_t *net, packet_t *packet, const udp_asker_t *asker)
{
    if (asker->port == 0) {
        return UDP_BAD_PORT;
    }
    if (packet->payload_bytes > PACKET_PAYLOAD_BYTES) {
        return UDP_BAD_LENGTH;
    }
    ethernet_emit(packet->frame, &asker->mac, ETHERNET_TYPE_IPV4);
    udp_put_destination_port(packet->frame + ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES,
                             asker->local_port);
    packet->peer_address = asker->address;
    packet->peer_port = asker->port;
    /* No frame is so short: the headers are to be written anew. */
    packet->length_bytes = 0;
    packet->flags = (uint8_t)((packet->flags & PACKET_PAYLOAD_SUMMED) | PACKET_REPLY);
    return RING_PUSH(&net->outbox, packet) ? UDP_OK : UDP_QUEUE_FULL;
}

udp_result_t udp_reply(net_t *net, packet_t *packet)
{
    if (packet->home != PACKET_HOME_RECEIVE) {
        return UDP_BAD_PACKET;
    }
    if (packet->payload_bytes > PACKET_PAYLOAD_BYTES) {
        return UDP_BAD_LENGTH;
    }
    packet->flags |= PACKET_REPLY;
    if (!RING_PUSH(&net->outbox, packet)) {
        packet->flags &= (uint8_t)~PACKET_REPLY;
        return UDP_QUEUE_FULL;
    }
    return UDP_OK;
}
