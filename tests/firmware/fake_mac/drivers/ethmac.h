/* In the place of firmware/drivers/ethmac.h: a MAC that moves frames by itself, network_mac.c. */
#ifndef TIERV_DRIVERS_ETHMAC_H
#define TIERV_DRIVERS_ETHMAC_H

#include "net/stack.h"

#define ETHDMA_OWNED_BIT 31

enum { ETHMAC_RECEIVE_FRAMES = 16 };

typedef struct {
    uint32_t received;
} ethmac_t;

void ethmac_init(ethmac_t *mac, net_t *net);
void ethmac_attach(ethmac_t *mac);
void ethmac_acknowledge(void);
void ethmac_hush(void);
bool ethmac_listen(void);
void ethmac_tell_at(ethmac_t *mac, uint32_t frames);
bool ethmac_has_work(const ethmac_t *mac);

static inline uint32_t ethmac_received(const ethmac_t *mac)
{
    return mac->received;
}

#endif
