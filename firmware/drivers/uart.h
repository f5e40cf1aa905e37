/* LiteX's UART, the console: bytes between its FIFOs and two rings. */
#ifndef TIERV_DRIVERS_UART_H
#define TIERV_DRIVERS_UART_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/byte_ring.h"

typedef struct {
    uintptr_t base;
    byte_ring_t received; /* interrupt service to application */
    byte_ring_t transmit; /* application to interrupt service */
    uint32_t overruns;    /* bytes lost because `received` was full */
} uart_t;

/* Makes the console's port ready and enables its events. */
void uart_init(uart_t *uart);

/* Sets the speed; returns the one achieved, in bit/s. */
uint32_t uart_set_baud(uart_t *uart, uint32_t baud);

/* Interrupt service: empties the receive FIFO and fills the transmit FIFO. True if bytes have moved.
 * Shared with the application: the rings. Longest path: UART_RING_BYTES bytes both ways. */
bool uart_service(uart_t *uart);

/* Application: queues up to `bytes` bytes and returns how many. Afterwards the interrupt service
 * must run: irq_run() of the line that calls uart_service(), or context_run_interrupt() without a table of lines. */
uint32_t uart_write(uart_t *uart, const void *data, uint32_t bytes);

/* Application: takes up to `bytes` bytes and returns how many. */
uint32_t uart_read(uart_t *uart, void *data, uint32_t bytes);

#endif
