#include "drivers/uart.h"

#include <generated/csr.h>
#include <generated/soc.h>

#include "mmio.h"

/* Registers behind a port's base. */
enum {
    RXTX = CSR_UART_RXTX_ADDR - CSR_UART_BASE,
    TXFULL = CSR_UART_TXFULL_ADDR - CSR_UART_BASE,
    RXEMPTY = CSR_UART_RXEMPTY_ADDR - CSR_UART_BASE,
    EV_PENDING = CSR_UART_EV_PENDING_ADDR - CSR_UART_BASE,
    EV_ENABLE = CSR_UART_EV_ENABLE_ADDR - CSR_UART_BASE,
    PHY_TUNING_WORD = CSR_UART_PHY_TUNING_WORD_ADDR - CSR_UART_BASE,
    EVENT_TX = 1 << CSR_UART_EV_PENDING_TX_OFFSET,
    EVENT_RX = 1 << CSR_UART_EV_PENDING_RX_OFFSET
};

void uart_init(uart_t *uart)
{
    uart->base = CSR_UART_BASE;
    uart->received.head = uart->received.tail = 0;
    uart->transmit.head = uart->transmit.tail = 0;
    uart->overruns = 0;
    mmio_write(uart->base + EV_PENDING, EVENT_TX | EVENT_RX);
    mmio_write(uart->base + EV_ENABLE, EVENT_TX | EVENT_RX);
}

uint32_t uart_set_baud(uart_t *uart, uint32_t baud)
{
    /* The phase accumulator of litex/soc/cores/uart.py: 2^32 is a bit. */
    uint32_t word = (uint32_t)(((uint64_t)baud << 32) / CONFIG_CLOCK_FREQUENCY);

    mmio_write(uart->base + PHY_TUNING_WORD, word);
    return (uint32_t)(((uint64_t)word * CONFIG_CLOCK_FREQUENCY) >> 32);
}

bool uart_service(uart_t *uart)
{
    uintptr_t base = uart->base;
    bool any = false;

    while ((mmio_read(base + RXEMPTY) & 1) == 0) {
        uint8_t byte = (uint8_t)mmio_read(base + RXTX);
        /* Takes the byte out of the FIFO, and clears the event. */
        mmio_write(base + EV_PENDING, EVENT_RX);
        if (!byte_ring_push(&uart->received, byte)) {
            uart->overruns++;
        }
        any = true;
    }
    mmio_write(base + EV_PENDING, EVENT_TX);
    while (byte_ring_count(&uart->transmit) != 0 && (mmio_read(base + TXFULL) & 1) == 0) {
        mmio_write(base + RXTX, (uint8_t)byte_ring_pop(&uart->transmit));
        any = true;
    }
    return any;
}

uint32_t uart_write(uart_t *uart, const void *data, uint32_t bytes)
{
    const uint8_t *source = data;
    uint32_t count = 0;

    while (count < bytes && byte_ring_push(&uart->transmit, source[count])) {
        count++;
    }
    return count;
}

uint32_t uart_read(uart_t *uart, void *data, uint32_t bytes)
{
    uint8_t *target = data;
    uint32_t count = 0;

    while (count < bytes) {
        int32_t byte = byte_ring_pop(&uart->received);
        if (byte < 0) {
            break;
        }
        target[count++] = (uint8_t)byte;
    }
    return count;
}
