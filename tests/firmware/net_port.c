#include "net_port.h"

#include <stdio.h>
#include <string.h>

#include "../../firmware/net/checksum.h"
#include "packet_list.h"
#include "text.h"

/* Of a datagram's frame: where its addresses are, and the checksum of UDP. */
enum { ADDRESSES_OFFSET = 26, CHECKSUM_OFFSET = 40 };

bool net_port_stalls;
static packet_t *arrived;
static packet_t *sent[NET_PACKETS];
static uint32_t sents;
static packet_list_t room;
static uint32_t places;

void net_port_reset(void)
{
    net_port_stalls = false;
    arrived = NULL;
    sents = 0;
    room.count = 0;
    places = 0;
}

void net_port_set_places(uint32_t count)
{
    places = count;
}

bool net_port_has_places(void)
{
    return places != 0;
}

packet_t *net_port_take_room(void)
{
    return room.count != 0 ? packet_list_take(&room) : NULL;
}

uint32_t net_port_room(void)
{
    return room.count;
}

void net_port_bring(packet_t *packet)
{
    arrived = packet;
}

void net_port_print(const packet_t *packet)
{
    static _Alignas(4) uint8_t frame[NET_BUFFER_BYTES];
    uint32_t bytes = packet->length_bytes;

    memcpy(frame, packet->frame, bytes);
    if ((packet->flags & PACKET_UDP_UNSUMMED) != 0) {
        be16_t checksum =
            checksum_field(checksum_sum(frame + ADDRESSES_OFFSET, bytes - ADDRESSES_OFFSET));
        put_be16(frame + CHECKSUM_OFFSET, checksum != 0 ? checksum : 0xffffu);
    }
    printf("transmit ");
    text_print_hex(frame, bytes);
}

bool net_port_has_frame(const net_port_t *port)
{
    (void)port;
    return arrived != NULL;
}

bool net_port_has_room(const net_port_t *port)
{
    (void)port;
    return arrived != NULL || room.count != 0;
}

packet_t *net_port_receive(net_port_t *port)
{
    packet_t *packet = arrived;

    (void)port;
    arrived = NULL;
    return packet;
}

bool net_port_give_room(net_port_t *port, packet_t *packet)
{
    (void)port;
    if (room.count >= places) {
        return false;
    }
    packet_list_add(&room, packet);
    return true;
}

bool net_port_send(net_port_t *port, packet_t *packet)
{
    (void)port;
    if (net_port_stalls) {
        return false;
    }
    net_port_print(packet);
    sent[sents++] = packet;
    return true;
}

packet_t *net_port_take_sent(net_port_t *port)
{
    (void)port;
    return sents != 0 ? sent[--sents] : NULL;
}

net_port_t net_test_port;
