#include <generated/csr.h>
#include <generated/mem.h>

#include "drivers/bus_copy.h"
#include "drivers/ethmac.h"
#include "mmio.h"

_Static_assert(NET_BUFFER_BYTES < 1 << ETHDMA_LENGTH_BITS, "NET_BUFFER_BYTES must fit into a descriptor");

enum {
    EVENT_RECEIVED = 1 << CSR_ETHDMA_EV_PENDING_RECEIVED_OFFSET,
    EVENT_SENT = 1 << CSR_ETHDMA_EV_PENDING_SENT_OFFSET,
    CONTROL_RECEIVE = 1 << CSR_ETHDMA_CONTROL_RECEIVE_OFFSET,
    CONTROL_TRANSMIT = 1 << CSR_ETHDMA_CONTROL_TRANSMIT_OFFSET,
    CONTROL_KEEP_LONG = 1 << CSR_ETHDMA_CONTROL_KEEP_LONG_OFFSET,
    BATCH_CYCLES = CONFIG_CLOCK_FREQUENCY / 1000000 * ETHMAC_DMA_BATCH_US,
    /* Rounds for the MAC to let go of its rings: the longest frame at 10 Mbit/s. */
    STOP_ROUNDS = CONFIG_CLOCK_FREQUENCY / 500
};

/* A packet of home COPY comes back whatever becomes of others: it waits in no ring to be sent. */
static packet_t *take_free(net_t *net)
{
    packet_t *packet = RING_POP(&net->free);

    if (packet == NULL) {
        packet = net->copy;
        net->copy = NULL;
    }
    return packet;
}

/* What goes out in place of a packet whose buffer the MAC can't reach; NULL if there is nothing now. */
static COLD packet_t *copy_within_reach(ethmac_t *mac, packet_t *packet)
{
    packet_t *copy = take_free(mac->net);

    if (copy != NULL) {
        copy->length_bytes = packet->length_bytes;
        copy->flags = packet->flags;
        bus_copy((uint32_t *)(void *)copy->frame, (const uint32_t *)(const void *)packet->frame,
                 packet->length_bytes);
        (void)RING_PUSH(&mac->net->sent, packet);
    }
    return copy;
}

static ethmac_t *mac_of(net_port_t *port)
{
    return (ethmac_t *)(void *)((uint8_t *)port - offsetof(ethmac_t, port));
}

COLD bool ethmac_send_of_others(net_port_t *port, packet_t *packet)
{
    ethmac_t *mac = mac_of(port);
    uint32_t event = 0;

    if ((uintptr_t)packet->frame - DTCM_BASE >= DTCM_SIZE) {
        packet = copy_within_reach(mac, packet);
        if (packet == NULL) {
            return false;
        }
    }
    /* The next one may be waiting for the copy. */
    if (++mac->unreported == NET_SENT_BATCH || packet->home == PACKET_HOME_COPY) {
        mac->unreported = 0;
        event = ETHMAC_EVENT;
    }
    ethmac_send_in_place(port, packet, event);
    return true;
}

void ethmac_attach(ethmac_t *mac)
{
    mac->net->port = &mac->port;
}

/* --- without a port, through the rings --------------------------------------------------------- */

bool ethmac_service(ethmac_t *mac, bool pending)
{
    net_t *net = mac->net;
    packet_t *packet;
    bool received = false;

    if (pending) {
        ethmac_acknowledge();
    }
    while ((packet = net_port_take_sent(&mac->port)) != NULL) {
        (void)RING_PUSH(&net->sent, packet);
    }
    while ((packet = net_port_receive(&mac->port)) != NULL) {
        (void)RING_PUSH(&net->received, packet);
        received = true;
    }
    net_give_free(net, &mac->port);
    net_send_waiting(net, &mac->port);

    return received || RING_COUNT(&net->sent) >= NET_SENT_BATCH;
}

/* --- registers --------------------------------------------------------------------------------- */

static void link(ethmac_place_t *ring, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ring[i].next = &ring[(i + 1) % count];
    }
}

/* The MAC finishes what it has begun. */
static void stop(void)
{
    uint32_t rounds = STOP_ROUNDS;

    mmio_write(CSR_ETHDMA_CONTROL_ADDR, 0);
    while (mmio_read(CSR_ETHDMA_ACTIVE_ADDR) != 0 && --rounds != 0) {
    }
}

void ethmac_init(ethmac_t *mac, net_t *net)
{
    stop();
    *mac = (ethmac_t){.port = {.arm = mac->receive_ring,
                               .take = mac->receive_ring,
                               .send = mac->transmit_ring,
                               .sent = mac->transmit_ring,
                               .received_flags = ETHMAC_RECEIVED_FLAGS},
                      .net = net};
    link(mac->receive_ring, ETHMAC_RECEIVE_FRAMES);
    link(mac->transmit_ring, ETHMAC_TRANSMIT_FRAMES);
    (void)net_add_packets(net, PACKET_HOME_COPY, &mac->copy, mac->copy_frame, NET_COPY_PACKETS);
    net_give_free(net, &mac->port);
    mmio_write(CSR_ETHDMA_RECEIVE_RING_ADDR, (uint32_t)(uintptr_t)mac->receive_ring);
    mmio_write(CSR_ETHDMA_RECEIVE_LAST_ADDR, ETHMAC_RECEIVE_FRAMES - 1);
    mmio_write(CSR_ETHDMA_TRANSMIT_RING_ADDR, (uint32_t)(uintptr_t)mac->transmit_ring);
    mmio_write(CSR_ETHDMA_TRANSMIT_LAST_ADDR, ETHMAC_TRANSMIT_FRAMES - 1);
    mmio_write(CSR_ETHDMA_SUM_FROM_ADDR, ETHERNET_HEADER_BYTES);
    mmio_write(CSR_ETHDMA_EVENT_CYCLES_ADDR, BATCH_CYCLES);
    ethmac_set_batch(mac, 1);
    mmio_write(CSR_ETHDMA_EV_PENDING_ADDR, EVENT_RECEIVED | EVENT_SENT);
    mmio_write(CSR_ETHDMA_EV_ENABLE_ADDR, EVENT_RECEIVED | EVENT_SENT);
    mmio_write(CSR_ETHDMA_CONTROL_ADDR, CONTROL_RECEIVE | CONTROL_TRANSMIT | CONTROL_KEEP_LONG);
}

void ethmac_set_batch(ethmac_t *mac, uint32_t frames)
{
    mac->told_at = frames;
    mmio_write(CSR_ETHDMA_EVENT_FRAMES_ADDR, frames);
}

void ethmac_acknowledge(void)
{
    mmio_write(CSR_ETHDMA_EV_PENDING_ADDR, EVENT_RECEIVED | EVENT_SENT);
    /* The descriptors, which are looked at next, are in local memory: without this they might be before it. */
    mmio_wait();
}

void ethmac_hush(void)
{
    mmio_write(CSR_ETHDMA_EV_ENABLE_ADDR, 0);
}

bool ethmac_listen(void)
{
    uint32_t pending = mmio_read(CSR_ETHDMA_EV_PENDING_ADDR);

    mmio_write(CSR_ETHDMA_EV_PENDING_ADDR, pending);
    mmio_write(CSR_ETHDMA_EV_ENABLE_ADDR, EVENT_RECEIVED | EVENT_SENT);
    mmio_wait();
    return (pending & EVENT_SENT) != 0;
}

uint32_t ethmac_overruns(void)
{
    return mmio_read(CSR_ETHDMA_RECEIVE_MISSED_ADDR);
}

uint32_t ethmac_crc_errors(void)
{
    /* Those too of which nothing was left for the rings. */
    return mmio_read(CSR_ETHDMA_RX_DATAPATH_CRC_ERRORS_ADDR);
}

uint32_t ethmac_preamble_errors(void)
{
    return mmio_read(CSR_ETHDMA_RX_DATAPATH_PREAMBLE_ERRORS_ADDR);
}
