/* The MAC with descriptors in local memory as the network interface's port (net/stack.h). What it does for each
 * frame is here, so that it becomes part of the protocol service's loop. */
#ifndef TIERV_DRIVERS_ETHMAC_DMA_PORT_H
#define TIERV_DRIVERS_ETHMAC_DMA_PORT_H

#include <generated/soc.h>

#include "mmio.h"
#include "net/compiler.h"
#include "net/packet.h"

enum { NET_HAS_PORT = 1 };

/* What the MAC reads and writes: soc/dma/descriptor.py. */
typedef struct {
    uint32_t buffer;
    uint32_t word;
} ethmac_descriptor_t;

/* A place in a ring, and what the MAC need not know of it. */
typedef struct ethmac_place {
    ethmac_descriptor_t *descriptor;
    packet_t *packet; /* NULL: not in use */
    uint32_t event;   /* transmit: what makes the word ask for an event, or 0 */
    struct ethmac_place *next;
} ethmac_place_t;

typedef struct net_port {
    ethmac_place_t *arm;  /* gets a buffer next */
    ethmac_place_t *take; /* has the next frame */
    ethmac_place_t *send; /* gets a frame next */
    ethmac_place_t *sent; /* has been fetched next */
    uint32_t received;
    uint32_t transmitted;
    uint32_t received_flags; /* of received packets: whether they have their sum for the stack */
} net_port_t;

#define ETHMAC_OWNED (1u << ETHDMA_OWNED_BIT)

enum {
    ETHMAC_LENGTH_MASK = (1 << ETHDMA_LENGTH_BITS) - 1,
    /* In a datagram: where UDP begins and has its checksum. */
    ETHMAC_UDP_OFFSET = 34,
    ETHMAC_UDP_CHECKSUM_OFFSET = 40
};

#define ETHMAC_UDP_SUM                                                                             \
    (1u << ETHDMA_TRANSMIT_SUM_BIT                                                                 \
     | (uint32_t)ETHMAC_UDP_OFFSET / 2 << ETHDMA_TRANSMIT_START_LSB                                \
     | (uint32_t)ETHMAC_UDP_CHECKSUM_OFFSET / 2 << ETHDMA_TRANSMIT_PLACE_LSB)

/* A packet of a sender that may wait for it: there is an event when a batch of them has been sent. False if it
 * has to wait. */
bool ethmac_send_of_others(net_port_t *port, packet_t *packet);

static inline uint32_t ethmac_word(const ethmac_place_t *place)
{
    return mmio_read((uintptr_t)&place->descriptor->word);
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
    ethmac_descriptor_t *descriptor = place->descriptor;

    place->packet = packet;
    descriptor->buffer = (uint32_t)(uintptr_t)packet->frame;
    COMPILER_BARRIER();
    mmio_write((uintptr_t)&descriptor->word, ETHMAC_OWNED | word);
}

/* Hands over a packet; there is a place for it. */
static inline void ethmac_send_in_place(net_port_t *port, packet_t *packet, uint32_t event)
{
    ethmac_place_t *place = port->send;
    uint32_t word = packet->length_bytes | place->event | event;

    if ((packet->flags & PACKET_UDP_UNSUMMED) != 0) {
        word |= ETHMAC_UDP_SUM;
    }
    port->send = place->next;
    port->transmitted++;
    ethmac_give(place, packet, word);
}

static inline bool net_port_has_frame(const net_port_t *port)
{
    return ethmac_done(port->take) != NULL;
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
    packet->flags = (uint8_t)port->received_flags;
    return packet;
}

static inline bool net_port_give_room(net_port_t *port, packet_t *packet)
{
    ethmac_place_t *place = port->arm;

    if (place->packet != NULL) {
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
