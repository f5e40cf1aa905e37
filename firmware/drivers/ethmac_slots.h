/* The MAC with slots on the bus (ethmac.h). */
#ifndef TIERV_DRIVERS_ETHMAC_SLOTS_H
#define TIERV_DRIVERS_ETHMAC_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <generated/soc.h>

#include "net/stack.h"

/* Frames that the MAC takes after it has raised its line, and that it sends by itself. */
enum { ETHMAC_RECEIVE_FRAMES = ETHMAC_RX_SLOTS, ETHMAC_TRANSMIT_FRAMES = ETHMAC_TX_SLOTS };

typedef struct {
    net_t *net;
    packet_t *sent;         /* those of home RECEIVE, which are filled again without a way through the rings */
    uint32_t transmit_slot; /* the one to fill next */
    uint32_t credit;        /* transmit slots known to be free */
    bool starved;           /* receive event off until there is a free packet */
    bool congested;         /* transmit event on until there is a free slot */
    bool sums;              /* received frames are summed for the stack while they are copied */
    uint32_t most_bytes;    /* what one service moves, and the frame in which it gets there; from
                             * ethmac_init() on all there is, less so that others need not wait */
    uint32_t received;
    uint32_t transmitted;
} ethmac_t;

/* Frames so far. */
static inline uint32_t ethmac_received(const ethmac_t *mac)
{
    return mac->received;
}

static inline uint32_t ethmac_transmitted(const ethmac_t *mac)
{
    return mac->transmitted;
}

/* Whether received frames are summed for the stack; they are until told otherwise. */
static inline void ethmac_set_sums(ethmac_t *mac, bool on)
{
    mac->sums = on;
}

/* True if there is a packet for a received frame. */
static inline bool ethmac_has_free(const ethmac_t *mac)
{
    return mac->sent != NULL || RING_COUNT(&mac->net->free) != 0;
}

/* Interrupt service without the stack: a packet that has been sent, or NULL. */
static inline packet_t *ethmac_take_sent(ethmac_t *mac)
{
    packet_t *packet = mac->sent;

    if (packet == NULL) {
        return RING_POP(&mac->net->sent);
    }
    mac->sent = packet->next;
    return packet;
}

/* True if ethmac_service() has something to do though the line is not pending. */
static inline bool ethmac_has_work(const ethmac_t *mac)
{
    return (RING_COUNT(&mac->net->transmit) != 0 && !mac->congested)
           || (mac->starved && ethmac_has_free(mac));
}

#endif
