/* Sends every serial character back, plus one, on the pins it came from; ends after `characters`
 * of them when all have left. Pins 0 are the console's, those of serial port k have number k + 1. */
#include "mmio.h"

uint32_t characters = 0xFFFFFFFF;
uint32_t ports = 1;

#define RX_EVENT 2u
#define NONE 0xFFFFFFFFu

#if UARTS > 0
static uint32_t port_register(uint32_t pins, uint32_t address)
{
    return address + (pins - 1) * SERIAL_STRIDE_BYTES;
}
#endif

static uint32_t receive(uint32_t pins)
{
    /* Without serial ports there is but the console. */
    (void)pins;
#if UARTS > 0
    if (pins != 0) {
        uint32_t word = mmio_read(port_register(pins, CSR_SERIAL_PORT0_RECEIVE_ADDR));
        return word >> CSR_SERIAL_PORT0_RECEIVE_VALID_OFFSET & 1 ? word & 0xFF : NONE;
    }
#endif
    if (mmio_read(CSR_UART_RXEMPTY_ADDR) || mmio_read(CSR_UART_TXFULL_ADDR))
        return NONE;
    uint32_t character = mmio_read(CSR_UART_RXTX_ADDR);
    mmio_write(CSR_UART_EV_PENDING_ADDR, RX_EVENT);
    return character;
}

static void transmit(uint32_t pins, uint32_t character)
{
    (void)pins;
#if UARTS > 0
    if (pins != 0) {
        mmio_write(port_register(pins, CSR_SERIAL_PORT0_TRANSMIT_ADDR), character & 0xFF);
        return;
    }
#endif
    mmio_write(CSR_UART_RXTX_ADDR, character);
}

static void drain(uint32_t pins)
{
    (void)pins;
#if UARTS > 0
    if (pins != 0) {
        while (!(mmio_read(port_register(pins, CSR_SERIAL_PORT0_STATUS_ADDR)) & 1))
            ;
        return;
    }
#endif
    while (!mmio_read(CSR_UART_TXEMPTY_ADDR))
        ;
    /* The last character is in the shifter. */
    uint32_t start = cycle_read();
    while (cycle_read() - start < 20000)
        ;
}

int main(void)
{
    uint32_t count = 0;
    while (count < characters) {
        for (uint32_t port = 0; port < ports; port++) {
            uint32_t character = receive(port);
            if (character == NONE)
                continue;
            transmit(port, character + 1);
            count++;
        }
    }
    for (uint32_t port = 0; port < ports; port++)
        drain(port);
    return 0;
}
