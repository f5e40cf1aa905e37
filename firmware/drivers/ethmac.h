/* LiteEth's MAC, moved to and from the network interface's rings: with slots on the bus, between which
 * and local memory frames are copied (ethmac_slots.c), or with descriptors in local memory, of which the
 * MAC itself fetches and to which it brings them (ethmac_dma.c). Which one it is the SoC says. */
#ifndef TIERV_DRIVERS_ETHMAC_H
#define TIERV_DRIVERS_ETHMAC_H

#include <stdbool.h>
#include <stdint.h>

#include <generated/soc.h>

#include "net/stack.h"

#ifdef ETHDMA_OWNED_BIT
#include "drivers/ethmac_dma.h"
#else
#include "drivers/ethmac_slots.h"
#endif

/* Enables the receive event. The line is ETHMAC_INTERRUPT. */
void ethmac_init(ethmac_t *mac, net_t *net);

/* Moves frames both ways as far as packets, slots and descriptors go; `pending` says that the line is. True
 * if there is something for the protocol service: a frame, or a batch of packets that were sent. What is left
 * undone ethmac_has_work() tells of, or the line still pends. Shared with the protocol service: the rings of the
 * network interface. */
bool ethmac_service(ethmac_t *mac, bool pending);

/* Frames that the MAC itself dropped: there was no room; the check sequence was wrong; the preamble was. */
uint32_t ethmac_overruns(void);
uint32_t ethmac_crc_errors(void);
uint32_t ethmac_preamble_errors(void);

#endif
