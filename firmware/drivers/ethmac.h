/* LiteEth's MAC with slots on the bus, moved to and from the network interface's rings. */
#ifndef TIERV_DRIVERS_ETHMAC_H
#define TIERV_DRIVERS_ETHMAC_H

#include <stdbool.h>
#include <stdint.h>

#include "net/stack.h"

typedef struct {
    net_t *net;
    uint32_t transmit_slot; /* the one to fill next */
    uint32_t credit;        /* transmit slots known to be free */
    bool starved;           /* receive event off until there is a free packet */
    bool congested;         /* transmit event on until there is a free slot */
    bool sums;              /* received frames are summed for the stack while they are copied */
    uint32_t most_bytes;    /* what one service moves, and the frame in which it gets there */
    uint32_t received;
    uint32_t transmitted;
} ethmac_t;

/* Enables the receive event. The line is ETHMAC_INTERRUPT. A service moves all there is, unless `most_bytes`
 * is set afterwards, so that others need not wait for it. */
void ethmac_init(ethmac_t *mac, net_t *net);

/* Interrupt service: moves frames both ways as far as packets and slots go; `pending` says that the
 * line is. True if there is something for the protocol service: a frame, or a batch of packets that
 * were sent. What `most_bytes` left undone ethmac_has_work() tells of, or the line still pends. Shared with
 * the protocol service: the rings of the network interface. Longest path: copies of 1518 bytes, one for
 * each receive slot and one for each transmit slot. */
bool ethmac_service(ethmac_t *mac, bool pending);

/* True if ethmac_service() has something to do though the line is not pending. */
static inline bool ethmac_has_work(const ethmac_t *mac)
{
    return (RING_COUNT(&mac->net->transmit) != 0 && !mac->congested)
           || (mac->starved && RING_COUNT(&mac->net->free) != 0);
}

/* Frames that the MAC itself dropped: no slot was free; the check sequence was wrong; the preamble
 * was. */
uint32_t ethmac_overruns(void);
uint32_t ethmac_crc_errors(void);
uint32_t ethmac_preamble_errors(void);

#endif
