#include "drivers/serial_rings.h"

#if UARTS > 0

void serial_rings_init(serial_rings_t *rings, serial_t *serial)
{
    rings->serial = serial;
    rings->head = rings->tail = 0;
    rings->transmit.head = rings->transmit.tail = 0;
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

/* Ring to FIFO; returns how many are left. */
static uint32_t fill(serial_rings_t *rings)
{
    byte_ring_t *ring = &rings->transmit;
    uint32_t tail = ring->tail;
    uint32_t waiting = byte_ring_count(ring);

    if (waiting == 0) {
        return 0;
    }
    uint32_t space = serial_transmit_space(rings->serial);
    uint32_t moved = waiting < space ? waiting : space;
    for (uint32_t rest = moved; rest != 0;) {
        uint32_t count = rest < SERIAL_BURST ? rest : SERIAL_BURST;
        uint32_t characters = 0;
        for (uint32_t index = 0; index < count; index++) {
            characters |= (uint32_t)ring->bytes[(tail + index) % UART_RING_BYTES] << 8 * index;
        }
        serial_transmit(rings->serial, characters, count);
        tail += count;
        rest -= count;
    }
    COMPILER_BARRIER();
    ring->tail = tail;
    COMPILER_BARRIER();
    return waiting - moved;
}

uint32_t serial_rings_service(serial_rings_t *rings)
{
    uint32_t moved = drain(rings) - rings->transmit.tail;
    uint32_t left = fill(rings);
    uint32_t events = rings->blocked ? 0 : SERIAL_EVENT_RECEIVE;

    serial_enable_events(rings->serial, left != 0 ? events | SERIAL_EVENT_TRANSMIT : events);
    return moved + rings->transmit.tail;
}

uint32_t serial_rings_read(serial_rings_t *rings, void *data, uint32_t bytes)
{
    uint8_t *target = data;
    uint32_t count = 0;

    while (count < bytes) {
        int32_t character = serial_rings_get(rings);
        if (character < 0) {
            break;
        }
        target[count++] = SERIAL_DATA(character);
    }
    return count;
}

uint32_t serial_rings_write(serial_rings_t *rings, const void *data, uint32_t bytes)
{
    const uint8_t *source = data;
    uint32_t count = 0;

    while (count < bytes && byte_ring_push(&rings->transmit, source[count])) {
        count++;
    }
    return count;
}

#endif
