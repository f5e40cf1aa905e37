/* The MAC with descriptors in local memory as the network interface's port (net/stack.h). What it does for each
 * frame is here, so that it becomes part of the protocol service's loop. */
#ifndef TIERV_DRIVERS_ETHMAC_DMA_PORT_H
#define TIERV_DRIVERS_ETHMAC_DMA_PORT_H

#include <generated/soc.h>

#include "mmio.h"
#include "net/compiler.h"
#include "net/packet.h"
#include "net/wire/ethernet.h"
#include "net/wire/udp.h"

enum { NET_HAS_PORT = 1 };

/* A place in a ring: a descriptor (soc/dma/descriptor.py), of which the MAC reads and writes the first two
 * words. */
typedef struct ethmac_place {
    uint32_t buffer;
    uint32_t word;
    packet_t *packet; /* NULL: not in use */
    struct ethmac_place *next;
} ethmac_place_t;

_Static_assert(sizeof(ethmac_place_t) == 4 * ETHDMA_WORDS, "a place must be a descriptor");

typedef struct net_port {
    ethmac_place_t *arm;  /* gets a buffer next */
    ethmac_place_t *take; /* has the next frame */
    ethmac_place_t *send; /* gets a frame next */
    ethmac_place_t *sent; /* has been fetched next */
    uint32_t received;
    uint32_t transmitted;
    uint32_t received_flags; /* of received packets: those that are told to the stack */
} net_port_t;

#define ETHMAC_OWNED (1u << ETHDMA_OWNED_BIT)
#define ETHMAC_EVENT (1u << ETHDMA_TRANSMIT_EVENT_BIT)

enum {
    ETHMAC_LENGTH_MASK = (1 << ETHDMA_LENGTH_BITS) - 1,
    ETHMAC_RECEIVED_FLAGS = PACKET_FRAME_SUMMED | PACKET_DATAGRAM,
    ETHMAC_DATAGRAM_BIT = 5,
    /* In a datagram: where its sum begins and where UDP has its checksum. */
    ETHMAC_SUM_OFFSET = ETHERNET_HEADER_BYTES + IPV4_SOURCE_OFFSET,
    ETHMAC_CHECKSUM_OFFSET = ETHERNET_HEADER_BYTES + IPV4_HEADER_BYTES + UDP_CHECKSUM_OFFSET
};

#define ETHMAC_UDP_SUM                                                                             \
    (1u << ETHDMA_TRANSMIT_SUM_BIT                                                                 \
     | (uint32_t)ETHMAC_SUM_OFFSET / 2 << ETHDMA_TRANSMIT_START_LSB                                \
     | (uint32_t)ETHMAC_CHECKSUM_OFFSET / 2 << ETHDMA_TRANSMIT_PLACE_LSB)

_Static_assert(PACKET_DATAGRAM == 1 << ETHMAC_DATAGRAM_BIT, "ETHMAC_DATAGRAM_BIT must be the flag's");

/* A packet of a sender that may wait for it: there is an event when a batch of them has been sent. False if it
 * has to wait. */
bool ethmac_send_of_others(net_port_t *port, packet_t *packet);

static inline uint32_t ethmac_word(const ethmac_place_t *place)
{
    return mmio_read((uintptr_t)&place->word);
}

/* The packet of a place that the MAC has done with, or NULL. */
static inline packet_t *ethmac_done(const ethmac_place_t *place)
{
    packet_t *packet = place->packet;

    return packet != NULL && (int32_t)ethmac_word(place) >= 0 ? packet : NULL;
}

/* Memory is as it shall be before the MAC has the descriptor. */
static inline void ethmac_give(ethmac_place_t *place, packet_t *packet, uint32_t word)
{
    place->packet = packet;
    place->buffer = (uint32_t)(uintptr_t)packet->frame;
    COMPILER_BARRIER();
    mmio_write((uintptr_t)&place->word, ETHMAC_OWNED | word);
}

/* True if there is room for a frame, or one in it. */
static inline bool net_port_has_room(const net_port_t *port)
{
    return port->take->packet != NULL;
}

/* Hands over a packet; there is a place for it. There is an event if that was the last place, or if no room for
 * frames is left: nothing else might tell of either again. */
static inline void ethmac_send_in_place(net_port_t *port, packet_t *packet, uint32_t event)
{
    ethmac_place_t *place = port->send;
    ethmac_place_t *next = place->next;
    uint32_t word = packet->length_bytes | event;

    if (LIKELY((packet->flags & PACKET_UDP_UNSUMMED) != 0)) {
        word |= ETHMAC_UDP_SUM;
    }
    if (UNLIKELY(next->packet != NULL) || UNLIKELY(!net_port_has_room(port))) {
        word |= ETHMAC_EVENT;
    }
    port->send = next;
    port->transmitted++;
    ethmac_give(place, packet, word);
}

static inline bool net_port_has_frame(const net_port_t *port)
{
    return ethmac_done(port->take) != NULL;
}

/* What the MAC has found out about a frame, and more: flags of a packet for ETHMAC_RECEIVED_FLAGS. */
static inline uint32_t ethmac_found(uint32_t word)
{
    return PACKET_FRAME_SUMMED | word >> (ETHDMA_RECEIVE_DATAGRAM_BIT - ETHMAC_DATAGRAM_BIT);
}

static inline packet_t *net_port_receive(net_port_t *port)
{
    ethmac_place_t *place = port->take;
    packet_t *packet = ethmac_done(place);

    if (packet == NULL) {
        return NULL;
    }
    /* Again: the first time the MAC may just have been writing it. */
    uint32_t word = ethmac_word(place);
    COMPILER_BARRIER();
    place->packet = NULL;
    port->take = place->next;
    port->received++;
    packet->length_bytes = (uint16_t)(word >> ETHDMA_RECEIVE_LENGTH_LSB & ETHMAC_LENGTH_MASK);
    packet->sum = word & 0xffffu;
    packet->flags = (uint8_t)(ethmac_found(word) & port->received_flags);
    return packet;
}

static inline bool net_port_give_room(net_port_t *port, packet_t *packet)
{
    ethmac_place_t *place = port->arm;

    if (UNLIKELY(place->packet != NULL)) {
        return false;
    }
    port->arm = place->next;
    ethmac_give(place, packet, NET_BUFFER_BYTES);
    return true;
}

static inline bool net_port_send(net_port_t *port, packet_t *packet)
{
    if (UNLIKELY(port->send->packet != NULL)) {
        return false;
    }
    if (UNLIKELY(packet->home != PACKET_HOME_RECEIVE)) {
        return ethmac_send_of_others(port, packet);
    }
    ethmac_send_in_place(port, packet, 0);
    return true;
}

static inline packet_t *net_port_take_sent(net_port_t *port)
{
    ethmac_place_t *place = port->sent;
    packet_t *packet = ethmac_done(place);

    if (packet != NULL) {
        place->packet = NULL;
        port->sent = place->next;
    }
    return packet;
}

#endif
