/* Tells on the console what lies behind it: a count of words, and as many words, by their sum. */
#include "mmio.h"

#define HEX_DIGITS 8u
/* More than two characters take at any speed of a simulation. */
#define LAST_CHARACTERS_CYCLES 20000u

/* Nothing is cleared: the image ends with what was put behind the program. */
extern const uint32_t bss_start[];

static void put(char character)
{
    while (mmio_read(CSR_UART_TXFULL_ADDR))
        ;
    mmio_write(CSR_UART_RXTX_ADDR, (uint32_t)(unsigned char)character);
}

int main(void)
{
    uint32_t sum = 0;
    for (uint32_t word = 1; word <= bss_start[0]; word++)
        sum += bss_start[word];
    for (const char *text = "\nbooted: "; *text; text++)
        put(*text);
    for (uint32_t digit = HEX_DIGITS; digit-- != 0;)
        put("0123456789abcdef"[sum >> 4u * digit & 0xFu]);
    put('\n');
    while (!mmio_read(CSR_UART_TXEMPTY_ADDR))
        ;
    const uint32_t end = cycle_read() + LAST_CHARACTERS_CYCLES;
    while ((int32_t)(cycle_read() - end) < 0)
        ;
    return 0;
}
