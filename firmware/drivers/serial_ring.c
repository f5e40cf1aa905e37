#include "drivers/serial_ring.h"

#if UARTS > 0

void serial_ring_init(serial_ring_t *ring, serial_t *serial)
{
    ring->serial = serial;
    ring->head = ring->tail = 0;
    ring->blocked = false;
}

/* FIFO to ring. */
static uint32_t drain(serial_ring_t *ring)
{
    uint32_t start = ring->head;
    uint32_t head = start;
    uint32_t tail = ring->tail;

    ring->blocked = false;
    for (uint32_t count = SERIAL_BURST, flags = 0; count == SERIAL_BURST || flags != 0;) {
        if (SERIAL_RING_CHARACTERS - (head - tail) < SERIAL_BURST) {
            ring->blocked = true;
            COMPILER_BARRIER();
            /* Whoever makes room after this sees that it must ask for service. */
            if (ring->tail == tail) {
                break;
            }
            tail = ring->tail;
            ring->blocked = false;
            continue;
        }
        uint32_t burst = serial_receive_burst(ring->serial);
        count = SERIAL_BURST_COUNT(burst);
        flags = SERIAL_BURST_FLAGS(burst);
        for (uint32_t index = 0; index < count; index++) {
            ring->received[head % SERIAL_RING_CHARACTERS] =
                (serial_character_t)((burst & 0xff) | flags << 8);
            head++;
            burst >>= 8;
        }
    }
    COMPILER_BARRIER();
    ring->head = head;
    COMPILER_BARRIER();
    return head - start;
}

uint32_t serial_ring_service(serial_ring_t *ring)
{
    uint32_t moved = drain(ring);

    serial_enable_events(ring->serial, ring->blocked ? 0 : SERIAL_EVENT_RECEIVE);
    return moved;
}

#endif
