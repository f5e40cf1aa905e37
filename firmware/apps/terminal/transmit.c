/* From a port's queue into its FIFO: tier 2, or whichever serves the port's line. */
#include "apps/terminal/port.h"

#if UARTS > 0

#include "context.h"

_Static_assert(TERMINAL_TRANSMIT_WATERMARK + TERMINAL_WORD_BYTES <= SERIAL_TRANSMIT_DEPTH,
              "at the watermark there must be space for a word");

/* Longest path: an empty FIFO, some ten cycles for three characters. */
void terminal_transmit(terminal_port_t *port, uint32_t space)
{
    uint32_t tail = port->tail;
    uint32_t head = port->head;
    uint32_t taken_bytes = port->taken_bytes;

    COMPILER_BARRIER();
    while (tail != head && space >= TERMINAL_WORD_BYTES) {
        uint32_t word = port->queue[tail % TERMINAL_TRANSMIT_WORDS];
        uint32_t bytes = (word >> CSR_SERIAL_PORT0_TRANSMIT_MORE_OFFSET) + 1;
        mmio_write(port->serial->base + SERIAL_REGISTER(TRANSMIT), word);
        taken_bytes += bytes;
        space -= bytes;
        tail++;
    }
    COMPILER_BARRIER();
    port->taken_bytes = taken_bytes;
    port->tail = tail;
    terminal_enable(port, TERMINAL_TRANSMIT_EVENT, tail != head);
    if (UNLIKELY(port->office->told_suspend) && terminal_queue_room(port) >= TERMINAL_TRANSMIT_WORDS / 2) {
        terminal_leave_work(port);
        context_post_protocol();
    }
}

#endif
