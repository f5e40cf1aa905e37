/* Bytes with one producer and one consumer; see net/ring.h for why it needs no lock. */
#ifndef TIERV_DRIVERS_BYTE_RING_H
#define TIERV_DRIVERS_BYTE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "net/compiler.h"

typedef struct {
    uint32_t head; /* written by the producer */
    uint32_t tail; /* written by the consumer */
    uint8_t bytes[UART_RING_BYTES];
} byte_ring_t;

/* False if the ring is full. */
static inline bool byte_ring_push(byte_ring_t *ring, uint8_t byte)
{
    uint32_t head = ring->head;

    COMPILER_BARRIER();
    if (head - ring->tail >= UART_RING_BYTES) {
        return false;
    }
    ring->bytes[head % UART_RING_BYTES] = byte;
    COMPILER_BARRIER();
    ring->head = head + 1;
    COMPILER_BARRIER();
    return true;
}

/* The oldest byte, or -1 if there is none. */
static inline int32_t byte_ring_pop(byte_ring_t *ring)
{
    uint32_t tail = ring->tail;

    COMPILER_BARRIER();
    if (ring->head == tail) {
        return -1;
    }
    COMPILER_BARRIER();
    uint8_t byte = ring->bytes[tail % UART_RING_BYTES];
    COMPILER_BARRIER();
    ring->tail = tail + 1;
    COMPILER_BARRIER();
    return byte;
}

static inline uint32_t byte_ring_count(const byte_ring_t *ring)
{
    COMPILER_BARRIER();
    return ring->head - ring->tail;
}

#endif
