/* Sends every frame back with its addresses exchanged, and ends after `frames` of them. */
#include "mmio.h"

uint32_t frames = 0xFFFFFFFF;

#define ADDRESS_BYTES 6u

static void exchange_addresses(uint8_t *to, const uint8_t *from)
{
    for (uint32_t i = 0; i < ADDRESS_BYTES; i++) {
        to[i] = from[ADDRESS_BYTES + i];
        to[ADDRESS_BYTES + i] = from[i];
    }
}

static void send_back(uint32_t rx_slot, uint32_t tx_slot, uint32_t length)
{
    uint32_t from = ETHMAC_RX_BASE + rx_slot * ETHMAC_SLOT_SIZE;
    uint32_t to = ETHMAC_TX_BASE + tx_slot * ETHMAC_SLOT_SIZE;
    for (uint32_t offset = 0; offset < length; offset += 4)
        mmio_write(to + offset, mmio_read(from + offset));
    exchange_addresses((uint8_t *)(uintptr_t)to, (const uint8_t *)(uintptr_t)from);
    while (!mmio_read(CSR_ETHMAC_SRAM_READER_READY_ADDR))
        ;
    mmio_write(CSR_ETHMAC_SRAM_READER_SLOT_ADDR, tx_slot);
    mmio_write(CSR_ETHMAC_SRAM_READER_LENGTH_ADDR, length);
    mmio_write(CSR_ETHMAC_SRAM_READER_START_ADDR, 1);
}

int main(void)
{
    for (uint32_t count = 0; count < frames; count++) {
        while (!mmio_read(CSR_ETHMAC_SRAM_WRITER_EV_PENDING_ADDR))
            ;
        uint32_t slot = mmio_read(CSR_ETHMAC_SRAM_WRITER_SLOT_ADDR);
        uint32_t length = mmio_read(CSR_ETHMAC_SRAM_WRITER_LENGTH_ADDR);
        send_back(slot, count % ETHMAC_TX_SLOTS, length);
        mmio_write(CSR_ETHMAC_SRAM_WRITER_EV_PENDING_ADDR, 1);
    }
    return 0;
}
