/* Says a little of everything through the mailbox, and ends with a variable's value. */
#include "mmio.h"

uint32_t exit_code = 7;
uint32_t written;
uint32_t table[3] = {1, 2, 3};

int main(void)
{
    mmio_write(MAILBOX_MARK_ADDR, 0x1234);
    result_write(0, 0xCAFE);
    result_write(63, 0xF00D);
    for (const char *text = "hello"; *text; text++)
        mmio_write(MAILBOX_PUTC_ADDR, (uint32_t)(unsigned char)*text);
    uint32_t before = cycle_read();
    mmio_write(MAILBOX_MARK_ADDR, before);
    written = exit_code + 1;
    table[2] = 0x00030201;
    return (int)exit_code;
}
