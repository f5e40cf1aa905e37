/* A ring for what a serial port receives, between the port's service and its user; see net/ring.h for why they
 * need no lock. */
#ifndef TIERV_DRIVERS_SERIAL_RING_H
#define TIERV_DRIVERS_SERIAL_RING_H

#include "config.h"
#include "drivers/serial.h"
#include "net/compiler.h"

#if UARTS > 0

typedef struct {
    serial_t *serial;
    uint32_t head; /* of the received characters, written by the service */
    uint32_t tail; /* written by the user */
    serial_character_t received[SERIAL_RING_CHARACTERS];
    bool blocked; /* `received` is full, and the receive event disabled */
} serial_ring_t;

/* Makes the ring of a port that is ready, empty. */
void serial_ring_init(serial_ring_t *ring, serial_t *serial);

/* --- service ----------------------------------------------------------------------------------- */

/* Moves all that can be moved, and enables the event for the rest; the number of characters moved. When
 * `received` is full the rest stays in the FIFO, where flow control sees it, and `blocked` is set. Longest
 * path: SERIAL_RING_CHARACTERS characters. */
uint32_t serial_ring_service(serial_ring_t *ring);

/* --- user -------------------------------------------------------------------------------------- */

/* The oldest received character, or -1 if there is none. If `blocked` is set afterwards the service must
 * run. */
static inline int32_t serial_ring_get(serial_ring_t *ring)
{
    uint32_t tail = ring->tail;

    COMPILER_BARRIER();
    if (ring->head == tail) {
        return -1;
    }
    COMPILER_BARRIER();
    serial_character_t character = ring->received[tail % SERIAL_RING_CHARACTERS];
    COMPILER_BARRIER();
    ring->tail = tail + 1;
    COMPILER_BARRIER();
    return character;
}

#endif

#endif
