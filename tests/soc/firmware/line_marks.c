/* Answers every external line that rises: marks its pending lines, then lowers them. Ends after
 * `answers` of them. */
#include "mmio.h"

uint32_t answers = 1;

#define EXTERNAL_LINES_MASK 0xFu

/* LiteX's CPUs of the VexRiscv family and this project's: line mask and pending lines. */
static inline void line_mask_write(uint32_t mask)
{
    __asm__ volatile("csrw 0xBC0, %0" : : "r"(mask));
}

static inline uint32_t line_pending_read(void)
{
    uint32_t pending;
    __asm__ volatile("csrr %0, 0xFC0" : "=r"(pending));
    return pending;
}

int main(void)
{
    line_mask_write(EXTERNAL_LINES_MASK);
    for (uint32_t count = 0; count < answers; count++) {
        uint32_t pending;
        while (!(pending = line_pending_read()))
            ;
        mmio_write(MAILBOX_MARK_ADDR, pending);
        mmio_write(MAILBOX_LINE_ACK_ADDR, pending);
        /* The line falls a cycle after the write. */
        while (line_pending_read() & pending)
            ;
    }
    return 0;
}
