/* Sends every serial character back, plus one, on the port it came from; ends after `characters`
 * of them when all have left. */
#include "mmio.h"

uint32_t characters = 0xFFFFFFFF;
uint32_t ports = 1;

/* Register pages of the ports are evenly spaced; within one, in bytes: */
#define RXTX    0x00u
#define TXFULL  0x04u
#define RXEMPTY 0x08u
#define PENDING 0x10u
#define TXEMPTY 0x18u
#define RX_EVENT 2u

static uint32_t port_base(uint32_t port)
{
    uint32_t page = CSR_UART_PHY_BASE - CSR_UART_BASE;
    return CSR_UART_BASE + 2 * page * port;
}

static void drain(uint32_t port)
{
    while (!mmio_read(port_base(port) + TXEMPTY))
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
            uint32_t base = port_base(port);
            if (mmio_read(base + RXEMPTY) || mmio_read(base + TXFULL))
                continue;
            uint32_t character = mmio_read(base + RXTX);
            mmio_write(base + PENDING, RX_EVENT);
            mmio_write(base + RXTX, character + 1);
            count++;
        }
    }
    for (uint32_t port = 0; port < ports; port++)
        drain(port);
    return 0;
}
