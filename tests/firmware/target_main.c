/* The stack as firmware, for the interpreter of rv32.py: it calls the functions below. */
#include "../../firmware/net/checksum.h"
#include "../../firmware/net/dhcp_client.h"
#include "../../firmware/net/stack.h"
#include "../../firmware/net/udp_socket.h"

net_t target_net;
packet_t target_packets[NET_PACKETS];
_Alignas(4) uint8_t target_buffers[NET_PACKETS * NET_BUFFER_BYTES];
/* A frame as the MAC holds it. */
_Alignas(4) uint8_t target_slot[2048];
udp_socket_t target_echo;
udp_socket_t target_queue;
dhcp_client_t target_dhcp;

static udp_verdict_t echo(udp_socket_t *socket, packet_t *packet)
{
    (void)socket;
    (void)packet;
    return UDP_ECHO;
}

/* 0 if all went well. Port 7 echoes, port 4000 belongs to the application. */
uint32_t target_init(void)
{
    static const ethernet_address_t mac = {{BE16(0x0200), BE16(0x0000), BE16(0x0001)}};
    packet_t *packets = target_packets;
    uint8_t *buffers = target_buffers;
    bool good = true;

    net_init(&target_net, &mac);
    good &= net_add_packets(&target_net, PACKET_HOME_RECEIVE, packets, buffers,
                            NET_RECEIVE_PACKETS);
    packets += NET_RECEIVE_PACKETS;
    buffers += NET_RECEIVE_PACKETS * NET_BUFFER_BYTES;
    good &= net_add_packets(&target_net, PACKET_HOME_PROTOCOL, packets, buffers,
                            NET_PROTOCOL_PACKETS);
    packets += NET_PROTOCOL_PACKETS;
    buffers += NET_PROTOCOL_PACKETS * NET_BUFFER_BYTES;
    good &= net_add_packets(&target_net, PACKET_HOME_APPLICATION, packets, buffers,
                            NET_APPLICATION_PACKETS);
    net_configure(&target_net, IPV4_ADDRESS(10, 0, 0, 1), IPV4_ADDRESS(255, 255, 255, 0), 0);
    udp_init(&target_echo, echo, NULL);
    udp_init(&target_queue, NULL, NULL);
    good &= udp_bind_service(&target_net, &target_echo, 7) == UDP_OK;
    good &= udp_bind(&target_net, &target_queue, 4000) == UDP_OK;
    return good ? 0 : 1;
}

/* 0 if all went well: the client begins to ask. */
uint32_t target_start_dhcp(void)
{
    dhcp_address_t none = {.address = 0};
    bool good = dhcp_init(&target_dhcp, &target_net, &none);

    dhcp_start(&target_dhcp);
    return good ? 0 : 1;
}

/* The interface's address. */
uint32_t target_address(void)
{
    return target_net.address;
}

/* The steps of the driver, one each, so that each can be counted. */

packet_t *target_take_free(void)
{
    return RING_POP(&target_net.free);
}

bool target_give_received(packet_t *packet)
{
    return RING_PUSH(&target_net.received, packet);
}

packet_t *target_take_transmit(void)
{
    return RING_POP(&target_net.transmit);
}

bool target_give_sent(packet_t *packet)
{
    return RING_PUSH(&target_net.sent, packet);
}
