#include "services_network.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/network.h"
#include "apps/remote.h"
#include "services_devices.h"
#include "text.h"

enum { SOCKETS = 4 };

net_t network;

static udp_socket_t *sockets[SOCKETS];
static uint32_t socket_count;
static uint32_t spare;
static int32_t packets;
/* A host whose Ethernet address is asked for, and what waits for that. */
static be32_t unknown_address;
static packet_t *waiting;
/* A host whose Ethernet address nobody is asked for: too many others' are. */
static be32_t refused_address;
/* Whoever it is, by this way. */
static const uint8_t peer_mac[ETHERNET_ADDRESS_BYTES] = {2, 0, 0, 0, 0, 9};

static packet_t *make_packet(packet_home_t home)
{
    packet_t *packet = calloc(1, sizeof(*packet));

    packet->home = (uint8_t)home;
    /* As long as a frame may be, so that the sanitizer sees what is beyond it. */
    packet->frame = malloc(PACKET_FRAME_BYTES);
    /* What was there before may look like part of a request. */
    memset(packet->frame, ' ', PACKET_FRAME_BYTES);
    packets++;
    return packet;
}

static void drop_packet(packet_t *packet)
{
    free(packet->frame);
    free(packet);
    packets--;
}

static void supply(uint32_t count)
{
    while (RING_COUNT(&network.supply) < count) {
        (void)RING_PUSH(&network.supply, make_packet(PACKET_HOME_APPLICATION));
    }
}

static void print_datagram(const char *what, const packet_t *packet)
{
    printf("!%s %u %u ", what, packet->peer_address, be16_to_host(packet->peer_port));
    text_print_hex(packet_payload(packet), packet->payload_bytes);
}

void udp_init(udp_socket_t *socket, udp_callback_t callback, void *context)
{
    *socket = (udp_socket_t){.callback = callback, .context = context};
}

/* All sockets here answer whoever asks. */
udp_result_t udp_bind_service(net_t *net, udp_socket_t *socket, uint32_t port)
{
    device_check(net == &network && socket_count < SOCKETS, "another network");
    socket->local_port = (uint16_t)host_to_be16(port);
    sockets[socket_count++] = socket;
    return UDP_OK;
}

packet_t *net_reserve(net_t *net)
{
    (void)net;
    if (spare == 0) {
        return NULL;
    }
    spare--;
    return make_packet(PACKET_HOME_PROTOCOL);
}

bool udp_awaits_neighbour(net_t *net, be32_t destination)
{
    (void)net;
    return waiting != NULL && destination == unknown_address;
}

net_verdict_t udp_output(net_t *net, packet_t *packet)
{
    (void)net;
    device_check(packet->flags == PACKET_PAYLOAD_SUMMED, "not summed");
    if (refused_address != 0 && packet->peer_address == refused_address) {
        return NET_FREE;
    }
    if (unknown_address != 0 && packet->peer_address == unknown_address) {
        if (waiting != NULL) {
            drop_packet(waiting);
        }
        waiting = packet;
        return NET_KEPT;
    }
    printf("!from %u\n", be16_to_host(packet->local_port));
    print_datagram("report", packet);
    return NET_TRANSMIT;
}

void net_dispose(net_t *net, packet_t *packet, net_verdict_t verdict)
{
    (void)net;
    device_check((verdict == NET_KEPT) == (packet == waiting), "not the verdict");
    if (verdict != NET_KEPT) {
        drop_packet(packet);
    }
}

void network_lose_neighbour(void)
{
    unknown_address = text_number(1);
}

void network_refuse_neighbour(void)
{
    refused_address = text_number(1);
}

/* What has waited goes out. */
void network_find_neighbour(void)
{
    unknown_address = 0;
    if (waiting != NULL) {
        print_datagram("report", waiting);
        drop_packet(waiting);
        waiting = NULL;
    }
}

void network_take_datagram(void)
{
    packet_t *packet = make_packet(PACKET_HOME_RECEIVE);
    udp_socket_t *socket = NULL;

    for (uint32_t index = 0; index < socket_count; index++) {
        if (be16_to_host(sockets[index]->local_port) == text_number(1)) {
            socket = sockets[index];
        }
    }
    device_check(socket != NULL, "nobody has the port");
    memcpy(packet->frame + ETHERNET_ADDRESS_BYTES, peer_mac, sizeof(peer_mac));
    packet->peer_address = text_number(2);
    packet->peer_port = (uint16_t)host_to_be16(text_number(3));
    packet->payload_bytes = (uint16_t)text_hex(packet_payload(packet), 4);
    if (socket->callback == NULL) {
        device_check(RING_PUSH(&socket->inbox, packet), "no room in the inbox");
        return;
    }
    if (socket->callback(socket, packet) == UDP_REPLY) {
        print_datagram("reply", packet);
    }
    drop_packet(packet);
}

void network_serve_remote(void)
{
    packet_t *packet;
    bool result = remote_service();

    while ((packet = RING_POP(&network.outbox)) != NULL) {
        /* Neither is a neighbour asked for nor a route needed. */
        device_check((packet->flags & PACKET_REPLY) != 0
                         && memcmp(packet->frame + ETHERNET_ADDRESS_BYTES, peer_mac, sizeof(peer_mac)) == 0,
                     "not to who has asked");
        print_datagram("answer", packet);
        drop_packet(packet);
    }
    while ((packet = RING_POP(&network.returned)) != NULL) {
        printf("!returned\n");
        drop_packet(packet);
    }
    printf("%d\n", result);
}

void network_supply(void)
{
    supply(text_number(1));
}

void network_set_spare(void)
{
    spare = text_number(1);
}

void network_print_packets(void)
{
    printf("%d\n", packets - (int32_t)RING_COUNT(&network.supply));
}
