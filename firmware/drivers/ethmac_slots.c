#include "drivers/ethmac.h"

#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>

#include "drivers/bus_copy.h"
#include "mmio.h"

_Static_assert(NET_BUFFER_BYTES <= ETHMAC_SLOT_SIZE,
              "NET_BUFFER_BYTES must not exceed a slot of the MAC");
_Static_assert(NET_DRIVER_SUMS == 0, "NET_DRIVER_SUMS must be 0: the MAC with slots sums nothing");

enum { EVENT = 1 };

void ethmac_init(ethmac_t *mac, net_t *net)
{
    *mac = (ethmac_t){.net = net, .credit = ETHMAC_TX_SLOTS, .sums = true, .most_bytes = UINT32_MAX};
    mmio_write(CSR_ETHMAC_SRAM_READER_EV_ENABLE_ADDR, 0);
    mmio_write(CSR_ETHMAC_SRAM_READER_EV_PENDING_ADDR, EVENT);
    mmio_write(CSR_ETHMAC_SRAM_WRITER_EV_ENABLE_ADDR, EVENT);
}

/* A packet to be filled, or NULL: one that has been sent, if there is one. */
INLINE packet_t *take_free(ethmac_t *mac)
{
    packet_t *packet = mac->sent;

    if (packet != NULL) {
        mac->sent = packet->next;
        return packet;
    }
    return RING_POP(&mac->net->free);
}

INLINE void take_frame(const ethmac_t *mac, packet_t *packet, uint32_t slot, uint32_t bytes)
{
    const uint32_t *from = (const uint32_t *)(ETHMAC_RX_BASE + slot * ETHMAC_SLOT_SIZE);

    if (LIKELY(mac->sums)) {
        packet_fill_inline(packet, (const uint8_t *)from, bytes);
        return;
    }
    packet->length_bytes = (uint16_t)(bytes < NET_BUFFER_BYTES ? bytes : NET_BUFFER_BYTES);
    packet->flags = 0;
    bus_copy((uint32_t *)(void *)packet->frame, from, packet->length_bytes);
}

/* Apart from the other direction, so that each saves no more registers than it needs. */
static __attribute__((noinline)) bool receive(ethmac_t *mac)
{
    uint32_t moved_bytes = 0;

    while (moved_bytes < mac->most_bytes
           && (mmio_read(CSR_ETHMAC_SRAM_WRITER_EV_PENDING_ADDR) & EVENT) != 0) {
        packet_t *packet = take_free(mac);
        if (UNLIKELY(packet == NULL)) {
            /* Frames wait in the slots; what does not fit there the MAC drops without us. */
            mac->starved = true;
            mmio_write(CSR_ETHMAC_SRAM_WRITER_EV_ENABLE_ADDR, 0);
            break;
        }
        uint32_t slot = mmio_read(CSR_ETHMAC_SRAM_WRITER_SLOT_ADDR);
        uint32_t bytes = mmio_read(CSR_ETHMAC_SRAM_WRITER_LENGTH_ADDR);
        take_frame(mac, packet, slot, bytes);
        mmio_write(CSR_ETHMAC_SRAM_WRITER_EV_PENDING_ADDR, EVENT);
        mac->received++;
        /* Has room for all packets there are. */
        (void)RING_PUSH(&mac->net->received, packet);
        /* No frame has none. */
        moved_bytes += bytes;
    }
    return moved_bytes != 0;
}

static uint32_t free_slots(void)
{
    return ETHMAC_TX_SLOTS - mmio_read(CSR_ETHMAC_SRAM_READER_LEVEL_ADDR);
}

/* False if no slot is free: there is an event when one is. */
static __attribute__((noinline)) bool find_slots(ethmac_t *mac)
{
    mac->credit = free_slots();
    if (mac->credit == 0 && !mac->congested) {
        mac->congested = true;
        mmio_write(CSR_ETHMAC_SRAM_READER_EV_PENDING_ADDR, EVENT);
        mmio_write(CSR_ETHMAC_SRAM_READER_EV_ENABLE_ADDR, EVENT);
        /* A slot may have become free before the event was cleared. */
        mac->credit = free_slots();
    }
    return mac->credit != 0;
}

static __attribute__((noinline)) void transmit(ethmac_t *mac)
{
    net_t *net = mac->net;
    uint32_t moved_bytes = 0;

    if (UNLIKELY(mac->congested)) {
        mmio_write(CSR_ETHMAC_SRAM_READER_EV_PENDING_ADDR, EVENT);
    }
    while (moved_bytes < mac->most_bytes && RING_COUNT(&net->transmit) != 0) {
        if (mac->credit == 0 && !find_slots(mac)) {
            return;
        }
        packet_t *packet = RING_POP(&net->transmit);
        uint32_t slot = mac->transmit_slot;
        bus_copy((uint32_t *)(ETHMAC_TX_BASE + slot * ETHMAC_SLOT_SIZE),
                 (const uint32_t *)(const void *)packet->frame, packet->length_bytes);
        /* Between accesses to the bus, which takes its time for each, what else is to be done. */
        mmio_write(CSR_ETHMAC_SRAM_READER_SLOT_ADDR, slot);
        COMPILER_BARRIER();
        uint32_t bytes = packet->length_bytes;
        moved_bytes += bytes;
        mac->transmit_slot = (slot + 1) % ETHMAC_TX_SLOTS;
        mac->credit--;
        mac->transmitted++;
        COMPILER_BARRIER();
        mmio_write(CSR_ETHMAC_SRAM_READER_LENGTH_ADDR, bytes);
        if (packet->home == PACKET_HOME_RECEIVE) {
            packet->next = mac->sent;
            mac->sent = packet;
        } else {
            (void)RING_PUSH(&net->sent, packet);
        }
        mmio_write(CSR_ETHMAC_SRAM_READER_START_ADDR, EVENT);
    }
    if (UNLIKELY(mac->congested)) {
        mac->congested = false;
        mmio_write(CSR_ETHMAC_SRAM_READER_EV_ENABLE_ADDR, 0);
    }
}

/* The line pends again if a frame waits. */
static COLD void feed(ethmac_t *mac)
{
    if (ethmac_has_free(mac)) {
        mac->starved = false;
        mmio_write(CSR_ETHMAC_SRAM_WRITER_EV_ENABLE_ADDR, EVENT);
    }
}

bool ethmac_service(ethmac_t *mac, bool pending)
{
    bool received = false;

    if (UNLIKELY(mac->starved)) {
        feed(mac);
        pending = true;
    }
    if (pending && !mac->starved) {
        received = receive(mac);
    }
    if (RING_COUNT(&mac->net->transmit) != 0) {
        transmit(mac);
        /* What has been sent is free. */
        if (UNLIKELY(mac->starved)) {
            feed(mac);
        }
    }
    return received || RING_COUNT(&mac->net->sent) >= NET_SENT_BATCH;
}

uint32_t ethmac_overruns(void)
{
    return mmio_read(CSR_ETHMAC_SRAM_WRITER_ERRORS_ADDR);
}

uint32_t ethmac_crc_errors(void)
{
    return mmio_read(CSR_ETHMAC_RX_DATAPATH_CRC_ERRORS_ADDR);
}

uint32_t ethmac_preamble_errors(void)
{
    return mmio_read(CSR_ETHMAC_RX_DATAPATH_PREAMBLE_ERRORS_ADDR);
}
