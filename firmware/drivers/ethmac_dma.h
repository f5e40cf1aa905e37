/* The MAC with descriptors in local memory (ethmac.h). Its functions all belong to one service: with
 * ethmac_attach() to the protocol service, whose port they are, else to whoever calls ethmac_service(). */
#ifndef TIERV_DRIVERS_ETHMAC_DMA_H
#define TIERV_DRIVERS_ETHMAC_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/ethmac_dma_port.h"
#include "net/stack.h"

/* Descriptors: frames that the MAC takes, and sends, by itself. */
enum { ETHMAC_RECEIVE_FRAMES = ETHMAC_DMA_RECEIVE, ETHMAC_TRANSMIT_FRAMES = ETHMAC_DMA_TRANSMIT };

typedef struct {
    net_port_t port;
    net_t *net;
    uint32_t told_at; /* frames for which there is an event */
    uint32_t unreported; /* packets sent, of other homes than RECEIVE, and no event asked for */
    packet_t copy;
    _Alignas(4) uint8_t copy_frame[NET_BUFFER_BYTES];
    ethmac_place_t receive_ring[ETHMAC_RECEIVE_FRAMES];
    ethmac_place_t transmit_ring[ETHMAC_TRANSMIT_FRAMES];
} ethmac_t;

/* Frames so far. */
static inline uint32_t ethmac_received(const ethmac_t *mac)
{
    return mac->port.received;
}

static inline uint32_t ethmac_transmitted(const ethmac_t *mac)
{
    return mac->port.transmitted;
}

/* Whether received frames get their sum for the stack; they do until told otherwise. */
static inline void ethmac_set_sums(ethmac_t *mac, bool on)
{
    mac->port.received_flags = on ? ETHMAC_RECEIVED_FLAGS : 0;
}

/* From now on the network interface has the MAC as its port: packets need not go through its rings. */
void ethmac_attach(ethmac_t *mac);

/* With a port: the line falls. The events that raised it are known: nothing that came before is told again. */
void ethmac_acknowledge(void);

/* With a port: the line falls, and does not rise until ethmac_listen(). */
void ethmac_hush(void);

/* The line rises for what comes, or has been sent, from now on. What was before is not told again: true if packets
 * were sent that wanted to be told of. */
bool ethmac_listen(void);

/* The line rises when so many frames have come, or ETHMAC_DMA_BATCH_US after the first of them. */
void ethmac_set_batch(ethmac_t *mac, uint32_t frames);

static inline void ethmac_tell_at(ethmac_t *mac, uint32_t frames)
{
    if (UNLIKELY(mac->told_at != frames)) {
        ethmac_set_batch(mac, frames);
    }
}

/* Interrupt service without the stack: a packet that has been sent, or NULL. */
static inline packet_t *ethmac_take_sent(ethmac_t *mac)
{
    return RING_POP(&mac->net->sent);
}

/* True if ethmac_service() has something to do though the line is not pending: frames to send, or the MAC
 * has nowhere to put any. */
static inline bool ethmac_has_work(const ethmac_t *mac)
{
    return (RING_COUNT(&mac->net->transmit) != 0 && mac->port.send->packet == NULL)
           || (mac->port.take->packet == NULL && RING_COUNT(&mac->net->free) != 0);
}

#endif
