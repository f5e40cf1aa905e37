#include "drivers/serial_rings.h"

#if UARTS > 0

void serial_rings_init(serial_rings_t *rings, serial_t *serial)
{
    rings->serial = serial;
    rings->head = rings->tail = 0;
    rings->blocked = false;
}

/* FIFO to ring. */
static uint32_t drain(serial_rings_t *rings)
{
    uint32_t start = rings->head;
    uint32_t head = start;
    uint32_t tail = rings->tail;

    rings->blocked = false;
    for (uint32_t count = SERIAL_BURST, flags = 0; count == SERIAL_BURST || flags != 0;) {
        if (SERIAL_RING_CHARACTERS - (head - tail) < SERIAL_BURST) {
            rings->blocked = true;
            COMPILER_BARRIER();
            /* Whoever makes room after this sees that it must ask for service. */
            if (rings->tail == tail) {
                break;
            }
            tail = rings->tail;
            rings->blocked = false;
            continue;
        }
        uint32_t burst = serial_receive_burst(rings->serial);
        count = SERIAL_BURST_COUNT(burst);
        flags = SERIAL_BURST_FLAGS(burst);
        for (uint32_t index = 0; index < count; index++) {
            rings->received[head % SERIAL_RING_CHARACTERS] =
                (serial_character_t)((burst & 0xff) | flags << 8);
            head++;
            burst >>= 8;
        }
    }
    COMPILER_BARRIER();
    rings->head = head;
    COMPILER_BARRIER();
    return head - start;
}

uint32_t serial_rings_service(serial_rings_t *rings)
{
    uint32_t moved = drain(rings);

    serial_enable_events(rings->serial, rings->blocked ? 0 : SERIAL_EVENT_RECEIVE);
    return moved;
}

#endif
