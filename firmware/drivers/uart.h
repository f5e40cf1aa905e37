/* LiteX's UART: bytes between its FIFOs and two rings. */
#ifndef TIERV_DRIVERS_UART_H
#define TIERV_DRIVERS_UART_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "net/compiler.h"

/* Bytes with one producer and one consumer; see net/ring.h for why it needs no lock. */
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

typedef struct {
    uintptr_t base;
    byte_ring_t received; /* interrupt service to application */
    byte_ring_t transmit; /* application to interrupt service */
    uint32_t overruns;    /* bytes lost because `received` was full */
} uart_t;

/* Line of serial port `index`. */
uint32_t uart_line(uint32_t index);

/* Makes the serial port `index` ready and enables its events. */
void uart_init(uart_t *uart, uint32_t index);

/* Sets the speed; returns the one achieved, in bit/s. */
uint32_t uart_set_baud(uart_t *uart, uint32_t baud);

/* Interrupt service: empties the receive FIFO and fills the transmit FIFO. True if bytes have moved.
 * Shared with the application: the rings. Longest path: UART_RING_BYTES bytes both ways. */
bool uart_service(uart_t *uart);

/* Application: queues up to `bytes` bytes and returns how many. Afterwards the interrupt service
 * must run: context_post_interrupt(). */
uint32_t uart_write(uart_t *uart, const void *data, uint32_t bytes);

/* Application: takes up to `bytes` bytes and returns how many. */
uint32_t uart_read(uart_t *uart, void *data, uint32_t bytes);

#endif
