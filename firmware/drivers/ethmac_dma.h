/* The MAC with descriptors in local memory (ethmac.h). Its functions all belong to one service: with
 * ethmac_attach() to the protocol service, whose port they are, else to whoever calls ethmac_service(). */
#ifndef TIERV_DRIVERS_ETHMAC_DMA_H
#define TIERV_DRIVERS_ETHMAC_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "net/stack.h"

/* Descriptors: frames that the MAC takes, and sends, by itself. */
enum { ETHMAC_RECEIVE_FRAMES = ETHMAC_DMA_RECEIVE, ETHMAC_TRANSMIT_FRAMES = ETHMAC_DMA_TRANSMIT };

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

typedef struct {
    net_port_t port;
    net_t *net;
    ethmac_place_t *arm;  /* gets a buffer next */
    ethmac_place_t *take; /* has the next frame */
    ethmac_place_t *send; /* gets a frame next */
    ethmac_place_t *sent; /* has been fetched next */
    uint32_t unreported;  /* packets sent, of other homes than RECEIVE, and no event asked for */
    uint32_t received;
    uint32_t transmitted;
    bool sums; /* received frames have their sum for the stack */
    ethmac_descriptor_t receive_ring[ETHMAC_RECEIVE_FRAMES];
    ethmac_descriptor_t transmit_ring[ETHMAC_TRANSMIT_FRAMES];
    ethmac_place_t receive_places[ETHMAC_RECEIVE_FRAMES];
    ethmac_place_t transmit_places[ETHMAC_TRANSMIT_FRAMES];
} ethmac_t;

/* From now on the network interface has the MAC as its port: packets need not go through its rings. */
void ethmac_attach(ethmac_t *mac);

/* With a port: the line falls. The events that raised it are known: nothing that came before is told again. */
void ethmac_acknowledge(void);

/* With a port: the line falls, and does not rise until ethmac_listen(). */
void ethmac_hush(void);

/* The line rises for what comes, or has been sent, from now on. What was before is not told again. */
void ethmac_listen(void);

/* True if a packet has been sent and not yet taken back. */
bool ethmac_has_sent(const ethmac_t *mac);

/* True if ethmac_service() has something to do though the line is not pending: frames to send, or the MAC
 * has nowhere to put any. */
static inline bool ethmac_has_work(const ethmac_t *mac)
{
    return (RING_COUNT(&mac->net->transmit) != 0 && mac->send->packet == NULL)
           || (mac->take->packet == NULL && RING_COUNT(&mac->net->free) != 0);
}

#endif
